// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "topologies/description.h"

namespace ktpu::check {

// A machine with units where a compiled kernel's `machine` says (vectors/compiler/README.md): reference_6c4v
// if that has them all, else one like it made for the file. Throws UserError when no grid has such places.
topo::Machine live_machine(const nlohmann::json& file);

}  // namespace ktpu::check
