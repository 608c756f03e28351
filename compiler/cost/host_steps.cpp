// SPDX-License-Identifier: Apache-2.0
// Steps of a program as the host's transactions.
#include <type_traits>

#include "arch/encoding/registers.h"
#include "arch/error.h"
#include "arch/program/host_writes.h"
#include "compiler/cost/host.h"

namespace ktpu::cost {

namespace reg = arch::agent;

namespace {

constexpr Cycles kWindowCycles = 40;  // of a burst, beside its words: about the path to the DRAM and back

}  // namespace

void Host::expand(const arch::Step& step) {
  using Kind = Action::Kind;
  const std::uint8_t mesh = step.mesh;
  KTPU_CHECK(mesh < meshes_.size(), "step for mesh {}", mesh);
  std::visit(
      [&](const auto& s) {
        using S = std::decay_t<decltype(s)>;
        if constexpr (std::is_same_v<S, arch::StepRound>) {
          states_[mesh] = {};
          rounds_.push_back({s.name, at_.t});
        } else if constexpr (std::is_same_v<S, arch::StepBaseline>) {
          for (const arch::Coord node : s.nodes) add(Kind::kBaseline, mesh, 0, node.node_byte());
        } else if constexpr (std::is_same_v<S, arch::StepStage>) {
          for (std::size_t f = 0; f < s.flits.size(); ++f)
            meshes_[mesh].stage(s.base + static_cast<unsigned>(f), s.flits[f]);
          add(Kind::kWrites, mesh, 0, reg::kWordsPerFlit * s.flits.size());
        } else if constexpr (std::is_same_v<S, arch::StepCredit>) {
          add(Kind::kRegister, mesh, reg::kProgCred, s.seed);
        } else if constexpr (std::is_same_v<S, arch::StepKick>) {
          expand_kick(mesh, s);
        } else if constexpr (std::is_same_v<S, arch::StepAwait>) {
          add(Kind::kAwait, mesh, s.node.node_byte(), s.count);
        } else if constexpr (std::is_same_v<S, arch::StepWrite>) {
          add(Kind::kRegister, mesh, s.offset, s.value);
        } else if constexpr (std::is_same_v<S, arch::StepPoll>) {
          add(Kind::kPoll, mesh, s.offset, s.want, s.mask);
        } else if constexpr (std::is_same_v<S, arch::StepCommands>) {
          expand_commands(mesh, s);
        } else if constexpr (std::is_same_v<S, arch::StepWindow>) {
          const std::uint64_t bytes = !s.write           ? s.read_bytes
                                      : s.data.size != 0 ? s.data.size
                                                         : s.data.data.size();
          note("bursts through the host's memory window do not wait for other traffic here");
          add(Kind::kIdle, mesh, 0, static_cast<std::uint64_t>(kWindowCycles) + bytes / arch::kWordBytes);
        } else if constexpr (std::is_same_v<S, arch::StepQuiet>) {
          add(Kind::kQuiet, mesh, 0, s.cycles);
        } else if constexpr (std::is_same_v<S, arch::StepRelayout>) {
          add(Kind::kQuiet, mesh, 0, s.quiet_cycles);
        } else if constexpr (std::is_same_v<S, arch::StepReset>) {
          add(Kind::kIdle, mesh, 0, s.cycles);
        } else if constexpr (std::is_same_v<S, arch::StepLoad>) {
          // takes no time
        } else {
          note("steps for PEs and controllers take no time here");
        }
      },
      step.action);
}

void Host::expand_kick(std::uint8_t mesh, const arch::StepKick& step) {
  using Kind = Action::Kind;
  add(Kind::kPoll, mesh, reg::kProgStat, 0, 1);
  const std::array<std::pair<std::uint32_t, std::int64_t>, 3> registers{
      {{reg::kProgDst, step.to.node_byte()}, {reg::kProgBase, step.base}, {reg::kProgLen, step.count}}};
  for (std::size_t r = 0; r < registers.size(); ++r) {
    std::int64_t& written = states_[mesh].written[r];
    if (written == registers[r].second) continue;
    written = registers[r].second;
    add(Kind::kRegister, mesh, registers[r].first, static_cast<std::uint64_t>(written));
  }
  add(Kind::kRegister, mesh, reg::kProgKick, 1);
}

// With an engine: load, go and wait part by part. Without one the host executes the list (section 8).
void Host::expand_commands(std::uint8_t mesh, const arch::StepCommands& step) {
  using Kind = Action::Kind;
  using Op = arch::engine::CommandOp;
  constexpr std::uint64_t kFields = 4;
  if (step.commands.empty()) return;
  const auto commands = [&](const std::vector<arch::Command>& list, Kind write, Kind poll) {
    for (const arch::Command& c : list) {
      const std::uint32_t offset = c.address & 0xFFFF;
      if (c.op == static_cast<std::uint32_t>(Op::kWrite))
        add(write, mesh, offset, c.data);
      else if (c.op == static_cast<std::uint32_t>(Op::kPoll))
        add(poll, mesh, offset, c.data, c.mask);
      else
        return;
    }
  };
  if (!cost_.engine) {
    commands(step.commands, Kind::kRegister, Kind::kPoll);
    return;
  }
  for (const std::vector<arch::Command>& part : arch::split_commands(step.commands, cost_.engine_commands)) {
    add(Kind::kWrites, mesh, 0, kFields * part.size());
    add(Kind::kGo, mesh, 0);
    commands(part, Kind::kEngineRegister, Kind::kEnginePoll);
    add(Kind::kEngineDone, mesh, 0);
  }
}

}  // namespace ktpu::cost
