// SPDX-License-Identifier: Apache-2.0
// The resident tiles of a cluster and their arithmetic, by one of the two roundings (cluster.md section 7,
// compiler.md section 23.1).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "arch/formats/kernel.h"
#include "arch/formats/subtile.h"
#include "compiler/interpret/machine.h"
#include "compiler/interpret/wires.h"

namespace ktpu::interpret {

class Accumulator {
 public:
  Accumulator(unsigned tiles, unsigned mw, Rounding rounding);

  unsigned tiles() const { return tiles_; }
  // All K blocks of one tile: entries a[0..nk) and b[0..nk); `add`: onto what the tile holds.
  void sweep(unsigned tile, const arch::OperandEntry* const* a, const arch::OperandEntry* const* b,
             unsigned nk, unsigned anchor, bool add);
  bool loaded(unsigned tile) const { return loaded_[tile % tiles_]; }
  // EMIT: FP16, row-major; values beyond the bound are counted.
  Word256 emit(unsigned tile, std::uint64_t& saturated) const;
  // SEND and ADD_PEER; only with the hardware's rounding, as the model has no such values.
  arch::PeerGranules send(unsigned tile) const;
  void add_peer(unsigned tile, const arch::SubTile& x);

 private:
  using Reals = std::array<double, arch::kSubTileLanes>;
  void sweep_reals(Reals& tile, const arch::OperandEntry* const* a, const arch::OperandEntry* const* b,
                   unsigned nk, bool add) const;

  unsigned tiles_, mw_;
  Rounding rounding_;
  const arch::AccumulateKernel& kernel_;
  std::vector<arch::SubTile> bits_;
  std::vector<Reals> reals_;
  std::vector<bool> loaded_;
};

}  // namespace ktpu::interpret
