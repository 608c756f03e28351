// SPDX-License-Identifier: Apache-2.0
#include "tlm/pins/pin_unit.h"

#include "arch/error.h"

namespace ktpu::pins {

void require_first_reset(const std::string& unit, sim::Cycle start) {
  if (start != 0)
    throw arch::UserError::make("{}: a SystemC module cannot be reset in the middle of a run (cycle {})",
                                unit, start);
}

void add_wait(const PinPort& port, std::vector<sim::Wait>& waits) {
  const sim::FlitLink* out = port.links().out;
  if (out == nullptr || !out->valid() || !out->busy()) return;
  waits.push_back(
      {.what = fmt::format("a flit for ({},{}) to be taken", out->data().dst_x(), out->data().dst_y()),
       .part = "output",
       .kind = "output",
       .over = out});
}

}  // namespace ktpu::pins
