// SPDX-License-Identifier: Apache-2.0
#include "tlm/pins/pin_level.h"

#include "arch/error.h"

namespace ktpu::pins {

std::string module_name(std::string_view unit) {
  std::string name(unit);
  for (char& c : name)
    if (c == '.' || c == '@' || c == ',') c = '_';
  return name;
}

PinClock::PinClock(const sc_core::sc_module_name& name) : sc_module(name) {
  SC_HAS_PROCESS(PinClock);
  SC_METHOD(edge);
}

// First at time 0, then at the middle and the end of every period; a period may have an odd number of the
// smallest steps.
void PinClock::edge() {
  if (period_ == sc_core::SC_ZERO_TIME) return;  // nobody runs this machine in SystemC's time
  const sc_core::sc_time half = sc_core::sc_time::from_value(period_.value() / 2);
  const bool rising = halves_ % 2 == 1;
  clk_i.write(rising);
  rst_ni.write(halves_ >= 2 * sim::Cycle{kResetCycles});
  ++halves_;
  next_trigger(rising ? period_ - half : half);
}

void PinClock::require_edges(const std::string& unit, sim::Cycle now) const {
  // Begun at least: the second half of the period before cycle `now`.
  if (halves_ >= 2 * (now + kResetCycles)) return;
  throw arch::UserError::make(
      "{}: cycle {}: a SystemC module's pins change only under SystemC's kernel, which ktpu-sim runs and "
      "this "
      "program does not",
      unit, now);
}

}  // namespace ktpu::pins
