// SPDX-License-Identifier: Apache-2.0
// The endpoint staging adapter with its window off (fabric.md section 12): one flit register on the way from
// the endpoint to the router, wires in the other direction (the router's link goes straight to the endpoint).
#pragma once

#include "tlm/sim/link.h"
#include "tlm/sim/unit.h"

namespace ktpu::noc {

class StagingAdapter final : public sim::Unit {
 public:
  // `from_unit`: the endpoint's output; `to_router`: the router's input.
  StagingAdapter(std::string name, sim::FlitLink& from_unit, sim::FlitLink& to_router);

  void reset(sim::Cycle start) override;
  void drive(sim::Cycle now) override;
  sim::Cycle clock(sim::Cycle now) override;
  // The endpoint sees busy iff the register is occupied and its flit does not leave in this cycle: the
  // router's busy reaches it combinationally.
  bool is_mealy() const override { return true; }
  bool settle(sim::Cycle now) override;
  std::vector<const sim::LinkBase*> settle_reads() const override { return {&to_router_}; }
  std::vector<const sim::LinkBase*> settle_writes() const override { return {&from_unit_}; }
  void visit(sim::Archive& archive) override;

 private:
  sim::FlitLink& from_unit_;
  sim::FlitLink& to_router_;
  arch::Flit flit_{};
  bool valid_ = false;
  bool changed_ = false;  // the output wires do not show the register yet
};

}  // namespace ktpu::noc
