// SPDX-License-Identifier: Apache-2.0
// Waves of a machine with several clocks, in one file: over a time window, or the last cycles when something
// goes wrong. Each clock is sampled by an observer of its own engine, at the beginning of each of its cycles;
// what they see is kept and written in order of time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tlm/observe/vcd_writer.h"
#include "tlm/observe/waves.h"
#include "tlm/sim/timeline.h"

namespace ktpu::observe {

class ClockWaves {
 public:
  // As WaveFile; the window is in cycles of the base clock, and a signal is unknown until the first cycle of
  // its clock that begins in it. Observes the engines of `timeline` until it is destroyed.
  ClockWaves(const Registry& registry, sim::Timeline& timeline, const std::string& path,
             const WaveOptions& options);
  ~ClockWaves();

  std::size_t signals() const { return signals_.size(); }
  std::string estimate() const;
  void finish();
  const std::string& notice() const { return notice_; }

 private:
  class Tap;
  void write_until(bool all);
  void note(std::size_t words);

  sim::Timeline& timeline_;
  std::string path_;
  WaveOptions options_;
  std::vector<Signal> signals_;
  std::vector<std::unique_ptr<Tap>> taps_;  // one a clock, in the order of the clocks
  std::vector<TimeBase> times_;             // of the clocks
  VcdWriter writer_;
  std::size_t kept_ = 0;  // words seen and not written
  bool started_ = false;
  bool finished_ = false;
  std::string notice_;
};

// As WaveRing, and of a file over the same window: a signal is unknown until its clock's first cycle in it.
class ClockRing {
 public:
  // Keeps the time of the last `cycles` (>= 1) cycles of the base clock. Observes the engines of `timeline`
  // until it is destroyed.
  ClockRing(const Registry& registry, sim::Timeline& timeline, const std::vector<std::string>& scope,
            sim::Cycle cycles);
  ~ClockRing();

  void dump(const std::string& path) const;

 private:
  class Tap;

  sim::Timeline& timeline_;
  sim::Cycle keep_;
  std::vector<std::unique_ptr<Tap>> taps_;  // one a clock, in the order of the clocks
};

}  // namespace ktpu::observe
