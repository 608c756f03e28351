// SPDX-License-Identifier: Apache-2.0
// Whether a machine has what a program needs.
#pragma once

#include "arch/program/program.h"
#include "topologies/description.h"

namespace ktpu::topo {

// Throws UserError naming the first need that `machine` does not meet: units and their sizes, memory, meshes,
// staging flits, or the one machine it was made for.
void check_needs(const arch::Program& program, const topo::Machine& machine);

}  // namespace ktpu::topo
