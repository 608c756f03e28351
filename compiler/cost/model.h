// SPDX-License-Identifier: Apache-2.0
// The cost of a program on a machine, from the specification's timing rules: a queue of events, one per
// instruction, burst and transaction, none per cycle or flit.
#pragma once

#include "arch/program/program.h"
#include "compiler/cost/machine.h"
#include "compiler/cost/report.h"

namespace ktpu::cost {

// Throws UserError when the program names units the machine does not have, or would not come to an end.
Report estimate(const arch::Program& program, const CostMachine& machine);

}  // namespace ktpu::cost
