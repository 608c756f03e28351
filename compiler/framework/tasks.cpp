// SPDX-License-Identifier: Apache-2.0
#include "compiler/framework/tasks.h"

#include <algorithm>
#include <deque>
#include <string_view>

#include "arch/error.h"

namespace ktpu::framework {
namespace {

bool overlap(const std::vector<Region>& a, const std::vector<Region>& b) {
  return std::any_of(a.begin(), a.end(), [&](const Region& x) {
    return std::any_of(b.begin(), b.end(), [&](const Region& y) { return x.overlaps(y); });
  });
}

std::string print(const std::vector<Region>& regions) {
  std::string text;
  for (const Region& r : regions) text += fmt::format(" {}:{:#x}+{}", r.mesh, r.base, r.nbytes);
  return text;
}

std::string_view name(Policy policy) {
  if (policy == Policy::kPinned) return "pinned";
  return policy == Policy::kAffine ? "affine" : "free";
}

}  // namespace

std::set<Edge> infer_edges(const std::vector<Task>& tasks) {
  std::set<Edge> edges;
  for (TaskId j = 0; j < tasks.size(); ++j)
    for (TaskId i = 0; i < j; ++i)
      if (overlap(tasks[i].writes, tasks[j].reads) || overlap(tasks[i].writes, tasks[j].writes))
        edges.insert({i, j});
  return edges;
}

std::vector<TaskId> topological_order(const TaskGraph& graph) {
  std::vector<std::size_t> waits(graph.tasks.size());
  for (const Edge& edge : graph.edges) ++waits.at(edge.second);
  std::deque<TaskId> ready;
  for (TaskId t = 0; t < graph.tasks.size(); ++t)
    if (waits[t] == 0) ready.push_back(t);
  std::vector<TaskId> order;
  while (!ready.empty()) {
    const TaskId task = ready.front();
    ready.pop_front();
    order.push_back(task);
    for (auto edge = graph.edges.lower_bound({task, 0}); edge != graph.edges.end() && edge->first == task;
         ++edge)
      if (--waits[edge->second] == 0) ready.push_back(edge->second);
  }
  if (order.size() != graph.tasks.size()) {
    const auto stuck = std::find_if(waits.begin(), waits.end(), [](std::size_t n) { return n != 0; });
    throw arch::UserError::make("task {} waits for itself, over other tasks", stuck - waits.begin());
  }
  return order;
}

void verify(const TaskGraph& graph) {
  for (TaskId t = 0; t < graph.tasks.size(); ++t) {
    const Task& task = graph.tasks[t];
    const auto fail = [&](std::string_view what) { throw arch::UserError::make("task {}: {}", t, what); };
    if (task.flits == 0) fail("has no words");
    if (!(task.cost >= 0)) fail("its cost is negative, or no number");
    if (task.policy == Policy::kPinned && !task.coord) fail("is pinned, but to no unit");
  }
  for (const Edge& edge : graph.edges)
    if (std::max(edge.first, edge.second) >= graph.tasks.size())
      throw arch::UserError::make("an edge from task {} to task {}: there are {}", edge.first, edge.second,
                                  graph.tasks.size());
  topological_order(graph);
}

std::string print(const TaskGraph& graph) {
  std::string text;
  for (TaskId t = 0; t < graph.tasks.size(); ++t) {
    const Task& task = graph.tasks[t];
    text += fmt::format("task {} {} {} flits={} signals={} cost={}", t, task.unit_type, name(task.policy),
                        task.flits, task.signals, task.cost);
    if (task.coord) text += fmt::format(" at=({},{})", task.coord->x, task.coord->y);
    if (task.mesh) text += fmt::format(" mesh={}", *task.mesh);
    if (!task.reads.empty()) text += fmt::format(" reads{}", print(task.reads));
    if (!task.writes.empty()) text += fmt::format(" writes{}", print(task.writes));
    text += '\n';
  }
  for (const Edge& edge : graph.edges) text += fmt::format("edge {} {}\n", edge.first, edge.second);
  return text;
}

}  // namespace ktpu::framework
