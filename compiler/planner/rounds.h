// SPDX-License-Identifier: Apache-2.0
// Passes cut into rounds by three limits: the staging RAM, the credit of a round, the command RAM. What a
// pass costs in commands is measured with the builder that makes the round, as a kick writes only what
// changed (compiler.md section 10).
#pragma once

#include <string>
#include <vector>

#include "compiler/bytes/artifact.h"
#include "compiler/bytes/dispatch.h"
#include "compiler/planner/gemm_passes.h"

namespace ktpu::planner {

struct GemmRound {
  std::size_t passes = 0;         // how many of the plan's, in their order
  std::vector<arch::Flit> flits;  // as staged, from slot 0
  std::vector<arch::Command> commands;
  bytes::Bound bound = bytes::Bound::kEnd;  // why it ends where it does; of several limits the first
};

// Each round seeds inst_depth credits once; every pass takes one for good, so at most inst_depth - 1 join.
// Throws base::Refusal (PASS_OVER_STAGING, PASS_OVER_COMMANDS) for a pass that is more than a round.
std::vector<GemmRound> cut_rounds(const GemmPasses& plan, const bytes::Limits& limits);
// Throws UserError that names the round and the limit.
void verify(const std::vector<GemmRound>& rounds, const bytes::Limits& limits);
std::string print(const std::vector<GemmRound>& rounds);

// The rounds as steps of a program file.
std::vector<arch::Step> program_steps(const std::vector<GemmRound>& rounds, std::uint8_t mesh);

}  // namespace ktpu::planner
