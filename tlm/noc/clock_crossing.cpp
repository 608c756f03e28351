// SPDX-License-Identifier: Apache-2.0
#include "tlm/noc/clock_crossing.h"

#include <algorithm>
#include <utility>

#include "tlm/sim/engine.h"

namespace ktpu::noc {

CrossingSide::CrossingSide(std::string name, sim::FlitLink& in, sim::FlitLink& out, FlitFifo& to_peer,
                           FlitFifo& from_peer)
    : Unit(std::move(name)), in_(in), out_(out), to_peer_(to_peer), from_peer_(from_peer) {
  in_.bind_receiver(*this);
  out_.bind_sender(*this);
}

void CrossingSide::set_peer(CrossingSide& peer, bool visits_fifos) {
  peer_ = &peer;
  visits_fifos_ = visits_fifos;
}

void CrossingSide::reset(sim::Cycle) {
  to_peer_.reset();
  from_peer_.reset();
  offered_ = blocked_ = false;
}

void CrossingSide::drive(sim::Cycle now) {
  in_.set_busy(to_peer_.full(now));
  if (!offered_ && from_peer_.readable(now)) {
    offered_ = true;
    out_.offer(from_peer_.head());
  } else if (!offered_ && out_.valid()) {
    out_.withdraw();
  }
}

sim::Cycle CrossingSide::clock(sim::Cycle now) {
  sim::Cycle next = sim::kNever;
  if (offered_) {
    next = now + 1;
    if (out_.sample_sent()) {
      offered_ = false;
      const sim::Cycle free = from_peer_.pop(now);
      if (std::exchange(peer_->blocked_, false)) peer_->engine()->wake_at(*peer_, free);
    }
  } else {
    next = std::max(from_peer_.readable_from(), now + 1);
  }
  blocked_ = false;
  if (in_.transfers()) peer_->engine()->wake_at(*peer_, to_peer_.push(now, in_.data()));
  if (to_peer_.full(now + 1)) {  // what is offered meanwhile is refused, and stays
    if (!in_.busy()) {
      next = now + 1;  // to raise busy
    } else if (to_peer_.free_from() != sim::kNever) {
      next = std::min(next, to_peer_.free_from());
    } else {
      blocked_ = true;
    }
  } else if (in_.busy() || in_.valid()) {
    next = now + 1;  // to lower busy, or to take what comes next
  }
  return next;
}

void CrossingSide::visit(sim::Archive& archive) {
  archive.state("offered", offered_, 1);
  archive.kept("blocked", blocked_);
  if (!visits_fifos_) return;
  // Counted in cycles of their write sides.
  to_peer_.visit(archive, "in_fifo", engine()->now());
  from_peer_.visit(archive, "out_fifo", peer_->engine()->now());
}

std::vector<sim::Wait> CrossingSide::waits(sim::Cycle) const {
  if (!offered_ || !out_.busy()) return {};
  return {{fmt::format("{} flit{} on the way from {} {} refused", from_peer_.size(),
                       from_peer_.size() == 1 ? "" : "s",
                       peer_->in_.sender() == nullptr ? "nobody" : peer_->in_.sender()->name(),
                       from_peer_.size() == 1 ? "is" : "are"),
           out_.receiver()}};
}

ClockCrossing make_crossing(const std::string& name, sim::FlitPort unit, sim::FlitPort fabric,
                            std::uint32_t depth, const sim::ClockRatio& to_unit) {
  ClockCrossing c;
  c.out = std::make_unique<FlitFifo>(depth, to_unit.inverse());
  c.in = std::make_unique<FlitFifo>(depth, to_unit);
  c.fabric_side = std::make_unique<CrossingSide>(name, *fabric.in, *fabric.out, *c.in, *c.out);
  c.unit_side = std::make_unique<CrossingSide>(name + ".unit", *unit.out, *unit.in, *c.out, *c.in);
  c.fabric_side->set_peer(*c.unit_side, true);
  c.unit_side->set_peer(*c.fabric_side, false);
  return c;
}

}  // namespace ktpu::noc
