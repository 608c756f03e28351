// SPDX-License-Identifier: Apache-2.0
// One entry of `units` or `nodes`. Internal to topologies/.
#pragma once

#include <string>
#include <vector>

#include "topologies/document.h"
#include "topologies/keys.h"

namespace ktpu::topo {

struct Unit {
  std::string symbol;
  Params params;
  UnitCommon common;
  Mark mark;         // of the symbol's definition
  std::string path;  // "meshes.0.units.mat"
  const Doc* doc = nullptr;
  Mark port_mark, adapter_mark, clock_mark, crossing_mark,
      hotspot_mark;  // where these keys stand, for checks that need the whole mesh

  bool crossing_given = false;  // the key stands there

  Kind kind() const { return static_cast<Kind>(params.index()); }
};

Unit read_unit(const DocEntry& entry, const std::string& path, Quirks default_quirks);

// Reads the keys of a `nodes` entry over what the unit says. All but `kind` may be given.
void read_node_keys(const Doc& doc, const std::string& path, Unit& unit);

}  // namespace ktpu::topo
