// SPDX-License-Identifier: Apache-2.0
// The metrics and invariants every machine has: times, and what can be said of any link.
#pragma once

#include "tlm/observe/statistics.h"

namespace ktpu::observe {

const std::vector<Metric>& standard_metrics();
const std::vector<Invariant>& standard_invariants();
void add_standard(Statistics& statistics);

}  // namespace ktpu::observe
