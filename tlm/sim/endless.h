// SPDX-License-Identifier: Apache-2.0
// A unit that can be at work which has no end, and moves things for ever meanwhile: the watchdog takes that
// for no progress.
#pragma once

#include "tlm/sim/cycle.h"

namespace ktpu::sim {

class Endless {
 public:
  virtual ~Endless() = default;
  // When the work began that it is at now and that cannot end by itself, in cycles of the unit's clock;
  // kNever: it has an end, or the unit cannot tell.
  virtual Cycle endless_since() const = 0;
};

}  // namespace ktpu::sim
