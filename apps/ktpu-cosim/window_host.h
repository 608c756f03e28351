// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>

#include "apps/ktpu-cosim/feed.h"
#include "tlm/memory/window_bus.h"
#include "tlm/sim/unit.h"

namespace ktpu::cosim {

// A host at the memory window: bursts of both kinds at once, pauses between words, answers taken late.
class WindowHost final : public sim::Unit {
 public:
  WindowHost(const Setup& setup, memory::WindowBus& bus);
  void send(const Message& message) { (message.burst->write ? writes_ : reads_).waiting.push_back(&message); }

  void reset(sim::Cycle) override {}
  void drive(sim::Cycle now) override;
  sim::Cycle clock(sim::Cycle now) override;

 private:
  struct Side {
    unsigned port = 0;
    std::deque<const Message*> waiting;
    bool offers = false;
    sim::Cycle free_from = 0;
  };
  void show(sim::Link<memory::WindowAddress>& link, const Side& side);
  // Whether the offer of another burst begins.
  bool advance(sim::Cycle now, sim::Link<memory::WindowAddress>& link, Side& side);
  bool stalls(unsigned port, sim::Cycle now) const { return stalled(conditions_, 4 * port + 1, now); }

  memory::WindowBus& bus_;
  Conditions conditions_;
  Transfers& transfers_;
  unsigned w_, r_, b_;
  Side writes_, reads_;
  std::deque<memory::WindowAddress> data_;  // accepted write bursts, with the words still to send
  bool offer_w_ = false;
  memory::WindowBeat word_{};
};

}  // namespace ktpu::cosim
