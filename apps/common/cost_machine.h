// SPDX-License-Identifier: Apache-2.0
// A machine's description as the cost model takes it.
#pragma once

#include "compiler/cost/machine.h"
#include "topologies/description.h"

namespace ktpu::apps {

// Nodes that no program of flits drives (traffic, controllers, PEs) are left out.
cost::CostMachine cost_machine(const topo::Machine& machine);

}  // namespace ktpu::apps
