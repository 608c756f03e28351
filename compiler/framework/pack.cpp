// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "arch/error.h"
#include "compiler/framework/passes.h"

namespace ktpu::framework {
namespace {

// Commands a round costs at most: the seed and the end, a kick that writes everything, an await.
constexpr std::uint32_t kRoundCommands = 2, kTaskCommands = 6;

class OpenRound {
 public:
  explicit OpenRound(const Machine& machine) : machine_(machine) {}

  bool takes(const Task& task, const Place& place) const {
    const auto unit = by_unit_.find(place);
    const std::uint64_t there = unit == by_unit_.end() ? 0 : unit->second;
    return flits_ + task.flits <= machine_.stage_flits &&
           kRoundCommands + kTaskCommands * (tasks_ + 1) <= machine_.ncmd &&
           there + task.flits <= machine_.inst_depth;
  }
  void add(const Task& task, const Place& place) {
    flits_ += task.flits;
    by_unit_[place] += task.flits;
    ++tasks_;
  }

 private:
  const Machine& machine_;
  std::uint64_t flits_ = 0, tasks_ = 0;
  std::map<Place, std::uint64_t> by_unit_;
};

std::vector<std::vector<TaskId>> predecessors(const TaskGraph& graph) {
  std::vector<std::vector<TaskId>> all(graph.tasks.size());
  for (const Edge& edge : graph.edges) all[edge.second].push_back(edge.first);
  return all;
}

}  // namespace

Rounds pack(const TaskGraph& graph, const std::vector<Place>& places, const Machine& machine) {
  const auto before = predecessors(graph);
  std::vector<TaskId> left = topological_order(graph);
  std::vector<bool> done(graph.tasks.size());
  Rounds rounds;
  while (!left.empty()) {
    OpenRound open(machine);
    std::vector<TaskId> taken, skipped;
    for (const TaskId id : left) {
      const bool free = std::all_of(before[id].begin(), before[id].end(), [&](TaskId p) { return done[p]; });
      if (free && open.takes(graph.tasks[id], places[id])) {
        open.add(graph.tasks[id], places[id]);
        taken.push_back(id);
      } else {
        skipped.push_back(id);
      }
    }
    // The first that is left waits for nothing: it has to fit an empty round.
    if (taken.empty())
      throw arch::UserError::make(
          "task {} of {} flits fits no round: {} staging slots, {} commands, an instruction FIFO of {}",
          left[0], graph.tasks[left[0]].flits, machine.stage_flits, machine.ncmd, machine.inst_depth);
    for (const TaskId id : taken) done[id] = true;
    rounds.push_back(std::move(taken));
    left = std::move(skipped);
  }
  return rounds;
}

void verify(const Rounds& rounds, const TaskGraph& graph, const std::vector<Place>& places,
            const Machine& machine) {
  constexpr std::size_t kNever = ~std::size_t{0};
  std::vector<std::size_t> when(graph.tasks.size(), kNever);
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    OpenRound round(machine);
    for (const TaskId id : rounds[r]) {
      if (id >= when.size() || when[id] != kNever)
        throw arch::UserError::make("round {}: task {} is none, or runs twice", r, id);
      if (!round.takes(graph.tasks[id], places[id]))
        throw arch::UserError::make("round {}: task {} is more than the round has room for", r, id);
      round.add(graph.tasks[id], places[id]);
      when[id] = r;
    }
  }
  if (const auto never = std::find(when.begin(), when.end(), kNever); never != when.end())
    throw arch::UserError::make("task {} is in no round", never - when.begin());
  for (const Edge& edge : graph.edges)
    if (when[edge.first] >= when[edge.second])
      throw arch::UserError::make("task {} runs in round {}, before task {} that it waits for is done",
                                  edge.second, when[edge.second], edge.first);
}

}  // namespace ktpu::framework
