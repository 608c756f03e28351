// SPDX-License-Identifier: Apache-2.0
#include "compiler/framework/builders.h"

namespace ktpu::framework {
namespace {

TaskId add(TaskGraph& graph, Task task) {
  graph.tasks.push_back(std::move(task));
  return static_cast<TaskId>(graph.tasks.size() - 1);
}

void after(TaskGraph& graph, const Ids& first, const Ids& then) {
  for (const TaskId a : first)
    for (const TaskId b : then) graph.edges.insert({a, b});
}

}  // namespace

Ids spread(TaskGraph& graph, std::uint32_t count, const TaskMaker& make) {
  Ids ids;
  for (std::uint32_t i = 0; i < count; ++i) ids.push_back(add(graph, make(i)));
  return ids;
}

Ids chain(TaskGraph& graph, std::uint32_t count, const TaskMaker& make) {
  const Ids ids = spread(graph, count, make);
  for (std::size_t i = 1; i < ids.size(); ++i) graph.edges.insert({ids[i - 1], ids[i]});
  return ids;
}

TaskId gather(TaskGraph& graph, const Ids& from, const Task& task) {
  const TaskId id = add(graph, task);
  after(graph, from, {id});
  return id;
}

Ids iterate(TaskGraph& graph, std::uint32_t count,
            const std::function<Ids(TaskGraph&, std::uint32_t)>& body) {
  Ids before;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Ids now = body(graph, i);
    after(graph, before, now);
    if (!now.empty()) before = now;
  }
  return before;
}

}  // namespace ktpu::framework
