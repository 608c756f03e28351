// SPDX-License-Identifier: Apache-2.0
#include "tests/system/user_modules/echo_node.h"

namespace echo {

EchoNode::EchoNode(const sc_core::sc_module_name& name, const ktpu::plugin::Endpoint& place)
    : EndpointPins(name), at_(place.at) {
  SC_HAS_PROCESS(EchoNode);
  SC_METHOD(edge);
  sensitive << clk_i.pos() << rst_ni.neg();
}

void EchoNode::edge() {
  const bool was_full = full_;
  if (!rst_ni.read() || (was_full && !out_busy_i.read())) full_ = false;
  if (rst_ni.read() && in_valid_i.read() && !was_full) {
    ktpu::arch::Flit flit = ktpu::pins::to_flit(in_data_i.read());
    const ktpu::arch::Coord to{static_cast<std::uint8_t>(flit.src_x()),
                               static_cast<std::uint8_t>(flit.src_y())};
    flit.set_dst(to);
    flit.set_src(at_);
    out_data_o.write(ktpu::pins::to_bits(flit));
    full_ = true;
  }
  out_valid_o.write(full_);
  in_busy_o.write(full_);
  idle_o.write(!full_);
}

}  // namespace echo
