// SPDX-License-Identifier: Apache-2.0
// L5 to L4.
#pragma once

#include "compiler/tensor_to_kernel/pattern.h"
#include "compiler/tensor_to_kernel/plan.h"

namespace ktpu::tensor_to_kernel {

// What the results need and no more, operands before their users. The first substitution of the registry that
// matches an operation takes it and what it covers; elementwise operations that none takes run together where
// one pass holds them. Tiles are chosen where a substitution leaves them open. Throws base::Refusal
// (NO_KERNEL, or what binding the matched kernel refuses).
Plan lower(const tensor::Graph& graph, const Registry& registry, const Capacity& capacity);

}  // namespace ktpu::tensor_to_kernel
