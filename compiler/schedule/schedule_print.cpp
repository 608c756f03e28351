// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/expr_text.h"
#include "compiler/schedule/schedule.h"

namespace ktpu::schedule {
namespace {

using base::extents_text;
using base::name_text;

constexpr std::string_view kRoles[] = {"in", "out", "temp", "table", "constant", "scratch"};

std::string layout_text(const Layout& layout) {
  return layout.least_stride() == 0 ? layout.key()
                                    : fmt::format("{} apart {}", layout.key(), layout.least_stride());
}

class Printer {
 public:
  explicit Printer(const Schedule& schedule) : schedule_(schedule) {}

  std::string run() {
    put("schedule {} policy {} batch {}", name_text('@', schedule_.name),
        schedule_.policy == Policy::kBest ? "best" : "compat", schedule_.batch);
    if (schedule_.part != Schedule{}.part) put(" part {}", schedule_.part);
    if (schedule_.relaxed) put(" relaxed");
    put(" {{\n");
    machine(schedule_.resources);
    for (const Buffer& b : schedule_.buffers) declare(b);
    if (!schedule_.allocation.empty()) {
      std::vector<std::string> names;
      for (const BufferId id : schedule_.allocation) names.push_back(name(id));
      put("  allocate {}\n", fmt::join(names, ", "));
    }
    for (const Stage& s : schedule_.stages) stage(s);
    put("}}\n");
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  // " word value", unless it is 0.
  void given(std::string_view word, std::uint64_t value) {
    if (value != 0) put(" {} {}", word, value);
  }
  std::string name(BufferId id) const {
    return id < schedule_.buffers.size() ? name_text('%', schedule_.buffers[id].name)
                                         : fmt::format("%\"buffer {}\"", id);
  }

  void machine(const Resources& r) {
    put("  machine clusters {} vector_cores {} {} bank_entries {} banks {} tiles {} vector_l1 {} arena {:#x} "
        "bytes {:#x} alignment {}\n",
        r.clusters, r.vector_cores, r.agent ? "agent" : "no_agent", r.bank_entries, r.banks, r.tiles,
        r.vector_l1_words, r.arena_base, r.arena_bytes, r.alignment);
  }
  void declare(const Buffer& b) {
    put("  buffer {} {} {}", name_text('%', b.name), kRoles[static_cast<std::size_t>(b.role)],
        base::tensor_type_text(b.shape));
    if (b.batched) put(" batched");
    given("stride", b.batch_stride);
    put(" order {}", layout_text(b.first));
    if (b.last != b.first || b.last.least_stride() != b.first.least_stride())
      put(" last {}", layout_text(b.last));
    put(" bytes {} held {} widest {}", b.nbytes, b.held, b.held_widest);
    if (b.address) put(" at {:#x}", b.address->value());
    if (b.role == Role::kConstant || base::decimal(b.value) != "0") put(" value {}", base::decimal(b.value));
    if (!b.values.empty()) put(" {}", base::words16_text(b.values, "  "));
    put("\n");
  }

  void stage(const Stage& s) {
    put("  stage {}", s.unit == UnitType::kCluster ? "MG" : "VC");
    if (!s.grid.empty()) put(" grid {}", extents_text(s.grid));
    if (!s.body_grid.empty()) put(" body {}", extents_text(s.body_grid));
    if (s.batched) put(" batched");
    if (s.feeds_next) put(" feeds_next");
    if (s.waits) put(" waits");
    put(" {{\n");
    for (const Relayout& r : s.before)
      put("    relayout {} from {} to {}\n", name(r.buffer), layout_text(r.from), layout_text(r.to));
    for (const Instance& instance : s.instances) {
      put("    instance ({})", fmt::join(instance.key, ", "));
      given("batch", instance.batch);
      put(" {{\n");
      for (const Statement& statement : instance.statements) {
        put("      ");
        std::visit([this](const auto& it) { one(it); }, statement);
        put("\n");
      }
      put("    }}\n");
    }
    put("  }}\n");
  }

  void one(const Fill& f) {
    put("fill {} %t{} {}[{}, {} of {}] {}x{} step {}", f.side == Side::kA ? 'A' : 'B', f.tile_id,
        name(f.buffer), f.tile, f.chunk, f.chunks, f.groups, f.blocks, f.step);
    given("lane", f.lane);
    given("operand", f.operand);
  }
  void one(const Gemm& g) {
    put("gemm %t{} {}x{}x{} acc {}", g.tile_id, g.gm, g.gn, g.nk, g.acc);
    given("a", g.a_operand);
    given("b", g.b_operand);
  }
  void one(const Drain& d) {
    put("drain %t{} {}x{} to {}", d.tile_id, d.gm, d.gn, d.buffer ? name(*d.buffer) : "next");
    given("word", d.word);
    given("slot", d.slot);
  }

  std::string leaf(const Leaf& l) const {
    std::string text;
    switch (l.kind) {
      case Leaf::Kind::kMemory:
        text = fmt::format("load {} at {}", name(l.stretch.buffer), l.stretch.at);
        if (l.period != 0 || l.take != 0) text += fmt::format(" spread {} of {}", l.take, l.period);
        if (l.whole) text += " whole";
        if (l.asked_at != l.stretch.at) text += fmt::format(" asked_at {}", l.asked_at);
        return text;
      case Leaf::Kind::kConstant:
        text = "const " + base::decimal(l.value);
        if (l.array) text += " in " + name(*l.array);
        return text;
      case Leaf::Kind::kResident:
        return fmt::format("resident {}", l.slot);
      case Leaf::Kind::kChannel:
        return fmt::format("channel {} at {}", name(l.stretch.buffer), l.stretch.at);
    }
    return text;
  }
  void one(const Chain& c) {
    put("{} {} at {} span {}", c.reduce ? "reduce" : "apply", name(c.result.buffer), c.result.at, c.span);
    if (c.asked_at != c.result.at) put(" asked_at {}", c.asked_at);
    if (c.asked_span != c.span) put(" asked_span {}", c.asked_span);
    if (c.last) put(" last");
    if (c.gm != 0 || c.gn != 0) put(" tile {}x{}", c.gm, c.gn);
    std::vector<std::string> leaves;
    for (const Leaf& l : c.leaves) leaves.push_back(leaf(l));
    put(" {}", base::print(c.expr, leaves, "      "));
  }

  const Schedule& schedule_;
  std::string out_;
};

}  // namespace

std::string print(const Schedule& schedule) { return Printer(schedule).run(); }

}  // namespace ktpu::schedule
