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
  unsigned stalls = 30;     // percent
  unsigned tries = 400;     // runs that the minimiser may take
  std::string waves;        // file; empty: none
  std::uint64_t least = 0;  // transfers that every port has to see in each of its directions
  bool quiet = false;       // no line an episode
};

// Of all episodes.
struct Totals {
  arch::ExitStatus status = arch::ExitStatus::kOk;
  std::uint64_t episodes = 0;
  sim::Cycle cycles = 0;
  std::uint64_t values = 0;
  struct Count {
    Port port;
    PortCount transfers;
  };
  std::vector<Count> ports;  // of all shapes that the block had
  // The fewest transfers of a port in one direction.
  std::uint64_t least() const;
};

// Prints a line an episode, counts of all ports and the sum; or the report of the first difference with the
// shortest stimulus found. The status is kLockstepMismatch, too, when a port saw fewer transfers than asked
// for: such a campaign proves little.
Totals run_campaign(const Campaign& campaign, const platform::Registry& registry);

struct WholeMachine {
  std::string topology;
  std::string program;             // file; empty: traffic nodes send at random
  std::vector<std::string> impls;  // empty: lock-step wherever there is a twin
  sim::Cycle cycles = 20'000;      // at most; a program may end before
  std::uint64_t seed = 1;          // of traffic nodes and their stalls
  unsigned stalls = 0;             // percent, of traffic nodes
  std::string waves;
};
arch::ExitStatus run_machine(const WholeMachine& options, const platform::Registry& registry);

}  // namespace ktpu::cosim
