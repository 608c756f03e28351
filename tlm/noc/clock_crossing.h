// SPDX-License-Identifier: Apache-2.0
// The clock crossing on a local link (fabric.md section 13): one asynchronous FIFO a direction, between a
// unit and the fabric. Each side is a unit of its own clock: it writes the flits of its `in` link into one
// FIFO (busy = full) and offers those of the other on its `out` link (valid = not empty).
#pragma once

#include <memory>
#include <string>

#include "arch/flit.h"
#include "tlm/sim/async_fifo.h"
#include "tlm/sim/link.h"
#include "tlm/sim/unit.h"

namespace ktpu::noc {

using FlitFifo = sim::AsyncFifo<arch::Flit>;

class CrossingSide final : public sim::Unit {
 public:
  CrossingSide(std::string name, sim::FlitLink& in, sim::FlitLink& out, FlitFifo& to_peer,
               FlitFifo& from_peer);
  // Elaboration. The side that visits both FIFOs.
  void set_peer(CrossingSide& peer, bool visits_fifos);

  void reset(sim::Cycle start) override;
  void drive(sim::Cycle now) override;
  sim::Cycle clock(sim::Cycle now) override;
  void visit(sim::Archive& archive) override;
  std::vector<sim::Wait> waits(sim::Cycle now) const override;

 private:
  sim::FlitLink& in_;
  sim::FlitLink& out_;
  FlitFifo& to_peer_;
  FlitFifo& from_peer_;
  CrossingSide* peer_ = nullptr;
  bool visits_fifos_ = false;
  bool offered_ = false;  // out_ shows the head of from_peer_
  bool blocked_ = false;  // asleep with in_ refused and no pop known: the peer's next one wakes
};

// Both sides and what is between them; the sides are run by the engines of their clocks.
struct ClockCrossing {
  std::unique_ptr<FlitFifo> out;  // unit to fabric
  std::unique_ptr<FlitFifo> in;   // fabric to unit
  std::unique_ptr<CrossingSide> fabric_side;
  std::unique_ptr<CrossingSide> unit_side;
};

// `unit`: the links as the unit sees them; `fabric`: as the router side sees them (`in` goes towards the
// unit). `to_unit`: from cycles of the fabric clock to those of the unit's.
ClockCrossing make_crossing(const std::string& name, sim::FlitPort unit, sim::FlitPort fabric,
                            std::uint32_t depth, const sim::ClockRatio& to_unit);

}  // namespace ktpu::noc
