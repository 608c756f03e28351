// SPDX-License-Identifier: Apache-2.0
// Makers for the plugin of a SystemC module (tlm/plugin/plugin.h). `Module` is constructed from its name and
// its parameters.
#pragma once

#include <memory>
#include <string>

#include "tlm/pins/endpoint_pins.h"
#include "tlm/pins/router_pins.h"
#include "tlm/plugin/plugin.h"

namespace ktpu::pins {

template <class Module>
std::unique_ptr<sim::Unit> make_router(std::string name, const noc::RouterParams& params,
                                       const noc::RouterPorts& ports) {
  auto module = std::make_unique<Module>(module_name(name).c_str(), params);
  return std::make_unique<RouterOfPins>(std::move(name), std::move(module), ports);
}

template <class Module>
std::unique_ptr<sim::Unit> make_endpoint(std::string name, const plugin::Endpoint& place,
                                         sim::FlitPort port) {
  auto module = std::make_unique<Module>(module_name(name).c_str(), place);
  return std::make_unique<EndpointOfPins>(std::move(name), std::move(module), port);
}

}  // namespace ktpu::pins
