// SPDX-License-Identifier: Apache-2.0
// Episodes of one block with a report, and whole machines in lock-step.
#pragma once

#include <string>
#include <vector>

#include "apps/ktpu-cosim/bench.h"

namespace ktpu::cosim {

struct Campaign {
  std::string block;           // of block_words()
  sim::Cycle cycles = 20'000;  // in all
  sim::Cycle episode = 4'000;  // each with parameters, stimulus and stalls of its own: seed, seed + 1, ...
  std::uint64_t seed = 1;
  unsigned stalls = 30;  // percent
  unsigned tries = 400;  // runs that the minimiser may take
  std::string waves;     // file; empty: none
};

// Prints a line an episode and the sum, or the report of the first difference with the shortest stimulus
// found. Returns the exit status.
arch::ExitStatus run_campaign(const Campaign& campaign, const platform::Registry& registry);

struct WholeMachine {
  std::string topology;
  std::string program;             // file; empty: traffic nodes send at random
  std::vector<std::string> impls;  // empty: lock-step wherever there is a twin
  sim::Cycle cycles = 20'000;
  std::uint64_t seed = 1;  // of traffic nodes and their stalls
  unsigned stalls = 0;     // percent, of traffic nodes
  std::string waves;
};
arch::ExitStatus run_machine(const WholeMachine& options, const platform::Registry& registry);

}  // namespace ktpu::cosim
