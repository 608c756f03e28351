// SPDX-License-Identifier: Apache-2.0
#include "compiler/bytes/executable.h"

#include <map>

#include "arch/error.h"
#include "arch/program/tensor_layout.h"
#include "compiler/bytes/control_program.h"

namespace ktpu::bytes {

std::size_t Executable::flits() const {
  std::size_t count = 0;
  for (const ExecStep& step : steps)
    if (const Dispatch* dispatch = std::get_if<Dispatch>(&step))
      for (const Round& round : dispatch->plan.rounds) count += round.artifact.words.size();
  return count;
}

namespace {

std::string node_text(arch::Coord node) { return fmt::format("({},{})", node.x, node.y); }

// What the kicks, awaits and the credit of one round say of each other. Empty, or what is wrong.
std::string counts(const Artifact& round, const Limits& limits, bool others_signal) {
  std::map<arch::Coord, std::uint64_t> owed, awaited;
  std::uint64_t kicks = 0;
  const Seed* seed = nullptr;
  for (const RoundStep& step : round.steps) {
    if (const Seed* s = std::get_if<Seed>(&step)) {
      if (seed != nullptr) return "the credit is seeded twice";
      seed = s;
    }
    if (const Kick* kick = std::get_if<Kick>(&step)) {
      if (!awaited.empty()) return "a kick comes after an await: the count may have been passed by then";
      ++kicks;
      owed[kick->to] += kick->count;
    }
    if (const Await* await = std::get_if<Await>(&step))
      if (!awaited.emplace(await->node, await->count).second)
        return fmt::format("node {} is awaited twice", node_text(await->node));
  }
  if (seed != nullptr && (seed->credit > limits.inst_depth || seed->credit <= kicks))
    return fmt::format(
        "a credit of {} for {} kicks and instruction FIFOs of {}: each kick keeps one for good", seed->credit,
        kicks, limits.inst_depth);
  for (const auto& [node, count] : owed)
    if (!awaited.contains(node)) return fmt::format("node {} is kicked, but not awaited", node_text(node));
  for (const auto& [node, count] : awaited) {
    const auto found = owed.find(node);
    const std::uint64_t due = found == owed.end() ? 0 : found->second;
    if (count < due || (count > due && !others_signal))
      return fmt::format("node {} owes {} signals, {} are awaited", node_text(node), due, count);
  }
  return {};
}

std::string wrong_in(const Plan& plan, bool others_signal) {
  for (std::size_t r = 0; r < plan.rounds.size(); ++r) {
    const Round& round = plan.rounds[r];
    const bool last = r + 1 == plan.rounds.size();
    std::string wrong;
    if (round.artifact.round != r || round.artifact.of != plan.rounds.size())
      wrong = fmt::format("is numbered {} of {}", round.artifact.round, round.artifact.of);
    else if (last != (round.bound == Bound::kEnd))
      wrong = "the last round, and only it, ends with the stage";
    else
      wrong = counts(round.artifact, plan.limits, others_signal);
    const std::size_t commands = control_program(round.artifact).size();
    if (wrong.empty() && commands != round.commands)
      wrong = fmt::format("takes {} commands, not {}", commands, round.commands);
    if (!wrong.empty()) return fmt::format("round {} of {}: {}", r, plan.rounds.size(), wrong);
  }
  return {};
}

void check(const Dispatch& dispatch) {
  if (dispatch.unit != "MG" && dispatch.unit != "VC")
    throw arch::UserError::make("a dispatch goes to MG or VC, not to \"{}\"", dispatch.unit);
  verify(dispatch.plan);
  // Who takes a cluster's tiles signals for it.
  const std::string wrong = wrong_in(dispatch.plan, dispatch.unit == "MG");
  if (!wrong.empty()) throw arch::UserError(wrong);
}
void check(const HostRelayout& relayout) {
  if (relayout.from == relayout.to)
    throw arch::UserError::make("a relayout from {} to itself", relayout.from);
  for (const std::string& key : {relayout.from, relayout.to})
    arch::TensorLayout(key, relayout.shape, 2, relayout.batch_stride);
}
void check(const WaitMemory&) {}

}  // namespace

void verify(const Executable& executable) {
  std::uint32_t stage = 0;
  for (std::size_t i = 0; i < executable.steps.size(); ++i) {
    try {
      std::visit([](const auto& step) { check(step); }, executable.steps[i]);
      const Dispatch* dispatch = std::get_if<Dispatch>(&executable.steps[i]);
      if (dispatch == nullptr) continue;
      if (dispatch->stage < stage)
        throw arch::UserError::make("stage {} comes after stage {}", dispatch->stage, stage);
      stage = dispatch->stage;
    } catch (const arch::UserError& error) {
      throw arch::UserError::make("executable @{}, step {}: {}", executable.name, i, error.what());
    }
  }
}

}  // namespace ktpu::bytes
