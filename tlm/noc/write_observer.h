// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arch/flit.h"
#include "tlm/sim/cycle.h"

namespace ktpu::noc {

// Who keeps track of writes on their way to memory.
class WriteObserver {
 public:
  virtual ~WriteObserver() = default;
  // A unit put a MEM_WR_REQ into its output register.
  virtual void write_sent(sim::Cycle now, const arch::Flit& request) = 0;
  // It goes no further: a staging adapter serves it, and every read of the same unit finds it done.
  virtual void write_kept(sim::Cycle now, const arch::Flit& request) = 0;
};

}  // namespace ktpu::noc
