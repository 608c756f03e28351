// SPDX-License-Identifier: Apache-2.0
// A line of progress on a terminal: cycles, cycles a second, steps done, time left. Silent elsewhere.
#pragma once

#include <chrono>

#include "tlm/platform/runner.h"

namespace ktpu::apps {

class Progress {
 public:
  explicit Progress(const platform::Runner& runner);
  void beat(sim::Cycle now);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  const platform::Runner& runner_;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point start_, next_;
};

}  // namespace ktpu::apps
