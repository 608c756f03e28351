// SPDX-License-Identifier: Apache-2.0
// --impl: what stands in the nodes of every machine that rows are replayed on.
#pragma once

#include <string>
#include <vector>

#include "tlm/platform/registry.h"
#include "topologies/description.h"

namespace ktpu::check {

// Once, before the first row. Each as in topo::apply_impl(); machines without such a node stay as they are.
void set_implementations(std::vector<std::string> specs);
// Of a machine about to be built. Throws UserError for a spec that no machine could mean.
void apply_implementations(topo::Machine& machine);
// The first spec that no machine so far had a node for; empty: none.
std::string unused_implementation();

// Models and, where built in, RTL.
const platform::Registry& all_units();

}  // namespace ktpu::check
