// SPDX-License-Identifier: Apache-2.0
// L2 to L1: the instructions of every unit, from statements whose operands have their addresses (compiler.md
// sections 17 and 18).
#pragma once

#include "compiler/program/unit_program.h"
#include "compiler/schedule/schedule.h"

namespace ktpu::schedule_to_program {

// Policy compat gives the reference's instructions and refusals. Policy best splits long FILLs, judges the
// end of an operand by its widest order, keeps a vector program's stores within its own result, and refuses
// what would read before it is written.
//
// Throws base::CannotFuse when an epilogue has to be staged (raised before any other refusal of this
// lowering), base::Refusal for everything of section 25 that building a unit's program finds out, UserError
// for a schedule whose buffers have no addresses.
program::Program lower(const schedule::Schedule& schedule);

// Throws base::CannotFuse when an epilogue has to be staged, and does nothing else. lower() asks first, too:
// the answer is another compilation, whatever else is wrong with this one.
void require_fusing(const schedule::Schedule& schedule);

}  // namespace ktpu::schedule_to_program
