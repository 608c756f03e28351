// SPDX-License-Identifier: Apache-2.0
// Random messages for one block: what programs do, and what they never should.
#pragma once

#include <optional>
#include <vector>

#include "apps/ktpu-cosim/block.h"
#include "tests/support/random_entry.h"
#include "tlm/memory/window_bus.h"
#include "tlm/orchestrator/register_bus.h"
#include "tlm/sim/random.h"

namespace ktpu::cosim {

// A burst over the host's memory window. Its words follow from address and seed.
struct HostBurst {
  bool write = false;
  memory::WindowAddress address;
};

// An entry for the quantiser: a start and up to eight beats of 16 values; fewer: it is abandoned.
struct QuantiserEntry {
  bool b_layout = false;
  unsigned beats = 8;
  bool waits = true;  // the next entry starts behind its words; else it is abandoned on the way
  test::Halves halves{};
};

// What belongs together (a CU_DATA descriptor and its data, the registers of a move), sent in order on one
// port: one of the four kinds, by the port.
struct Message {
  unsigned port = 0;
  sim::Cycle gap = 0;  // cycles from the last of the message before, on that lane
  std::vector<arch::Flit> flits;
  unsigned lane = 0;  // messages of a port's lane keep their order; lanes take turns, flit by flit
  std::vector<orchestrator::BusBeat> beats = {};
  std::optional<HostBurst> burst = {};
  std::optional<QuantiserEntry> entry = {};

  std::size_t size() const {
    return flits.size() + beats.size() + (burst ? burst->address.beats : 0) + (entry ? 20 : 0);
  }
};
using Stimulus = std::vector<Message>;

// kLegal: what a program would send. kWild: every field of every instruction and type, in any order.
enum class Style { kLegal, kWild };

// About as much as the block can take in `cycles`.
Stimulus make_stimulus(const Block& block, Style style, std::uint64_t seed, sim::Cycle cycles);

// The word of memory at byte address `address` (rounded down to 32): a function of seed and address.
arch::Flit memory_word(std::uint64_t seed, std::uint64_t address);

// By block.
Stimulus router_stimulus(const Block& block, Style style, sim::Random& random, sim::Cycle cycles);
Stimulus cluster_stimulus(const Block& block, Style style, sim::Random& random, sim::Cycle cycles);
Stimulus vector_stimulus(const Block& block, Style style, sim::Random& random, sim::Cycle cycles);
Stimulus memory_stimulus(const Block& block, Style style, sim::Random& random, sim::Cycle cycles);
Stimulus chain_stimulus(const Block& block, Style style, sim::Random& random, sim::Cycle cycles);
Stimulus agent_stimulus(const Block& block, Style style, sim::Random& random, sim::Cycle cycles);
Stimulus engine_stimulus(const Block& block, Style style, sim::Random& random, sim::Cycle cycles);
Stimulus quantiser_stimulus(const Block& block, Style style, sim::Random& random, sim::Cycle cycles);

}  // namespace ktpu::cosim
