// SPDX-License-Identifier: Apache-2.0
// Durations of a unit's own clock as cycles of the fabric's, to the nearest.
#pragma once

#include <cmath>

#include "compiler/cost/machine.h"

namespace ktpu::cost {

class UnitClock {
 public:
  explicit UnitClock(double fabric_per_cycle) : ratio_(fabric_per_cycle) {}
  Cycles fabric(Cycles unit) const { return ratio_ == 1 ? unit : fabric(static_cast<double>(unit)); }
  Cycles fabric(double unit) const { return std::llround(unit * ratio_); }
  Cycles unit(Cycles fabric) const {
    return ratio_ == 1 ? fabric : std::llround(static_cast<double>(fabric) / ratio_);
  }

 private:
  double ratio_;
};

}  // namespace ktpu::cost
