// SPDX-License-Identifier: Apache-2.0
// Print and parse. A word is written as the program file writes a flit; one without a header (which comes
// with the staging) is marked `payload`.
#include <algorithm>
#include <array>

#include "arch/encoding/text.h"
#include "compiler/base/text_reader.h"
#include "compiler/bytes/executable.h"

namespace ktpu::bytes {
namespace {

using base::name_text;
using base::quoted;

constexpr std::array<std::string_view, 4> kBounds{"end", "staging", "credit", "commands"};
constexpr std::string_view kPayload = "payload";

class Printer {
 public:
  std::string run(const Executable& executable) {
    put("executable {} machine {} {{\n", name_text('@', executable.name), quoted(executable.machine));
    for (const ExecStep& step : executable.steps) std::visit([this](const auto& it) { one(it); }, step);
    put("}}\n");
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void one(const WaitMemory&) { put("  wait_memory\n"); }
  void one(const HostRelayout& r) { put("  relayout {}\n", base::relayout_text(r)); }
  void one(const Dispatch& d) {
    const Limits& limits = d.plan.limits;
    dialect_ = d.unit == "VC" ? arch::Dialect::kVector : arch::Dialect::kCluster;
    put("  dispatch {} stage {} staging {} commands {} depth {} {{\n", quoted(d.unit), d.stage,
        limits.staging_flits, limits.commands, limits.inst_depth);
    for (const Round& r : d.plan.rounds) round(r);
    put("  }}\n");
  }
  void round(const Round& r) {
    const Artifact& a = r.artifact;
    put("    round {} of {} bound {} commands {}", a.round, a.of, kBounds[static_cast<std::size_t>(r.bound)],
        r.commands);
    if (!a.machine.empty()) put(" machine {}", quoted(a.machine));
    put(" {{\n");
    for (const arch::Flit& w : a.words) word(w);
    for (const RoundStep& step : a.steps) std::visit([this](const auto& it) { one(it); }, step);
    put("    }}\n");
  }
  void word(arch::Flit w) {
    put("      ");
    if (w.w[4] == 0) {
      put("{} ", kPayload);
      w.w[4] = arch::make_header({}, {}, arch::FlitType::kCuInst, 0, false);
    }
    put("{}\n", arch::flit_to_text(w, dialect_));
  }
  void one(const Seed& s) { put("      seed {}\n", s.credit); }
  void one(const Kick& k) {
    put("      kick ({},{}) slots {}+{}\n", k.to.x, k.to.y, k.base.index(), k.count);
  }
  void one(const Await& a) { put("      await ({},{}) {}\n", a.node.x, a.node.y, a.count); }

  std::string out_;
  arch::Dialect dialect_ = arch::Dialect::kCluster;
};

class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : in_(text, file) {}

  Executable run() {
    Executable executable;
    in_.skip_lines();
    in_.expect_word("executable");
    executable.name = in_.name('@', "the executable");
    in_.expect_word("machine");
    executable.machine = in_.string("a machine");
    in_.open_block();
    while (!in_.close_block()) executable.steps.push_back(step());
    in_.end_of_text();
    return executable;
  }

 private:
  ExecStep step() {
    const std::size_t place = in_.place();
    const std::string kind = in_.word("a step or '}'");
    if (kind == "dispatch") return dispatch();
    if (kind == "relayout") return relayout();
    if (kind != "wait_memory")
      in_.fail_at(place, fmt::format("dispatch, relayout or wait_memory expected, not \"{}\"", kind));
    in_.end_of_line();
    return WaitMemory{};
  }
  HostRelayout relayout() {
    HostRelayout r;
    base::read_relayout(in_, r);
    return r;
  }
  std::uint32_t required(std::string_view word) {
    in_.expect_word(word);
    return in_.number32(word);
  }
  Dispatch dispatch() {
    Dispatch d;
    d.unit = in_.string("a unit");
    d.stage = required("stage");
    d.plan.limits.staging_flits = required("staging");
    d.plan.limits.commands = required("commands");
    d.plan.limits.inst_depth = required("depth");
    in_.open_block();
    while (in_.take_word("round")) d.plan.rounds.push_back(round(d.plan.limits));
    if (!in_.close_block()) in_.fail(fmt::format("a round or '}}' expected, not {}", in_.shown()));
    return d;
  }
  Round round(const Limits& limits) {
    Round r;
    r.artifact.round = in_.number32("a round");
    r.artifact.of = required("of");
    in_.expect_word("bound");
    const std::size_t place = in_.place();
    const auto bound = std::find(kBounds.begin(), kBounds.end(), in_.word("a bound"));
    if (bound == kBounds.end())
      in_.fail_at(place, fmt::format("a bound is one of {}", fmt::join(kBounds, ", ")));
    r.bound = static_cast<Bound>(bound - kBounds.begin());
    r.commands = required("commands");
    if (in_.take_word("machine")) r.artifact.machine = in_.string("a machine");
    in_.open_block();
    while (!in_.close_block()) {
      line(r.artifact, limits);
      in_.end_of_line();
    }
    return r;
  }

