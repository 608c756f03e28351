// SPDX-License-Identifier: Apache-2.0
// A cluster's drain to memory, turned into one that adds its tiles into an accumulator of a neighbouring
// mesh (compiler.md section 21).
#pragma once

#include "arch/encoding/cluster_inst.h"
#include "arch/flit.h"

namespace ktpu::program {

struct FarTarget {
  arch::Coord agent;    // of the own mesh: takes the tiles to the link, and the acknowledge
  unsigned mesh = 0;    // that the link leads to
  arch::Coord cluster;  // in that mesh
};

// Throws UserError when `drain` is no DRAIN, when the mesh does not exist, or when the cluster is (0,0),
// which a drain reads as "not remote".
arch::ClusterInst remote_drain(const arch::ClusterInst& drain, const FarTarget& target);

}  // namespace ktpu::program
