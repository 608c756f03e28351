// SPDX-License-Identifier: Apache-2.0
// An epilogue on tiles that clusters have delivered into a vector core's L1 (compiler.md section 18.8).
#pragma once

#include <vector>

#include "compiler/program/unit_program.h"
#include "compiler/schedule/schedule.h"

namespace ktpu::schedule_to_program {

// Throws base::CannotFuse (the kernel is compiled again, staged): TILE_TOO_LARGE, L1_FOOTPRINT, OPERANDS,
// IMAGE_TOO_LONG, CONSTANT_SLOT (a constant where the lane array has not been shown to take one),
// EPILOGUE_OP, and under policy best SIDE_OPERAND_SHAPE. Throws base::Refusal: SIDE_OPERANDS (more than one),
// EPILOGUE_LIFTED (a value used twice), EPILOGUE_OPERAND (an operand that is neither).
std::vector<program::VectorStep> epilogue_program(const schedule::Schedule& schedule,
                                                  const schedule::Chain& statement, std::uint64_t batch);

// Whether a vector stage of resident epilogues can be paired with the clusters' stage before it. Throws
// base::CannotFuse: AGENT_ABSENT, MORE_INSTANCES_THAN_CORES, EPILOGUE_ABSENT.
void require_pairing(const schedule::Schedule& schedule, std::size_t cluster_stage);

}  // namespace ktpu::schedule_to_program
