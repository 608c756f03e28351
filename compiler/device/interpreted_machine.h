// SPDX-License-Identifier: Apache-2.0
// A machine's description as the interpreter takes it.
#pragma once

#include "compiler/interpret/machine.h"
#include "topologies/description.h"

namespace ktpu::device {

interpret::MachineFacts interpreted_machine(const topo::Machine& machine);

}  // namespace ktpu::device
