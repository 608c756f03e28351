// SPDX-License-Identifier: Apache-2.0
// The text of a graph of operations: which kernels it calls, and its results.
#pragma once

#include "apps/ktpu-cc/operands.h"
#include "apps/ktpu-cc/options.h"
#include "arch/error.h"
#include "compiler/tensor/graph.h"
#include "topologies/description.h"

namespace ktpu::apps {

// --emit plan and --run. Throws UserError, base::Refusal among them.
arch::ExitStatus run_tensors(const tensor::Graph& graph, const CcOptions& options, const Operands& operands,
                             const topo::Machine& machine);

}  // namespace ktpu::apps
