// SPDX-License-Identifier: Apache-2.0
// Shapes of work that come up again and again (compiler.md section 13). Each adds its tasks behind those of
// the graph, with the edges that the shape itself demands; edges that follow from memory are inferred.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/framework/tasks.h"

namespace ktpu::framework {

using TaskMaker = std::function<Task(std::uint32_t)>;  // of the given number in its shape
using Ids = std::vector<TaskId>;

// `count` tasks that know nothing of each other.
Ids spread(TaskGraph& graph, std::uint32_t count, const TaskMaker& make);
// `count` tasks, each after the one before.
Ids chain(TaskGraph& graph, std::uint32_t count, const TaskMaker& make);
// One task after all of `from`.
TaskId gather(TaskGraph& graph, const Ids& from, const Task& task);
// `count` times what `body` adds, each time after all of the time before. Gives what the last time added.
Ids iterate(TaskGraph& graph, std::uint32_t count, const std::function<Ids(TaskGraph&, std::uint32_t)>& body);

}  // namespace ktpu::framework
