// SPDX-License-Identifier: Apache-2.0
// Register buses in lock-step: where two beats differ, and a beat as text for the report (lockstep_shadow.h).
#pragma once

#include <optional>
#include <string>

#include "tlm/orchestrator/register_bus.h"
#include "tlm/sim/lockstep_shadow.h"

namespace ktpu::orchestrator {

std::optional<sim::FieldDifference> first_difference(const BusBeat& expected, const BusBeat& got);
// Read, write, strobe, both offsets and the data: 138 bits, the same order in both forms.
std::string wire_text(const BusBeat& beat);  // hexadecimal, fields apart
std::string wire_bits(const BusBeat& beat);  // binary, for waves
std::string wire_words(const BusBeat& beat, const sim::DialectAt& = {});

}  // namespace ktpu::orchestrator
