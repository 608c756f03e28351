// SPDX-License-Identifier: Apache-2.0
// Kernels the bench runs on the vector cores of a machine.
#pragma once

#include <cstdint>

#include "arch/program/program.h"
#include "topologies/description.h"

namespace ktpu::bench {

// Every vector core fills a register with 128 elements and repeats a body of 15 independent operations on
// whole registers `iterations` times (at most 2^24-1), then stores one of them: a beat in eight of 13 cycles.
arch::Program vector_loop(const topo::Machine& machine, std::uint32_t iterations);

}  // namespace ktpu::bench
