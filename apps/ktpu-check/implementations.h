// SPDX-License-Identifier: Apache-2.0
// --impl: what stands in the nodes of every machine that rows are replayed on, and for a block that a row
// runs alone. Keeps the books of what each row ran on.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tlm/platform/registry.h"
#include "topologies/description.h"

namespace ktpu::check {

// Once, before the first row. Each as in topo::apply_impl(); machines without such a node stay as they are.
void set_implementations(std::vector<std::string> specs);
// Whether any of them asks for something else than models.
bool twins_wanted();
// Of a machine about to be built. Throws UserError for a spec that no machine could mean.
void apply_implementations(topo::Machine& machine);
// Of a block alone: `node`, in a machine without any other. `part`: what of the node is run, for the books.
topo::Impl implementation_of(const topo::Node& node, const std::string& part);
// The first spec that no machine so far had a node for; empty: none.
std::string unused_implementation();

// Models and, where built in, RTL.
const platform::Registry& all_units();

// What one row ran on.
struct RowUnits {
  std::map<std::string, topo::Impl> units;  // by kind; of several of a kind, one that is no model
  std::string why_none;                     // why there are no units, or only models
  std::uint64_t compared = 0;               // values, in lock-step
  bool has_twin() const;
  std::string text() const;  // "rtl: cluster, router; model: agent"
};
// The row runs nothing that could be anything but what it is, because of `why`.
void note_no_twin(std::string why);
void note_compared(std::uint64_t values);
// Of the pairs in lock-step on a clock, after a run. Throws UserError if one of them compared nothing.
void note_compared(const sim::Engine& engine);
// The books since the last call.
RowUnits take_row_units();

}  // namespace ktpu::check
