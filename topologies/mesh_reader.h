// SPDX-License-Identifier: Apache-2.0
// One entry of `meshes`. Internal to topologies/.
#pragma once

#include <vector>

#include "topologies/document.h"

namespace ktpu::topo {

// `index`: place in the list, which is the default id. Checks everything that lies within one mesh.
Mesh read_mesh(const Doc& doc, unsigned index, const std::vector<Clock>& clocks, Quirks default_quirks);

}  // namespace ktpu::topo
