// SPDX-License-Identifier: Apache-2.0
#include "compiler/bytes/dispatch.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "arch/error.h"
#include "compiler/bytes/control_program.h"

namespace ktpu::bytes {
namespace {

constexpr std::array<std::string_view, 4> kBoundNames{"the end", "staging", "credit", "commands"};

// What one kick sends: at most a staging load of one instance.
struct Window {
  arch::Coord to;
  std::span<const arch::Flit> words;
  const Ack* ack = nullptr;  // of its instance
  std::uint32_t due = 0;     // signals of it that these words cause
};

class OpenRound {
 public:
  explicit OpenRound(const Limits& limits) : limits_(limits), staging_(limits.staging_flits) {}

  bool empty() const { return kicks_.empty(); }

  // Which limit keeps `window` out; kEnd: none.
  Bound against(const Window& window, CommandLimit command_limit) const {
    if (words_.size() + window.words.size() > limits_.staging_flits) return Bound::kStaging;
    // The last flit of a kick answers with BATCH_COMPLETE, which gives no credit back: a round whose kicks
    // use up the seed would stand still.
    if (kicks_.size() + 1 > limits_.inst_depth - 1) return Bound::kCredit;
    if (command_limit == CommandLimit::kCut) {
      OpenRound with = *this;
      with.add(window);
      if (control_program(with.artifact()).size() > limits_.commands) return Bound::kCommands;
    }
    return Bound::kEnd;
  }

  void add(const Window& window) {
    const auto base = static_cast<std::uint32_t>(words_.size());
    const auto count = static_cast<std::uint32_t>(window.words.size());
    kicks_.push_back({window.to, staging_.slot(base, count), count});
    words_.insert(words_.end(), window.words.begin(), window.words.end());
    owe(window.to, count);
    if (window.due != 0) owe(window.ack->from.at(), window.due);
  }

  Artifact artifact() const {
    Artifact artifact;
    artifact.words = words_;
    artifact.steps.emplace_back(Seed{limits_.inst_depth});
    artifact.steps.insert(artifact.steps.end(), kicks_.begin(), kicks_.end());
    artifact.steps.insert(artifact.steps.end(), awaits_.begin(), awaits_.end());
    return artifact;
  }

 private:
  // A node is awaited once, with all it owes: a count on the way there may be passed between two polls.
  void owe(arch::Coord node, std::uint32_t count) {
    const auto found =
        std::find_if(awaits_.begin(), awaits_.end(), [&](const Await& a) { return a.node == node; });
    if (found == awaits_.end())
      awaits_.push_back({node, count});
    else
      found->count += count;
  }

  Limits limits_;
  Staging staging_;
  std::vector<arch::Flit> words_;
  std::vector<Kick> kicks_;
  std::vector<Await> awaits_;
};

std::string key_text(const std::vector<std::int32_t>& key) {
  std::string text;
  for (const std::int32_t k : key) text += fmt::format("{}{}", text.empty() ? "" : ",", k);
  return fmt::format("instance ({})", text);
}

std::vector<Window> windows_of(const std::vector<Instance>& instances, const Units& units,
                               std::size_t longest) {
  const std::vector<std::size_t> where = deal_in_turn(instances.size(), units.size());
  std::vector<Window> windows;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const std::span<const arch::Flit> words = instances[i].words;
    for (std::size_t first = 0; first < words.size(); first += longest) {
      const std::size_t count = std::min(longest, words.size() - first);
      windows.push_back({units[where[i]].at(), words.subspan(first, count), nullptr, 0});
      if (!instances[i].ack) continue;
      windows.back().ack = &*instances[i].ack;
      for (const auto& [word, signals] : instances[i].ack->caused)
        if (word >= first && word < first + count) windows.back().due += signals;
    }
    if (!instances[i].ack) continue;
    if (words.empty())
      throw arch::UserError::make("dispatch: {}: acknowledgements are due but it has no words",
                                  key_text(instances[i].key));
    if (instances[i].ack->caused.empty()) windows.back().due = instances[i].ack->count;
  }
  return windows;
}

}  // namespace

std::string_view name(Bound bound) { return kBoundNames[static_cast<std::size_t>(bound)]; }

Plan plan_dispatch(std::vector<Instance> instances, const Units& units, const Limits& limits,
                   CommandLimit command_limit) {
  if (limits.staging_flits < 1 || limits.inst_depth < 2)
    throw arch::UserError::make(
        "dispatch: no round fits {} staging slots and instruction FIFOs of {}; it takes at least 1 and 2: "
        "give the agent more staging_flits, the units a larger inst_depth",
        limits.staging_flits, limits.inst_depth);
  std::stable_sort(instances.begin(), instances.end(),
                   [](const Instance& a, const Instance& b) { return a.key < b.key; });
  for (std::size_t i = 1; i < instances.size(); ++i)
    if (instances[i].key == instances[i - 1].key)
      throw arch::UserError::make("dispatch: {}: stands twice in a stage", key_text(instances[i].key));

  Plan plan{limits, {}};
  OpenRound open(limits);
  const auto close = [&](Bound bound) {
    Artifact artifact = open.artifact();
    const std::size_t commands = control_program(artifact).size();
    plan.rounds.push_back({std::move(artifact), bound, commands});
    open = OpenRound(limits);
  };
  for (const Window& window : windows_of(instances, units, limits.staging_flits)) {
    if (!open.empty())
      if (const Bound bound = open.against(window, command_limit); bound != Bound::kEnd) close(bound);
    open.add(window);
  }
  if (!open.empty()) close(Bound::kEnd);
  for (std::size_t r = 0; r < plan.rounds.size(); ++r) {
    plan.rounds[r].artifact.round = static_cast<std::uint32_t>(r);
    plan.rounds[r].artifact.of = static_cast<std::uint32_t>(plan.rounds.size());
  }
  return plan;
}

void verify(const Plan& plan) {
  for (const Round& round : plan.rounds) verify(round.artifact, plan.limits);
}

std::string print(const Plan& plan) {
  std::string text;
  for (const Round& round : plan.rounds) {
    text += print(round.artifact);
    text += fmt::format("  ended by: {}; {} commands of {}{}\n", name(round.bound), round.commands,
                        plan.limits.commands,
                        round.commands > plan.limits.commands ? ", to be cut at a kick when run" : "");
  }
  return text;
}

}  // namespace ktpu::bytes
