// SPDX-License-Identifier: Apache-2.0
// What the static check of a program must know of the machine it is for.
#pragma once

#include "arch/program/program.h"
#include "topologies/description.h"

namespace ktpu::apps {

// All units of the machine with their sizes, its memory (unless addresses wrap) and staging slots.
arch::MachineNeeds machine_facts(const topo::Machine& machine);

}  // namespace ktpu::apps
