// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "compiler/graph/graph.h"

namespace ktpu::graph_to_schedule {

// Whether `next` may run in one pass with the statements held so far (section 15.1). The reference does not
// ask whether it overwrites what another instance of the pass still reads; `guard_overwrites` does.
bool joins(const std::vector<const graph::Apply*>& held, const graph::Apply& next, bool guard_overwrites);

}  // namespace ktpu::graph_to_schedule
