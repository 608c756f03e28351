// SPDX-License-Identifier: Apache-2.0
// What of a machine exists as SystemVerilog.
#pragma once

#include "topologies/description.h"

namespace ktpu::rtl {

// Throws UserError ("file:line:column: node: ...") at the first thing of `machine` that has no RTL, or that
// the RTL is not built for. Implementations chosen by `impl` do not matter: a top is all RTL.
void check_has_rtl(const topo::Machine& machine);

}  // namespace ktpu::rtl
