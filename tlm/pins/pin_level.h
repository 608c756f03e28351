// SPDX-License-Identifier: Apache-2.0
// Units whose registers are in a SystemC module with pins, and change in its processes. A cycle of the
// machine is one period of SystemC's time: at its beginning the unit shows the module's outputs on the links,
// then it writes the links' other ends to the module's inputs; the rising edge of clk_i is in its middle, so
// that inputs have settled before it and outputs before the next cycle begins, however many delta cycles that
// takes.
#pragma once

#include <string>
#include <string_view>
#include <systemc>

#include "tlm/sim/cycle.h"

namespace ktpu::pins {

// Periods with rst_ni low before the machine's cycle 0: the shortest reset there is (fabric.md section 14).
inline constexpr unsigned kResetCycles = 16;

// A part of a unit of that sort: what the simulation has to know it by.
class PinLevel {
 public:
  virtual ~PinLevel() = default;
  // Before SystemC's time starts: the length of a cycle. Cycle 0 begins after kResetCycles of them.
  virtual void set_period(const sc_core::sc_time& period) = 0;
};

// SystemC wants no dots, commas or @ in a name.
std::string module_name(std::string_view unit);

// Clock and reset of one module, in step with the machine.
class PinClock final : public sc_core::sc_module {
 public:
  explicit PinClock(const sc_core::sc_module_name& name);

  sc_core::sc_signal<bool> clk_i{"clk_i"}, rst_ni{"rst_ni"};

  void set_period(const sc_core::sc_time& period) { period_ = period; }
  // To be called when the unit reads outputs: throws UserError naming `unit` unless the edges of all cycles
  // below `now` have been, because nothing but SystemC's kernel makes them.
  void require_edges(const std::string& unit, sim::Cycle now) const;

 private:
  void edge();

  sc_core::sc_time period_ = sc_core::SC_ZERO_TIME;
  sim::Cycle halves_ = 0;  // half periods begun
};

}  // namespace ktpu::pins
