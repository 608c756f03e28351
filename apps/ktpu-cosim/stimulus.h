// SPDX-License-Identifier: Apache-2.0
// Random messages for one block: what programs do, and what they never should.
#pragma once

#include <vector>

#include "apps/ktpu-cosim/block.h"

namespace ktpu::cosim {

// Flits that belong together (a CU_DATA descriptor and its data), sent in order on one port.
struct Message {
  unsigned port = 0;
  sim::Cycle gap = 0;  // cycles from the last flit of the message before, on that port
  std::vector<arch::Flit> flits;
};
using Stimulus = std::vector<Message>;

// kLegal: what a program would send. kWild: every field of every instruction and type, in any order.
enum class Style { kLegal, kWild };

// About as much as the block can take in `cycles`.
Stimulus make_stimulus(const Block& block, Style style, std::uint64_t seed, sim::Cycle cycles);

// The word of memory at byte address `address` (rounded down to 32): a function of seed and address.
arch::Flit memory_word(std::uint64_t seed, std::uint64_t address);

}  // namespace ktpu::cosim
