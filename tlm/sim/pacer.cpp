// SPDX-License-Identifier: Apache-2.0
#include "tlm/sim/pacer.h"

#include "tlm/sim/random.h"

namespace ktpu::sim {

Pacer::Pacer(std::string name, const PacerParams& params, FlitLink& in, FlitLink& out)
    : Unit(std::move(name)),
      in_(in),
      out_(out),
      seed_(params.seed),
      threshold_(chance_threshold(params.stall)) {
  in_.bind_receiver(*this);
  out_.bind_sender(*this);
}

void Pacer::reset(Cycle start) {
  start_ = start;
  holding_ = false;
  fresh_ = true;
}

void Pacer::drive(Cycle) {}

bool Pacer::stalls(Cycle now) const {
  return !holding_ && (threshold_ == ~0ull || Random::nth(seed_, now - start_) < threshold_);
}

bool Pacer::settle(Cycle now) {
  const bool show = in_.valid() && !stalls(now);
  bool changed = show != out_.valid();
  if (show && (changed || fresh_ || !(out_.data() == in_.data()))) {
    out_.offer(in_.data());
    fresh_ = false;
    changed = true;
  } else if (!show && changed) {
    out_.withdraw();
  }
  return in_.set_busy(in_.valid() && (!show || out_.busy())) || changed;
}

Cycle Pacer::clock(Cycle now) {
  holding_ = out_.valid() && !out_.sample_sent();
  fresh_ = !holding_;
  if (!in_.valid()) return kNever;
  stalled_cycles_ += !out_.valid();
  return now + 1;
}

void Pacer::visit(Archive& archive) {
  archive.state("holding", holding_, 1);
  archive.state("fresh", fresh_, 1);
  archive.counter("stalled_cycles", stalled_cycles_, "cycles", "Cycles in which the pacer held a flit back");
}

}  // namespace ktpu::sim
