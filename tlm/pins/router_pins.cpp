// SPDX-License-Identifier: Apache-2.0
#include "tlm/pins/router_pins.h"

#include <algorithm>

#include "tlm/pins/pin_unit.h"

namespace ktpu::pins {

RouterOfPins::RouterOfPins(std::string name, std::unique_ptr<RouterPins> module,
                           const noc::RouterPorts& ports)
    : Unit(std::move(name)),
      clock_((module_name(this->name()) + "_clock").c_str()),
      module_(std::move(module)) {
  module_->clk_i(clock_.clk_i);
  module_->rst_ni(clock_.rst_ni);
  for (unsigned p = 0; p < noc::kPorts; ++p) {
    ports_[p] =
        std::make_unique<PinPort>(fmt::format("{}_{}", module_name(this->name()), noc::kPortNames[p]));
    PinPort& port = *ports_[p];
    port.bind(*this, ports[p]);
    module_->in_data_i[p](port.in_data);
    module_->in_valid_i[p](port.in_valid);
    module_->in_busy_o[p](port.in_busy);
    module_->out_data_o[p](port.out_data);
    module_->out_valid_o[p](port.out_valid);
    module_->out_busy_i[p](port.out_busy);
  }
}

RouterOfPins::~RouterOfPins() = default;

void RouterOfPins::reset(sim::Cycle start) { require_first_reset(name(), start); }

void RouterOfPins::drive(sim::Cycle now) {
  clock_.require_edges(name(), now);
  for (const auto& port : ports_) port->drive();
}

sim::Cycle RouterOfPins::clock(sim::Cycle now) {
  for (const auto& port : ports_) inside_ += port->clock();
  return now + 1;
}

bool RouterOfPins::resting() const {
  return inside_ == 0 &&
         std::none_of(ports_.begin(), ports_.end(), [](const auto& port) { return port->offered(); });
}

void RouterOfPins::visit(sim::Archive& archive) {
  archive.unreachable("state inside the SystemC module");
  for (const auto& port : ports_)
    if (port->links().out == nullptr)
      archive.counter(port->out_data.basename(), port->lost(), "flits",
                      "Flits sent into an empty slot, where the machine loses them");
}

std::vector<sim::Wait> RouterOfPins::waits(sim::Cycle) const {
  std::vector<sim::Wait> waits;
  for (const auto& port : ports_) add_wait(*port, waits);
  return waits;
}

}  // namespace ktpu::pins
