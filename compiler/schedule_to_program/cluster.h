// SPDX-License-Identifier: Apache-2.0
// Instructions of a matmul cluster for one instance (compiler.md section 17).
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/program/unit_program.h"
#include "compiler/schedule/schedule.h"

namespace ktpu::schedule_to_program {

struct ClusterProgram {
  std::vector<program::ClusterStep> steps;
  std::uint32_t acks = 0;  // bursts that the receiver of the drains will acknowledge
};

// `keeps_l1`: the cluster still holds what the instance of the same place in the clusters' last stage filled.
// Throws base::Refusal: CHUNK_OVER_BANK, REGION_OVER_BANK, FILL_PAST_END, and under policy best
// GEMM_WITHOUT_FILL (its operand was left to what an earlier stage had filled, and may be gone).
ClusterProgram cluster_program(const schedule::Schedule& schedule, const schedule::Instance& instance,
                               bool keeps_l1);

}  // namespace ktpu::schedule_to_program
