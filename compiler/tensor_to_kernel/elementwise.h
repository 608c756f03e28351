// SPDX-License-Identifier: Apache-2.0
// Runs of elementwise operations as one pass: one kernel reads each array once and writes the last result.
#pragma once

#include <functional>
#include <vector>

#include "compiler/tensor/graph.h"
#include "compiler/tensor_to_kernel/plan.h"

namespace ktpu::tensor_to_kernel {

struct Run {
  tensor::Id root = 0;
  std::vector<tensor::Id> covered;  // without the root
  std::vector<tensor::Id> arrays;   // in the order in which they are met
};

// From `root` up as far as `joins` says and one vector program holds it: at most three arrays, few enough
// constants. An operation with another user never joins.
Run grow_run(const tensor::Graph& graph, tensor::Id root, const std::function<bool(tensor::Id)>& joins);

// The library's kernel for a single operation on arrays, else a kernel of its own.
KernelCall call_of(const tensor::Graph& graph, const Run& run);

}  // namespace ktpu::tensor_to_kernel
