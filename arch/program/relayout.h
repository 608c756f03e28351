// SPDX-License-Identifier: Apache-2.0
// A tensor taken from one order to another, in place, as the gather list of a host relayout.
#pragma once

#include <vector>

#include "arch/program/program.h"
#include "arch/program/tensor_layout.h"

namespace ktpu::arch {

// Destination halfword by halfword, runs as long as they get. Both orders are of the same tensor of 2-byte
// elements; what the first does not hold becomes zero.
std::vector<GatherRun> gather_between(const TensorLayout& from, const TensorLayout& to);

}  // namespace ktpu::arch