  void line(Artifact& artifact, const Limits& limits) {
    const std::size_t place = in_.place();
    const std::string kind = in_.word("a word, seed, kick, await or '}'");
    if (kind == "seed") {
      artifact.steps.emplace_back(Seed{in_.number32("a credit")});
    } else if (kind == "kick") {
      const arch::Coord to = node();
      in_.expect_word("slots");
      artifact.steps.emplace_back(kick(to, limits));
    } else if (kind == "await") {
      const arch::Coord from = node();
      artifact.steps.emplace_back(Await{from, in_.number32("signals")});
    } else {
      if (!artifact.steps.empty()) in_.fail_at(place, "words come before the steps");
      const bool payload = kind == kPayload;
      const std::size_t mnemonic = in_.place();
      arch::Flit w = payload ? flit(in_.word("an instruction"), mnemonic) : flit(kind, place);
      if (payload) w.w[4] = 0;
      artifact.words.push_back(w);
    }
  }
  arch::Coord node() {
    const std::size_t place = in_.place();
    const std::vector<std::int32_t> at = in_.key();
    constexpr std::int32_t kSide = 1 << arch::kPosBits;
    if (at.size() != 2 || at[0] < 0 || at[0] >= kSide || at[1] < 0 || at[1] >= kSide)
      in_.fail_at(place, fmt::format("a node is written (x,y), 0 to {} each", kSide - 1));
    return {static_cast<std::uint8_t>(at[0]), static_cast<std::uint8_t>(at[1])};
  }
  // "0+4": the first slot, and how many.
  Kick kick(arch::Coord to, const Limits& limits) {
    const std::size_t place = in_.place();
    const std::string slots = in_.word("slots");
    const std::size_t plus = slots.find('+');
    std::uint64_t base = 0, count = 0;
    if (plus == std::string::npos || !arch::parse_number(slots.substr(0, plus), base) ||
        !arch::parse_number(slots.substr(plus + 1), count) || std::max(base, count) > 0xFFFFFFFF)
      in_.fail_at(place, fmt::format("slots are written first+count, not \"{}\"", slots));
    return in_.placed(place, [&] {
      const auto first = static_cast<std::uint32_t>(base), flits = static_cast<std::uint32_t>(count);
      return Kick{to, Staging(limits.staging_flits).slot(first, flits), flits};
    });
  }
  arch::Flit flit(const std::string& mnemonic, std::size_t mnemonic_place) {
    std::vector<arch::TextArg> args;
    std::vector<std::size_t> places{mnemonic_place};
    while (in_.at_any_word()) {
      places.push_back(in_.place());
      arch::TextArg arg{in_.word("a field"), {}, places.size() - 1};
      if (in_.take("=")) {
        if (in_.at('(')) {
          const arch::Coord c = node();
          arg.value = fmt::format("({},{})", c.x, c.y);
        } else {
          arg.value = in_.word("a value");
        }
      }
      args.push_back(std::move(arg));
    }
    try {
      return arch::flit_from_text(mnemonic, args);
    } catch (const arch::TextProblem& problem) {
      in_.fail_at(places.at(problem.column), problem.message);
    }
  }

  base::TextReader in_;
};

}  // namespace

std::string print(const Executable& executable) { return Printer().run(executable); }
Executable parse(std::string_view text, std::string_view file_name) { return Parser(text, file_name).run(); }

}  // namespace ktpu::bytes
