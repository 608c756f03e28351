// SPDX-License-Identifier: Apache-2.0
// One cycle of the path's end of the asynchronous FIFOs of the DRAM bus, with a DRAM on a clock of its own:
// what the path saw of them before it did anything, and what it did. For whoever stands beside the path.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "tlm/memory/dram_bus.h"
#include "tlm/sim/cycle.h"

namespace ktpu::memory {

struct BorderCycle {
  static constexpr unsigned kFifos = 8;  // of read data: one, or one for each requester

  sim::Cycle at = sim::kNever;
  bool ar_full = false, aw_full = false, w_full = false;
  std::array<std::optional<ReadWord>, kFifos> r;  // heads
  std::optional<std::uint8_t> b;                  // requester of the response at the head; it is taken

  std::optional<AddressWord> ar, aw;  // pushed
  std::optional<DramWriteBeat> w;
  std::uint32_t r_popped = 0;  // bit f: the head of FIFO f
};

}  // namespace ktpu::memory
