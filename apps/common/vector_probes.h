// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tlm/sim/unit.h"
#include "tlm/vector/vector_core.h"

namespace ktpu::apps {

// Lets `probe` hear what happens in the vector core `unit`, whatever stands there: the model, RTL, or both
// (the model speaks). False: `unit` is no vector core.
bool attach_probe(sim::Unit& unit, vector::VectorProbe& probe);

}  // namespace ktpu::apps
