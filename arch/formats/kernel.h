// SPDX-License-Identifier: Apache-2.0
// The accumulator commands on whole sub-tiles, chosen at run time: a scalar reference and, where the
// processor has it, an AVX2 form with the same bits (number-formats.md sections 6 to 9;
// cluster.md section 7).
#pragma once

#include <string_view>

#include "arch/formats/operand.h"
#include "arch/formats/simd.h"
#include "arch/formats/subtile.h"

namespace ktpu::arch {

// Function pointers bound to one MW. "chain" = the 16 normalised dot products of one K block; a is the A
// entry (rows), b the B entry (columns), anchor 0..255. Nothing here allocates or throws.
struct AccumulateKernel {
  using ChainFn = void (*)(const OperandEntry& a, const OperandEntry& b, unsigned anchor, SubTile& tile);

  std::string_view name;  // "scalar" or "avx2"
  unsigned mw;
  ChainFn chain;       // tile = chain, exponent-0 results kept as they are (what FWD forwards)
  ChainFn load_chain;  // LOAD: tile = 0 + chain
  ChainFn add_chain;   // ADD: tile = tile + chain
  void (*add)(SubTile& tile, const SubTile& x);  // ADD_PEER
  Word256 (*emit)(const SubTile& tile);          // EMIT (and the output of ADD_EMIT, from the new value)
};

// The kernel for `mw` (9..24, checked) under the current choice. A holder keeps the one it took.
const AccumulateKernel& accumulate_kernel(unsigned mw);

// Both forms by name, for tests and benches. The AVX2 one is null where it can't run and for MW above 19,
// whose sums do not fit its 32-bit lanes; accumulate_kernel() then gives the scalar one.
const AccumulateKernel& scalar_kernel(unsigned mw);
const AccumulateKernel* avx2_kernel(unsigned mw);

}  // namespace ktpu::arch
