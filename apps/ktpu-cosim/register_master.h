// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/ktpu-cosim/feed.h"
#include "tlm/orchestrator/register_bus_wires.h"

namespace ktpu::cosim {

// The master of a register bus of the block: shows the beats of its messages, one a cycle, with pauses. Reads
// count as transfers out of the block in the cycle in which their data is shown.
class RegisterMaster {
 public:
  RegisterMaster(const Setup& setup, unsigned port, orchestrator::RegisterBus& bus)
      : bus_(bus),
        conditions_(setup.conditions),
        transfers_(setup.transfers),
        port_(port),
        feed_(&Message::beats, conditions_.seed + port) {}
  void send(const Message& message) { feed_.add(message); }

  // Drive phase, once a cycle.
  void drive(sim::Cycle now) {
    const auto beat = stalled(conditions_, 4 * port_, now) ? std::nullopt : feed_.take(now);
    reads_ = beat && beat->read;
    if (!beat) {
      if (bus_.beat.valid()) bus_.beat.withdraw();
      return;
    }
    bus_.beat.offer(*beat);
    transfers_.in(now, port_, [&] { return orchestrator::wire_words(*beat); });
  }
  // Clock phase: read data shown in this cycle answers the read of the one before.
  void clock(sim::Cycle now) {
    if (answered_) transfers_.out(now, port_, [&] { return fmt::format("data {:#018x}", bus_.read_data); });
    answered_ = reads_;
  }

 private:
  orchestrator::RegisterBus& bus_;
  Conditions conditions_;
  Transfers& transfers_;
  unsigned port_;
  Feed<orchestrator::BusBeat> feed_;
  bool reads_ = false, answered_ = false;
};

}  // namespace ktpu::cosim
