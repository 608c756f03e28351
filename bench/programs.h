// SPDX-License-Identifier: Apache-2.0
// The programs the bench runs, made for whatever clusters a machine has.
#pragma once

#include <cstdint>

#include "arch/program/program.h"
#include "topologies/description.h"

namespace ktpu::bench {

// C[m,n] = A[m,k] B[n,k]^T, one instance of 4*gm x 4*gn results at a time on the clusters in turn, K in
// chunks of 32*nk that alternate between the L1 banks: the shape of the programs in vectors/programs.
struct Matmul {
  std::uint32_t m = 0, n = 0, k = 0;
  std::uint32_t gm = 0, gn = 0, nk = 0;  // gm*nk and gn*nk at most 256 entries
  bool fused = false;                    // results leave while the last sweep runs
  std::uint32_t times = 1;               // the whole matmul so many times
};
arch::Program matmul(const topo::Machine& machine, const Matmul& shape);

// Every cluster fills its L1 once (gm*nk and gn*nk entries of bank 0), then `rounds` rounds of `sweeps` GEMMs
// over these operands, the first of a round loading and the others accumulating, and a DRAIN of all tiles.
struct Resident {
  std::uint32_t gm = 16, gn = 32, nk = 8;
  std::uint32_t sweeps = 120;  // with the fills and the drain they fit the staging RAM
  std::uint32_t rounds = 1;
};
arch::Program resident(const topo::Machine& machine, const Resident& shape);

}  // namespace ktpu::bench
