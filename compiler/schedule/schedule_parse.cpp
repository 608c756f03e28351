// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>

#include "arch/encoding/address_map.h"
#include "compiler/base/expr_text.h"
#include "compiler/schedule/schedule.h"

namespace ktpu::schedule {
namespace {

class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : in_(text, file) {}

  Schedule run() {
    in_.skip_lines();
    in_.expect_word("schedule");
    schedule_.name = in_.name('@', "the schedule");
    in_.expect_word("policy");
    const bool compat = in_.take_word("compat");
    if (!compat) in_.expect_word("best");
    schedule_.policy = compat ? Policy::kCompat : Policy::kBest;
    in_.expect_word("batch");
    schedule_.batch = in_.number("the batch");
    schedule_.part = given("part", schedule_.part);
    schedule_.relaxed = in_.take_word("relaxed");
    in_.open_block();
    machine();
    while (in_.take_word("buffer")) declare();
    if (in_.take_word("allocate")) {
      do schedule_.allocation.push_back(buffer());
      while (in_.take(","));
      in_.end_of_line();
    }
    while (in_.take_word("stage")) schedule_.stages.push_back(stage());
    if (!in_.close_block()) in_.fail(fmt::format("a stage or '}}' expected, not {}", in_.shown()));
    in_.end_of_text();
    return std::move(schedule_);
  }

 private:
  std::uint64_t given(std::string_view word, std::uint64_t otherwise = 0) {
    return in_.take_word(word) ? in_.number(word) : otherwise;
  }
  std::uint64_t required(std::string_view word) {
    in_.expect_word(word);
    return in_.number(word);
  }
  std::uint32_t required32(std::string_view word) {
    in_.expect_word(word);
    return in_.number32(word);
  }
  std::uint32_t given32(std::string_view word) { return in_.take_word(word) ? in_.number32(word) : 0; }

  void machine() {
    Resources& r = schedule_.resources;
    in_.expect_word("machine");
    r.clusters = required32("clusters");
    r.vector_cores = required32("vector_cores");
    r.agent = in_.take_word("agent");
    if (!r.agent) in_.expect_word("no_agent");
    r.bank_entries = required32("bank_entries");
    r.banks = required32("banks");
    r.tiles = required32("tiles");
    r.vector_l1_words = required32("vector_l1");
    r.arena_base = required("arena");
    r.arena_bytes = required("bytes");
    r.alignment = required("alignment");
    in_.end_of_line();
  }

  Layout layout() {
    const std::size_t place = in_.place();
    const std::string key = in_.word("a layout");
    const std::uint64_t apart = given("apart");
    return in_.placed(place, [&] { return Layout::from_key(key, apart); });
  }
  Address address() {
    const std::size_t place = in_.place();
    const std::uint64_t value = in_.number("an address");
    const std::uint64_t mesh = value >> arch::address::kMesh.lsb;
    return in_.placed(place, [&] {
      if (mesh >> arch::address::kMesh.width != 0)
        throw arch::UserError::make("address {:#x} names no byte of any mesh", value);
      return global_address(static_cast<unsigned>(mesh), value & ((1ull << arch::address::kMesh.lsb) - 1));
    });
  }
  void declare() {
    static const std::map<std::string, Role, std::less<>> kRoles{
        {"in", Role::kIn},       {"out", Role::kOut},           {"temp", Role::kTemp},
        {"table", Role::kTable}, {"constant", Role::kConstant}, {"scratch", Role::kScratch}};
    Buffer b;
    const std::size_t place = in_.place();
    b.name = in_.name('%', "a buffer");
    if (!ids_.emplace(b.name, static_cast<BufferId>(schedule_.buffers.size())).second)
      in_.fail_at(place, fmt::format("buffer %{} is already declared", b.name));
    const std::size_t role_place = in_.place();
    const auto role = kRoles.find(in_.word("a role"));
    if (role == kRoles.end()) in_.fail_at(role_place, "a role is in, out, temp, table, constant or scratch");
    b.role = role->second;
    b.shape = in_.tensor_type();
    b.batched = in_.take_word("batched");
    b.batch_stride = given("stride");
    in_.expect_word("order");
    b.first = layout();
    b.last = in_.take_word("last") ? layout() : b.first;
    b.nbytes = required("bytes");
    b.held = required("held");
    b.held_widest = required("widest");
    if (in_.take_word("at")) b.address = address();
    if (in_.take_word("value")) b.value = in_.real("a value");
    if (in_.at('{')) b.values = in_.words16();
    in_.end_of_line();
    schedule_.buffers.push_back(std::move(b));
  }

  BufferId buffer() {
    const std::size_t place = in_.place();
    const std::string name = in_.name('%', "a buffer");
    const auto found = ids_.find(name);
    if (found == ids_.end()) in_.fail_at(place, fmt::format("buffer %{} is not declared", name));
    return found->second;
  }
  Stretch stretch() {
    Stretch s;
    s.buffer = buffer();
    s.at = required("at");
    return s;
  }
  std::uint32_t tile() {
    const std::size_t place = in_.place();
    const std::string name = in_.name('%', "a tile");
    const std::string digits = name.empty() ? name : name.substr(1);
    if (digits.empty() || name[0] != 't' || digits.size() > 9 ||
        digits.find_first_not_of("0123456789") != std::string::npos)
      in_.fail_at(place, fmt::format("a tile is named %t0, %t1 and so on, not %{}", name));
    return static_cast<std::uint32_t>(std::stoul(digits));
  }

