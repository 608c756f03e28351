// SPDX-License-Identifier: Apache-2.0
// A node that sends every flit back to where it came from, one at a time.
#pragma once

#include "tlm/pins/endpoint_pins.h"
#include "tlm/plugin/plugin.h"

namespace echo {

class EchoNode : public ktpu::pins::EndpointPins {
 public:
  EchoNode(const sc_core::sc_module_name& name, const ktpu::plugin::Endpoint& place);

 private:
  void edge();

  ktpu::arch::Coord at_;
  bool full_ = false;
};

}  // namespace echo
