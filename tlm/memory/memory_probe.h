// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tlm/memory/dram_device.h"
#include "tlm/sim/cycle.h"

namespace ktpu::memory {

// Sees every handshake on the DRAM bus in the cycle it happens. A tool attaches one; by default there is
// none.
class MemoryProbe {
 public:
  virtual ~MemoryProbe() = default;
  virtual void on_read_address(sim::Cycle /*now*/, const DramAddress& /*burst*/) {}
  virtual void on_read_beat(sim::Cycle /*now*/, unsigned /*requester*/, bool /*last*/) {}
  // With on_read_beat(): the bytes of that beat.
  virtual void on_read_data(sim::Cycle /*now*/, unsigned /*requester*/, const DramData&) {}
  virtual void on_write_address(sim::Cycle /*now*/, const DramAddress& /*burst*/) {}
  virtual void on_write_beat(sim::Cycle /*now*/, const DramWriteBeat& /*beat*/) {}
  virtual void on_write_response(sim::Cycle /*now*/, unsigned /*requester*/) {}
};

}  // namespace ktpu::memory
