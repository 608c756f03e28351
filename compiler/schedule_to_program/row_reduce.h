// SPDX-License-Identifier: Apache-2.0
// A fold of rows that stands alone: its own program, whose passes hold as many whole rows as fit (compiler.md
// section 18.6).
#pragma once

#include <vector>

#include "compiler/program/unit_program.h"
#include "compiler/schedule/schedule.h"

namespace ktpu::schedule_to_program {

// `statement` is a `reduce`. Throws base::Refusal: ROW_WIDTH, ROW_UNKNOWN, PART_CUTS_ROW, L1_FOOTPRINT,
// IMAGE_TOO_LONG (policy best takes fewer rows a pass instead).
std::vector<program::VectorStep> row_reduction(const schedule::Schedule& schedule,
                                               const schedule::Chain& statement, std::uint64_t batch);

}  // namespace ktpu::schedule_to_program
