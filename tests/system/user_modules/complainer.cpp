// SPDX-License-Identifier: Apache-2.0
#include "tests/system/user_modules/complainer.h"

Complainer::Complainer(const sc_core::sc_module_name& name, const ktpu::plugin::Endpoint&)
    : EndpointPins(name) {
  SC_HAS_PROCESS(Complainer);
  SC_METHOD(edge);
  sensitive << clk_i.pos();
  dont_initialize();
}

void Complainer::edge() {
  idle_o.write(true);
  if (rst_ni.read() && in_valid_i.read()) SC_REPORT_ERROR("complainer", "this is not for me");
}
