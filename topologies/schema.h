// SPDX-License-Identifier: Apache-2.0
// The JSON Schema of the topology file, for completion in editors.
#pragma once

#include <string>

namespace ktpu::topo {

// What topologies/topology.schema.json holds (a test keeps them equal). Made from the same key table as the
// reader.
std::string schema_json();

}  // namespace ktpu::topo
