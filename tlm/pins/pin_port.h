// SPDX-License-Identifier: Apache-2.0
// The pins of one link pair, and the signals between them and the links. Names and cycles are those of the
// RTL's ports (fabric.md section 5; rtl_models/router/README.md).
#pragma once

#include <memory>
#include <string>
#include <systemc>

#include "arch/flit.h"
#include "tlm/sim/link.h"

namespace ktpu::pins {

// A flit as on the wires: bit 0 is bit 0 of the payload, the header is on top (fabric.md section 2).
using FlitBits = sc_dt::sc_bv<arch::kFlitBits>;

FlitBits to_bits(const arch::Flit& flit);
arch::Flit to_flit(const FlitBits& bits);

// One link pair's signals.
class PinPort {
 public:
  explicit PinPort(const std::string& name);

  sc_core::sc_signal<FlitBits> in_data, out_data;
  sc_core::sc_signal<bool> in_valid, in_busy, out_valid, out_busy;

  // Elaboration. A null link is an empty slot: nothing comes in, what is sent there is lost.
  void bind(sim::Unit& unit, sim::FlitPort links);
  // Outputs of the module to the links.
  void drive();
  // The links' other ends to the inputs of the module. Answers how many flits it took minus how many left it.
  int clock();
  bool offered() const { return links_.in != nullptr && links_.in->valid(); }
  const sim::FlitPort& links() const { return links_; }
  std::uint64_t& lost() { return lost_; }  // flits sent into an empty slot

 private:
  sim::FlitPort links_;
  std::uint64_t lost_ = 0;
};

}  // namespace ktpu::pins
