// SPDX-License-Identifier: Apache-2.0
#include "tlm/pins/endpoint_pins.h"

#include "arch/error.h"
#include "tlm/pins/pin_unit.h"

namespace ktpu::pins {

EndpointOfPins::EndpointOfPins(std::string name, std::unique_ptr<EndpointPins> module, sim::FlitPort links)
    : Unit(std::move(name)),
      clock_((module_name(this->name()) + "_clock").c_str()),
      port_(module_name(this->name()) + "_mesh"),
      idle_((module_name(this->name()) + "_idle").c_str()),
      module_(std::move(module)) {
  KTPU_CHECK(links.in != nullptr && links.out != nullptr, "unit {} has no link", this->name());
  port_.bind(*this, links);
  module_->clk_i(clock_.clk_i);
  module_->rst_ni(clock_.rst_ni);
  module_->in_data_i(port_.in_data);
  module_->in_valid_i(port_.in_valid);
  module_->in_busy_o(port_.in_busy);
  module_->out_data_o(port_.out_data);
  module_->out_valid_o(port_.out_valid);
  module_->out_busy_i(port_.out_busy);
  module_->idle_o(idle_);
}

EndpointOfPins::~EndpointOfPins() = default;

void EndpointOfPins::reset(sim::Cycle start) { require_first_reset(name(), start); }

void EndpointOfPins::drive(sim::Cycle now) {
  clock_.require_edges(name(), now);
  port_.drive();
}

sim::Cycle EndpointOfPins::clock(sim::Cycle now) {
  port_.clock();
  return now + 1;
}

bool EndpointOfPins::resting() const {
  return idle_.read() && !port_.offered() && !port_.links().out->valid();
}

void EndpointOfPins::visit(sim::Archive& archive) { archive.unreachable("state inside the SystemC module"); }

std::vector<sim::Wait> EndpointOfPins::waits(sim::Cycle) const {
  std::vector<sim::Wait> waits;
  add_wait(port_, waits);
  return waits;
}

}  // namespace ktpu::pins
