// SPDX-License-Identifier: Apache-2.0
// A machine as the compiler sees it: what each level may know of it (compiler.md section 2).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arch/flit.h"
#include "compiler/bytes/executable.h"
#include "compiler/schedule/schedule.h"
#include "topologies/description.h"

namespace ktpu::driver {

struct Machine {
  std::string name;
  schedule::Resources resources;
  bytes::Machine bytes;
};

// Units in the order in which instances are dealt to them.
struct UnitList {
  std::vector<arch::Coord> clusters, vector_cores;
  std::optional<arch::Coord> agent;
};
Machine make_machine(std::string name, const UnitList& units, const schedule::Resources& resources,
                     const bytes::Limits& limits);

// One mesh of a described machine: its clusters and vector cores row by row, the smallest of their
// capacities, an arena behind the first MiB of its DRAM. Throws UserError for a machine without an agent or
// memory.
Machine machine_of(const topo::Machine& machine, unsigned mesh = 0);

}  // namespace ktpu::driver
