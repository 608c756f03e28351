// SPDX-License-Identifier: Apache-2.0
// L4 to L3 (compiler.md sections 1 and 14): contractions become fills and a gemm, stores drains and applies,
// whole-buffer stores tilings of their own.
#pragma once

#include "compiler/graph/graph.h"
#include "compiler/kernel/kernel.h"

namespace ktpu::kernel_to_graph {

// The kernel is verified first. Throws base::Refusal of phase kTrace.
graph::Graph lower(const kernel::Kernel& kernel);

}  // namespace ktpu::kernel_to_graph
