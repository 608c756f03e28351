// SPDX-License-Identifier: Apache-2.0
#include "compiler/program_to_bytes/lower.h"

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/base/refusal.h"
#include "compiler/bytes/encode.h"

namespace ktpu::program_to_bytes {
namespace {

using base::Phase;
using base::Refusal;
using Key = std::vector<std::int32_t>;

std::string_view unit_name(program::UnitType unit) {
  return unit == program::UnitType::kCluster ? "MG" : "VC";
}

const bytes::Units& units_of(const bytes::Machine& machine, program::UnitType unit) {
  const bytes::Units& units = unit == program::UnitType::kCluster ? machine.clusters : machine.vector_cores;
  if (units.size() == 0)
    throw Refusal(Phase::kLayout, "UNIT_ABSENT",
                  fmt::format("machine '{}' has no unit of type {}", machine.name, unit_name(unit)),
                  "run it on a machine that has one");
  return units;
}

// Who runs which instance of a stage: the deal that dispatch will make, before it is made.
std::map<Key, bytes::Node> deal(const program::Stage& stage, const bytes::Machine& machine) {
  const bytes::Units& units = units_of(machine, stage.unit);
  std::vector<Key> keys;
  for (const program::Instance& instance : stage.instances) keys.push_back(instance.key);
  std::sort(keys.begin(), keys.end());
  const std::vector<std::size_t> where = bytes::deal_in_turn(keys.size(), units.size());
  std::map<Key, bytes::Node> dealt;
  for (std::size_t i = 0; i < keys.size(); ++i) dealt.emplace(keys[i], units[where[i]]);
  return dealt;
}

class StageLowering {
 public:
  StageLowering(const program::Program& program, std::size_t stage, const bytes::Machine& machine)
      : stage_(program.stages[stage]), machine_(machine) {
    if (!stage_.feeds_next) return;
    if (stage + 1 == program.stages.size())
      throw arch::UserError::make("stage {} sends its tiles to the next stage, and there is none", stage);
    if (!machine.agent)
      throw base::CannotFuse(Phase::kLayout, "AGENT_ABSENT",
                             fmt::format("machine '{}' names no agent to acknowledge tiles to", machine.name),
                             "stage the epilogue");
    receivers_ = deal(program.stages[stage + 1], machine);
  }

  bytes::Plan plan(bytes::CommandLimit commands) const {
    std::vector<bytes::Instance> instances;
    for (const program::Instance& instance : stage_.instances)
      instances.push_back(encode(instance, commands));
    return bytes::plan_dispatch(std::move(instances), units_of(machine_, stage_.unit), machine_.limits,
                                commands);
  }

 private:
  bytes::Instance encode(const program::Instance& instance, bytes::CommandLimit commands) const {
    bytes::Instance words;
    words.key = instance.key;
    if (const auto* cluster = std::get_if<std::vector<program::ClusterStep>>(&instance.steps)) {
      for (const program::ClusterStep& step : *cluster)
        words.words.push_back(bytes::encode(step.to_next ? to_receiver(step.inst, instance.key) : step.inst));
    } else {
      for (const program::VectorStep& step : std::get<std::vector<program::VectorStep>>(instance.steps))
        words.words.push_back(bytes::encode(step));
    }
    if (instance.acks == 0) return words;
    words.ack = bytes::Ack{receiver(instance.key), instance.acks};
    const auto* cluster = std::get_if<std::vector<program::ClusterStep>>(&instance.steps);
    if (commands == bytes::CommandLimit::kReport || cluster == nullptr) return words;
    // The reference awaits them all with the last word, and for ever when a round ends between two drains.
    constexpr std::uint32_t kBurst = 8;  // sub-tiles a signal
    for (std::size_t i = 0; i < cluster->size(); ++i)
      if ((*cluster)[i].to_next)
        words.ack->caused.emplace_back(i, ((*cluster)[i].inst.n + kBurst - 1) / kBurst);
    return words;
  }

  arch::ClusterInst to_receiver(arch::ClusterInst drain, const Key& key) const {
    const arch::Coord to = receiver(key).at(), agent = machine_.agent->at();
    drain.dnode = 1;
    drain.dst_x = to.x;
    drain.dst_y = to.y;
    drain.dack_x = agent.x;
    drain.dack_y = agent.y;
    return drain;
  }

  bytes::Node receiver(const Key& key) const {
    const auto found = receivers_.find(key);
    if (found == receivers_.end())
      throw arch::UserError(
          "an instance sends its tiles on, and the next stage has no instance of its place");
    return found->second;
  }

  const program::Stage& stage_;
  const bytes::Machine& machine_;
  std::map<Key, bytes::Node> receivers_;
};

}  // namespace

bytes::Executable lower(const program::Program& program, const bytes::Machine& machine,
                        bytes::CommandLimit commands) {
  bytes::Executable executable;
  executable.name = program.name;
  executable.machine = machine.name;
  for (const program::Stage& stage : program.stages) units_of(machine, stage.unit);
  for (std::size_t s = 0; s < program.stages.size(); ++s) {
    const program::Stage& stage = program.stages[s];
    // A relayout reads what earlier stages wrote, so the wait comes first.
    if (stage.waits) executable.steps.emplace_back(bytes::WaitMemory{});
    for (const program::Relayout& relayout : stage.before)
      executable.steps.emplace_back(bytes::HostRelayout{relayout.address, relayout.shape, relayout.from,
                                                        relayout.to, relayout.batch_stride});
    executable.steps.emplace_back(bytes::Dispatch{std::string(unit_name(stage.unit)),
                                                  static_cast<std::uint32_t>(s),
                                                  StageLowering(program, s, machine).plan(commands)});
  }
  return executable;
}

}  // namespace ktpu::program_to_bytes
