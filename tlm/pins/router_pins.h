// SPDX-License-Identifier: Apache-2.0
// A router as a SystemC module of its own: derive from RouterPins, and RouterOfPins puts it into the socket
// of noc::Router. What it has to do in which cycle is in rtl_models/router/README.md; all outputs are
// registers or functions of registers.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <systemc>

#include "tlm/noc/router.h"
#include "tlm/pins/pin_level.h"
#include "tlm/pins/pin_port.h"
#include "tlm/sim/unit.h"

namespace ktpu::pins {

// Index of a port: 0 north, 1 east, 2 south, 3 west, 4 local.
class RouterPins : public sc_core::sc_module {
 public:
  explicit RouterPins(const sc_core::sc_module_name& name) : sc_module(name) {}

  sc_core::sc_in<bool> clk_i{"clk_i"};    // rising edge
  sc_core::sc_in<bool> rst_ni{"rst_ni"};  // low: reset; the first cycle with it high is cycle 0

  sc_core::sc_vector<sc_core::sc_in<FlitBits>> in_data_i{"in_data_i", noc::kPorts};
  sc_core::sc_vector<sc_core::sc_in<bool>> in_valid_i{"in_valid_i", noc::kPorts};
  sc_core::sc_vector<sc_core::sc_out<bool>> in_busy_o{"in_busy_o", noc::kPorts};
  sc_core::sc_vector<sc_core::sc_out<FlitBits>> out_data_o{"out_data_o", noc::kPorts};
  sc_core::sc_vector<sc_core::sc_out<bool>> out_valid_o{"out_valid_o", noc::kPorts};
  sc_core::sc_vector<sc_core::sc_in<bool>> out_busy_i{"out_busy_i", noc::kPorts};
};

class RouterOfPins final : public sim::Unit, public PinLevel {
 public:
  RouterOfPins(std::string name, std::unique_ptr<RouterPins> module, const noc::RouterPorts& ports);
  ~RouterOfPins() override;

  void set_period(const sc_core::sc_time& period) override { clock_.set_period(period); }
  void reset(sim::Cycle start) override;  // throws UserError for a reset in the middle of a run
  void drive(sim::Cycle now) override;
  sim::Cycle clock(sim::Cycle now) override;
  bool free_running() const override { return true; }
  bool resting() const override;  // every flit that came in has left
  void visit(sim::Archive& archive) override;
  std::vector<sim::Wait> waits(sim::Cycle now) const override;

 private:
  PinClock clock_;
  std::array<std::unique_ptr<PinPort>, noc::kPorts> ports_;
  std::int64_t inside_ = 0;
  std::unique_ptr<RouterPins> module_;
};

}  // namespace ktpu::pins
