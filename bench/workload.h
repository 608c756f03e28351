// SPDX-License-Identifier: Apache-2.0
// One workload: a fresh machine, run to its end.
#pragma once

#include <cstdint>

#include "bench/cases.h"

namespace ktpu::bench {

struct Variant {
  bool simd = true;
  bool idle_skip = true;
};

struct Outcome {
  double seconds = 0;          // user CPU time of the run alone: without reading, building and loading
  sim::Cycle cycles = 0;       // simulated
  std::uint64_t commands = 0;  // of all accumulators
  std::uint64_t flits = 0;     // moved over all links
  unsigned clusters = 0;
  std::uint64_t results = 0;  // of the result in the DRAM alone: the same whatever stands in the sockets
  std::uint64_t digest = 0;   // of results, cycles, and all state and statistics of the machine
};

// Throws UserError when the run does not end well or an invariant of the statistics is broken.
Outcome run_workload(const Case& c, const Variant& variant, bool quick);

// User CPU time of this process.
double user_seconds();

}  // namespace ktpu::bench
