// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>

#include "apps/ktpu-cosim/feed.h"
#include "arch/encoding/text.h"
#include "tlm/sim/unit.h"

namespace ktpu::cosim {

// All that lies beyond one mesh port of the block.
class Neighbour final : public sim::Unit {
 public:
  // `port` as the block sees it. `memory`: read and write requests are answered.
  Neighbour(unsigned number, const sim::FlitPort& port, const Setup& setup, bool memory,
            arch::Dialect dialect);
  void send(const Message& message) { feed_.add(message); }
  // As the router of a memory port at `port`: writes for it that come out of it go back in.
  void loop(arch::Coord port) { loop_ = port; }

  void reset(sim::Cycle) override {}
  void drive(sim::Cycle now) override;
  sim::Cycle clock(sim::Cycle now) override;

 private:
  struct Answer {
    sim::Cycle from;
    arch::Flit flit;
  };
  void choose(sim::Cycle now);  // the flit to offer in cycle `now`, if any
  void take(sim::Cycle now, const arch::Flit& flit);
  void read(sim::Cycle now, const arch::Flit& request);
  void answer(sim::Cycle now, const arch::Flit& flit);

  unsigned number_;
  sim::FlitLink& to_;    // into the block
  sim::FlitLink& from_;  // out of it
  Conditions conditions_;
  Transfers& transfers_;
  bool memory_;
  std::optional<arch::Coord> loop_;
  arch::Dialect dialect_;
  Feed<arch::Flit> feed_;
  std::deque<Answer> answers_;
  arch::Flit held_{};
  bool holding_ = false, fresh_ = false;
  arch::Flit write_{};  // the last write request
};

}  // namespace ktpu::cosim
