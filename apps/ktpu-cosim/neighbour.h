// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>

#include "apps/ktpu-cosim/bench.h"
#include "tlm/sim/unit.h"

namespace ktpu::cosim {

// All that lies beyond one port of the block. Stalls and delays are functions of seed, port and cycle, so
// they do not move when messages are left out.
class Neighbour final : public sim::Unit {
 public:
  // `port` as the block sees it. `memory`: read and write requests are answered. `tell` hears of every
  // transfer.
  Neighbour(unsigned number, const sim::FlitPort& port, const Conditions& conditions, bool memory,
            std::function<void(const Transaction&)> tell);
  void send(const Message& message) { messages_.push_back(message); }

  void reset(sim::Cycle) override {}
  void drive(sim::Cycle now) override;
  sim::Cycle clock(sim::Cycle now) override;

 private:
  struct Answer {
    sim::Cycle from;
    arch::Flit flit;
  };
  bool stalled(unsigned salt, sim::Cycle now) const;
  void choose(sim::Cycle now);  // the flit to offer in cycle `now`, if any
  void take(sim::Cycle now, const arch::Flit& flit);
  void read(sim::Cycle now, const arch::Flit& request);
  void answer(sim::Cycle now, const arch::Flit& flit);

  unsigned number_;
  sim::FlitLink& to_;    // into the block
  sim::FlitLink& from_;  // out of it
  Conditions conditions_;
  bool memory_;
  std::function<void(const Transaction&)> tell_;
  std::deque<Message> messages_;
  std::size_t cursor_ = 0;    // next flit of the first message
  sim::Cycle free_from_ = 0;  // when its gap starts
  std::deque<Answer> answers_;
  arch::Flit held_{};
  bool holding_ = false, fresh_ = false;
  arch::Flit write_{};  // the last write request
};

}  // namespace ktpu::cosim
