// SPDX-License-Identifier: Apache-2.0
// When a sink refuses flits: a fixed function of the cycle number (vectors/rtl/README.md, noc.jsonl, and the
// end of vectors/programs/README.md).
#pragma once

#include <cstdint>
#include <vector>

#include "tlm/sim/cycle.h"

namespace ktpu::traffic {

class BusyPattern {
 public:
  BusyPattern() = default;  // never busy
  // Busy in cycle c when ((c + offset) mod period) < duty. period 0: never; duty >= period: always.
  static BusyPattern periodic(std::uint32_t period, std::uint32_t duty, std::uint64_t offset = 0);
  // Lengths in cycles of free, busy, free, busy, ... from cycle 0; when used up the list starts over (with
  // its first, free, run). Runs of length 0 are allowed; empty or all zero: never.
  static BusyPattern runs(const std::vector<std::uint32_t>& lengths);

  bool busy(sim::Cycle cycle) { return segment_of(cycle).busy; }
  // The first cycle > `cycle` in which busy() differs from now, kNever if none.
  sim::Cycle next_change(sim::Cycle cycle);

 private:
  struct Segment {
    sim::Cycle end = 0;  // first cycle behind it, within the period
    bool busy = false;
  };
  struct Current {
    sim::Cycle begin = 0;  // absolute
    sim::Cycle end = sim::kNever;
    bool busy = false;
  };
  void append(std::uint64_t length, bool busy);
  void finish();
  const Current& segment_of(sim::Cycle cycle) {
    if (cycle < current_.begin || cycle >= current_.end) seek(cycle);
    return current_;
  }
  void seek(sim::Cycle cycle);

  std::vector<Segment> segments_;  // neighbours differ; empty: constant
  sim::Cycle period_ = 0;
  Current current_;
};

}  // namespace ktpu::traffic
