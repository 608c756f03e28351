// SPDX-License-Identifier: Apache-2.0
// A node that reports an error when a flit comes in.
#pragma once

#include "tlm/pins/endpoint_pins.h"
#include "tlm/plugin/plugin.h"

class Complainer : public ktpu::pins::EndpointPins {
 public:
  Complainer(const sc_core::sc_module_name& name, const ktpu::plugin::Endpoint& place);

 private:
  void edge();
};
