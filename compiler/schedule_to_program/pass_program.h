// SPDX-License-Identifier: Apache-2.0
// Statements as a program in passes (policy best): rows of any width that L1 holds, more operands than there
// are descriptors, expressions longer than the instruction memory. Vectors are loaded when they are needed;
// one descriptor serves all loads and stores, the others move operands and results, a few at a time.
#pragma once

#include <span>
#include <vector>

#include "compiler/program/unit_program.h"
#include "compiler/schedule/schedule.h"

namespace ktpu::schedule_to_program {

// Rows that a vector cannot hold or fold at once.
bool needs_passes(const schedule::Chain& statement);

// Throws base::Refusal (kBuild): L1_FOOTPRINT, REGISTERS, and what pass_plan.h names.
std::vector<program::VectorStep> pass_program(const schedule::Schedule& schedule,
                                              std::span<const schedule::Chain* const> statements,
                                              std::uint64_t batch);

}  // namespace ktpu::schedule_to_program
