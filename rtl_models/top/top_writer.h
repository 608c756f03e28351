// SPDX-License-Identifier: Apache-2.0
// A machine as a SystemVerilog module: every unit of the topology that has RTL, with its parameters, wired as
// the simulator wires its models.
#pragma once

#include <set>
#include <string>

#include "topologies/description.h"

namespace ktpu::rtl {

struct Top {
  std::string module;            // "<name>_top", also the file's name without ".sv"
  std::string text;              // the file; equal for equal machines
  std::set<std::string> blocks;  // folders of rtl_models whose modules it instantiates
  std::string summary;           // "4 routers, 8 clusters, ...", for people
};

// The name of `machine` as a SystemVerilog identifier.
std::string identifier(const std::string& name);

// Throws UserError for what has no RTL (has_rtl.h).
//
// Ports of the top: clk_i, rst_ni (low, asserted asynchronously); for each mesh the register bus of the
// control agent, that of the command engine if `host` is one, the host's memory window, the DRAM bus, and the
// mesh links of traffic nodes, which stand outside. With several meshes all begin with m<id>_.
Top write_top(const topo::Machine& machine);

}  // namespace ktpu::rtl