  Stage stage() {
    Stage s;
    const std::size_t place = in_.place();
    const std::string unit = in_.word("a unit");
    if (unit != "MG" && unit != "VC") in_.fail_at(place, "a unit is MG or VC");
    s.unit = unit == "MG" ? UnitType::kCluster : UnitType::kVector;
    if (in_.take_word("grid")) s.grid = in_.extents("a grid");
    if (in_.take_word("body")) s.body_grid = in_.extents("a grid");
    s.batched = in_.take_word("batched");
    s.feeds_next = in_.take_word("feeds_next");
    s.waits = in_.take_word("waits");
    in_.open_block();
    while (in_.take_word("relayout")) {
      const BufferId id = buffer();
      in_.expect_word("from");
      Layout from = layout();
      in_.expect_word("to");
      Layout to = layout();
      s.before.push_back({id, std::move(from), std::move(to)});
      in_.end_of_line();
    }
    while (in_.take_word("instance")) s.instances.push_back(instance());
    if (!in_.close_block()) in_.fail(fmt::format("an instance or '}}' expected, not {}", in_.shown()));
    return s;
  }
  Instance instance() {
    Instance i;
    i.key = in_.key();
    i.batch = given("batch");
    in_.open_block();
    while (!in_.close_block()) {
      i.statements.push_back(statement());
      in_.end_of_line();
    }
    return i;
  }

  Statement statement() {
    const std::size_t place = in_.place();
    const std::string kind = in_.word("a statement or '}'");
    if (kind == "fill") return fill();
    if (kind == "gemm") return gemm();
    if (kind == "drain") return drain();
    if (kind == "apply" || kind == "reduce") return chain(kind == "reduce");
    in_.fail_at(place, fmt::format("fill, gemm, drain, apply or reduce expected, not \"{}\"", kind));
  }
  Fill fill() {
    Fill f;
    const std::size_t place = in_.place();
    const std::string side = in_.word("a side");
    if (side != "A" && side != "B") in_.fail_at(place, "a side is A or B");
    f.side = side == "A" ? Side::kA : Side::kB;
    f.tile_id = tile();
    f.buffer = buffer();
    in_.expect("[");
    f.tile = in_.number("a tile");
    in_.expect(",");
    f.chunk = in_.number("a chunk");
    f.chunks = required("of");
    in_.expect("]");
    const std::vector<std::uint32_t> shape = in_.extents("groups x blocks", 2);
    f.groups = shape[0];
    f.blocks = shape[1];
    f.step = required("step");
    f.lane = given("lane");
    f.operand = given32("operand");
    return f;
  }
  Gemm gemm() {
    Gemm g;
    g.tile_id = tile();
    const std::vector<std::uint32_t> shape = in_.extents("gm x gn x nk", 3);
    g.gm = shape[0];
    g.gn = shape[1];
    g.nk = shape[2];
    g.acc = required("acc");
    g.a_operand = given32("a");
    g.b_operand = given32("b");
    return g;
  }
  Drain drain() {
    Drain d;
    d.tile_id = tile();
    const std::vector<std::uint32_t> shape = in_.extents("gm x gn", 2);
    d.gm = shape[0];
    d.gn = shape[1];
    in_.expect_word("to");
    if (!in_.take_word("next")) d.buffer = buffer();
    d.word = given("word");
    d.slot = given32("slot");
    return d;
  }

  std::optional<Leaf> leaf(std::string_view kind) {
    Leaf l;
    if (kind == "load") {
      l.stretch = stretch();
      if (in_.take_word("spread")) {
        l.take = in_.number("elements");
        l.period = required("of");
      }
      l.whole = in_.take_word("whole");
      l.asked_at = given("asked_at", l.stretch.at);
    } else if (kind == "const") {
      l.kind = Leaf::Kind::kConstant;
      l.value = in_.real("a constant");
      if (in_.take_word("in")) l.array = buffer();
    } else if (kind == "resident") {
      l.kind = Leaf::Kind::kResident;
      l.slot = in_.number32("a slot");
    } else if (kind == "channel") {
      l.kind = Leaf::Kind::kChannel;
      l.stretch = stretch();
    } else {
      return std::nullopt;
    }
    return l;
  }
  Chain chain(bool reduce) {
    Chain c;
    c.reduce = reduce;
    c.result = stretch();
    c.span = required("span");
    c.asked_at = given("asked_at", c.result.at);
    c.asked_span = given("asked_span", c.span);
    c.last = in_.take_word("last");
    if (in_.take_word("tile")) {
      const std::vector<std::uint32_t> shape = in_.extents("gm x gn", 2);
      c.gm = shape[0];
      c.gn = shape[1];
    }
    std::vector<Leaf> read;
    const base::ReadExpr expr = base::read_expr(in_, [&](std::string_view kind) {
      const std::optional<Leaf> one = leaf(kind);
      if (one) read.push_back(*one);
      return one.has_value();
    });
    c.expr = expr.expr;
    c.leaves = expr.sorted(read);
    return c;
  }

  base::TextReader in_;
  Schedule schedule_;
  std::map<std::string, BufferId, std::less<>> ids_;
};

}  // namespace

Schedule parse(std::string_view text, std::string_view file_name) { return Parser(text, file_name).run(); }

}  // namespace ktpu::schedule
