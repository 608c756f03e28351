// SPDX-License-Identifier: Apache-2.0
// Addresses for all buffers of a schedule (compiler.md section 24). Internal to the lowering.
#pragma once

#include "compiler/graph_to_schedule/lower.h"

namespace ktpu::graph_to_schedule {

// Fills in `allocation` and every buffer's address. Throws base::Refusal (kAllocate) before anything is
// placed when it does not fit.
void place_buffers(schedule::Schedule& schedule, const graph::Graph& graph, bool reuse_temps);

}  // namespace ktpu::graph_to_schedule
