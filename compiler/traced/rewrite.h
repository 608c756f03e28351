// SPDX-License-Identifier: Apache-2.0
// Rewrites of a traced graph before bands, and what no band can hold (compiler.md sections 8.1, 8.5, 8.7).
#pragma once

#include "compiler/traced/graph.h"

namespace ktpu::traced {

// Every reduction over the last axes of more than `vlmax` elements becomes two, again and again: first over
// the largest part of it that a vector holds. One with no such part stays as it is. `vlmax` >= 2.
void split_wide(Graph& graph, std::uint64_t vlmax);

// Throws base::Refusal (kStages): WIDE_REDUCTION for a reduction of more than `vlmax` elements, VIEW_OUTPUT
// for an output that only looks at an input. Asked of the graph after its rewrites.
void refuse_unbandable(const Graph& graph, std::uint64_t vlmax);

}  // namespace ktpu::traced
