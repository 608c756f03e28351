// SPDX-License-Identifier: Apache-2.0
// L3 -> L2: statements become stages of instances, buffers get orders and addresses (compiler.md sections 15,
// 16 and 24).
#pragma once

#include "compiler/graph/graph.h"
#include "compiler/schedule/schedule.h"

namespace ktpu::graph_to_schedule {

struct Options {
  schedule::Policy policy = schedule::Policy::kBest;
  bool regrid = false;       // formed elementwise passes over as many instances as their operands have parts
  bool reuse_temps = false;  // temporaries share one block of memory where their lifetimes allow
  // A stage for each statement of a vector pass: for passes whose statements read one another's results and
  // do not fit one vector program.
  bool split = false;
};

// Throws base::Refusal (phases kTrace to kAllocate). base::CannotFuse: the graph compiles when its epilogues
// are staged (stage_epilogues).
schedule::Schedule lower(const graph::Graph& graph, const schedule::Resources& resources,
                         const Options& options);

// Every epilogue on a resident accumulator becomes a drain into a buffer of its own and a pass after the
// tiling. Throws base::Refusal (kLayout) for an operand that only a resident epilogue can read.
graph::Graph stage_epilogues(const graph::Graph& graph);

}  // namespace ktpu::graph_to_schedule
