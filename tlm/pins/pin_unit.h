// SPDX-License-Identifier: Apache-2.0
// What all units made of a SystemC module have alike. Internal to tlm/pins.
#pragma once

#include <string>
#include <vector>

#include "tlm/pins/pin_port.h"
#include "tlm/sim/unit.h"

namespace ktpu::pins {

// Reset is over when SystemC's time reaches cycle 0: throws UserError for another one.
void require_first_reset(const std::string& unit, sim::Cycle start);

// A flit offered and not taken.
void add_wait(const PinPort& port, std::vector<sim::Wait>& waits);

}  // namespace ktpu::pins
