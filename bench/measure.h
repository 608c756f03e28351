// SPDX-License-Identifier: Apache-2.0
// Repetitions of a case, each in a process of its own: nothing of one is left in memory or caches' way of
// another, and the system tells the peak memory of each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/workload.h"

namespace ktpu::bench {

struct Repetition {
  double cycles_per_second = 0;  // simulated cycles by user seconds, summed over the workloads
  double seconds = 0;            // user CPU time measured
  std::uint64_t workloads = 0;
  std::uint64_t peak_bytes = 0;  // largest resident size of the process
  Outcome outcome;               // of any workload: all are equal
};

// Repeats the workload until it took `seconds` of user time. Throws UserError when one fails or two differ.
Repetition repeat(const Case& c, const Variant& variant, double seconds);

struct Measurement {
  const Case* of = nullptr;
  Variant variant;
  std::vector<Repetition> repetitions;  // slowest first

  const Repetition& slowest() const { return repetitions.front(); }
  const Repetition& median() const { return repetitions[repetitions.size() / 2]; }
  const Repetition& fastest() const { return repetitions.back(); }
  std::uint64_t peak_bytes() const;
  // Per simulated cycle; equal in all repetitions.
  double commands_per_cycle() const;
};

// Throws UserError when repetitions do not give the same digest.
Measurement measure(const Case& c, const Variant& variant, double seconds, unsigned repeats);

}  // namespace ktpu::bench
