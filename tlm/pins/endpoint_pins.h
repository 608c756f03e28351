// SPDX-License-Identifier: Apache-2.0
// A node with one link pair (a cluster, a vector core, a source of traffic) as a SystemC module of its own:
// derive from EndpointPins, and EndpointOfPins puts it into the node's socket. All outputs are registers or
// functions of registers: a path from in_valid_i to in_busy_o (the acknowledge bypass of fabric.md
// section 8.1) cannot be made with these pins.
#pragma once

#include <memory>
#include <string>
#include <systemc>

#include "tlm/pins/pin_level.h"
#include "tlm/pins/pin_port.h"
#include "tlm/sim/unit.h"

namespace ktpu::pins {

class EndpointPins : public sc_core::sc_module {
 public:
  explicit EndpointPins(const sc_core::sc_module_name& name) : sc_module(name) {}

  sc_core::sc_in<bool> clk_i{"clk_i"};    // rising edge
  sc_core::sc_in<bool> rst_ni{"rst_ni"};  // low: reset

  sc_core::sc_in<FlitBits> in_data_i{"in_data_i"};
  sc_core::sc_in<bool> in_valid_i{"in_valid_i"};
  sc_core::sc_out<bool> in_busy_o{"in_busy_o"};
  sc_core::sc_out<FlitBits> out_data_o{"out_data_o"};
  sc_core::sc_out<bool> out_valid_o{"out_valid_o"};
  sc_core::sc_in<bool> out_busy_i{"out_busy_i"};
  // Nothing will change until a flit comes in: a run may end.
  sc_core::sc_out<bool> idle_o{"idle_o"};
};

class EndpointOfPins final : public sim::Unit, public PinLevel {
 public:
  EndpointOfPins(std::string name, std::unique_ptr<EndpointPins> module, sim::FlitPort links);
  ~EndpointOfPins() override;

  void set_period(const sc_core::sc_time& period) override { clock_.set_period(period); }
  void reset(sim::Cycle start) override;  // throws UserError for a reset in the middle of a run
  void drive(sim::Cycle now) override;
  sim::Cycle clock(sim::Cycle now) override;
  bool free_running() const override { return true; }
  bool resting() const override;
  void visit(sim::Archive& archive) override;
  std::vector<sim::Wait> waits(sim::Cycle now) const override;

 private:
  PinClock clock_;
  PinPort port_;
  sc_core::sc_signal<bool> idle_;
  std::unique_ptr<EndpointPins> module_;
};

}  // namespace ktpu::pins
