// SPDX-License-Identifier: Apache-2.0
// Work before it has a place and a time: tasks, the memory they touch, and who has to wait for whom
// (compiler.md section 13).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "arch/flit.h"
#include "compiler/framework/machine.h"

namespace ktpu::framework {

// Bytes of one mesh's memory.
struct Region {
  std::uint64_t base = 0, nbytes = 0;
  unsigned mesh = 0;
  bool overlaps(const Region& other) const {
    return mesh == other.mesh && base < other.base + other.nbytes && other.base < base + nbytes;
  }
  auto operator<=>(const Region&) const = default;
};

enum class Policy : std::uint8_t {
  kFree,    // on the unit that has least to do
  kPinned,  // on the one it names
  kAffine,  // near a memory port
};

using TaskId = std::uint32_t;
struct Task {
  std::string unit_type;
  std::vector<Region> reads, writes;
  std::uint32_t flits = 1;    // words it takes
  std::uint32_t signals = 1;  // that answer them
  Policy policy = Policy::kFree;
  std::optional<arch::Coord> coord;  // of kPinned
  double cost = 1;                   // what it adds to its unit's load
  std::optional<unsigned> mesh;      // none: follows from what it reads or writes
};

using Edge = std::pair<TaskId, TaskId>;  // the second starts after the first has finished
struct TaskGraph {
  std::vector<Task> tasks;
  std::set<Edge> edges;
};

// An earlier task writes what a later one reads or writes. A later write over what an earlier task reads
// makes no edge: whoever reuses memory adds it.
std::set<Edge> infer_edges(const std::vector<Task>& tasks);
// What is ready at the start in the order of the numbers, then what becomes ready, in turn. Throws UserError
// for a circle.
std::vector<TaskId> topological_order(const TaskGraph& graph);
// Throws UserError: an edge to no task, a circle, a task without words or of a negative cost, a pinned one
// without a coordinate.
void verify(const TaskGraph& graph);
std::string print(const TaskGraph& graph);

}  // namespace ktpu::framework
