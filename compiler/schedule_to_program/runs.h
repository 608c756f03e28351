// SPDX-License-Identifier: Apache-2.0
// Which statements of an instance share one vector program (compiler.md section 18.6).
#pragma once

#include <vector>

#include "compiler/program/unit_program.h"
#include "compiler/schedule/schedule.h"

namespace ktpu::schedule_to_program {

// `first` is the first instance of the stage: spreads count their groups from where it starts. Throws
// base::Refusal: what no program can hold (band.h), RUN_CUT_READS_RESULT (a statement reads what one before
// it wrote, and both do not fit one program), SPREAD_START (an instance begins inside a group).
std::vector<program::VectorStep> vector_program(const schedule::Schedule& schedule,
                                                const schedule::Instance& instance,
                                                const schedule::Instance& first);

}  // namespace ktpu::schedule_to_program
