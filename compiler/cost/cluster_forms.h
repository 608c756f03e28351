// SPDX-License-Identifier: Apache-2.0
// The closed forms of cluster.md sections 8 and 13.4. Cycles of the unit's clock.
#pragma once

#include <vector>

#include "compiler/cost/machine.h"

namespace ktpu::cost {

// A sweep of gm x gn x nk steps (0 acts as 1).
struct SweepForm {
  Cycles steps = 1;    // issues
  double period = 1;   // issue to issue
  Cycles results = 1;  // gm * gn
  bool wide = false;   // waits for the cascade only
  // First to last issue.
  Cycles length() const;
  // First issue to the first one of the last K block, which emits.
  Cycles to_last_block() const;
};
SweepForm sweep_form(const ClusterCost& cost, unsigned gm, unsigned gn, unsigned nk);

// Bursts of a drain: when each one's last data flit is on the output, counted from the origin; and when the
// DRAIN is done.
struct DrainForm {
  struct Burst {
    unsigned first = 0;     // granule
    unsigned granules = 0;  // 1..burst
    Cycles last_flit = 0;
  };
  std::vector<Burst> bursts;
  Cycles done = 0;
};
// An explicit DRAIN of `granules`; origin: its start test passes. `send`: two granules a sub-tile, to a tile.
DrainForm explicit_drain(const ClusterCost& cost, unsigned granules, bool send);
// The results of an emitting sweep; origin: its first ADD_EMIT.
DrainForm emitted_drain(const ClusterCost& cost, const SweepForm& sweep);

}  // namespace ktpu::cost
