// SPDX-License-Identifier: Apache-2.0
#include "tlm/noc/staging_adapter.h"

namespace ktpu::noc {

StagingAdapter::StagingAdapter(std::string name, sim::FlitLink& from_unit, sim::FlitLink& to_router)
    : Unit(std::move(name)), from_unit_(from_unit), to_router_(to_router) {
  from_unit_.bind_receiver(*this);
  to_router_.bind_sender(*this);
}

void StagingAdapter::reset(sim::Cycle) {
  valid_ = false;
  changed_ = true;
}

void StagingAdapter::drive(sim::Cycle) {
  if (!changed_) return;
  changed_ = false;
  if (valid_) {
    to_router_.offer(flit_);
  } else {
    to_router_.withdraw();
  }
}

bool StagingAdapter::settle(sim::Cycle) { return from_unit_.set_busy(valid_ && to_router_.busy()); }

sim::Cycle StagingAdapter::clock(sim::Cycle now) {
  if (valid_) {
    if (!to_router_.sample_sent()) return now + 1;
    valid_ = false;
    changed_ = true;
  }
  if (from_unit_.valid()) {
    flit_ = from_unit_.data();
    valid_ = true;
    changed_ = true;
  }
  return changed_ ? now + 1 : sim::kNever;
}

void StagingAdapter::visit(sim::Archive& a) {
  a.state("valid", valid_, 1);
  a.flit("flit", flit_);
  a.kept("changed", changed_);
}

}  // namespace ktpu::noc
