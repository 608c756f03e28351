// SPDX-License-Identifier: Apache-2.0
// A 64-bit number that is equal for equal state: the same in every run and every process. Proves that two
// ways of running (idle skip on and off, before and after a checkpoint) end in the same machine.
#pragma once

#include <cstdint>

#include "tlm/sim/engine.h"

namespace ktpu::observe {

enum class DigestOf : std::uint8_t {
  kState,             // registers, memories, what queues hold
  kStateAndCounters,  // and all statistics
};

// Names, widths and values in visiting order. Lazily kept counters must have been synced.
std::uint64_t digest(sim::Unit& unit, DigestOf what = DigestOf::kStateAndCounters);
// One digest of two, whose order counts.
std::uint64_t combine(std::uint64_t first, std::uint64_t second);

// All units of a domain and its links: valid, busy, and the flit where there is a valid one. Syncs first.
std::uint64_t digest(sim::Engine& engine, DigestOf what = DigestOf::kStateAndCounters);

}  // namespace ktpu::observe
