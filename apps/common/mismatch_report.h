// SPDX-License-Identifier: Apache-2.0
// What a tool tells of a lock-step mismatch in a machine, after the line that names it.
#pragma once

#include <string>

#include "tlm/platform/system.h"
#include "tlm/sim/lockstep.h"

namespace ktpu::apps {

// The node's last transfers in words and its last cycles, as text, and the waves of both sides in `waves` (a
// VCD file; empty: none). A part of a node that keeps no wires (control agent) has neither. A file that
// cannot be written is said in the text: the mismatch is what matters.
std::string mismatch_report(platform::System& system, const sim::Mismatch& mismatch,
                            const std::string& waves);

}  // namespace ktpu::apps
