// SPDX-License-Identifier: Apache-2.0
// A mesh router as a SystemC module with pins, written from its contract (rtl_models/router/README.md).
#pragma once

#include <array>
#include <deque>
#include <optional>

#include "tlm/pins/router_pins.h"

class PinsRouter : public ktpu::pins::RouterPins {
 public:
  PinsRouter(const sc_core::sc_module_name& name, const ktpu::noc::RouterParams& params);

 private:
  static constexpr unsigned kPorts = 5;  // north, east, south, west, local
  using Flit = ktpu::pins::FlitBits;

  struct Word {
    Flit flit;
    std::uint64_t written;  // cycle
  };
  struct Input {
    std::deque<Word> fifo;
    std::optional<Flit> held;  // waits for its output
    unsigned target = 0;       // of `held`
    bool busy = true;
  };

  void edge();
  void clear();
  unsigned target_of(const Flit& flit) const;
  bool may_turn(unsigned from, unsigned to) const;

  const ktpu::noc::RouterParams params_;
  std::array<Input, kPorts> inputs_;
  std::array<bool, kPorts> shown_{};  // out_valid_o
  std::uint64_t cycle_ = 0;
};
