// SPDX-License-Identifier: Apache-2.0
// Tiles for a product, from sizes and capacities alone: whoever gives a kernel its tile asks here. The one of
// compiler.md section 6 for a whole product, and the one of section 26 (`tiling.plan`) for a product whose
// epilogue is to stay fused.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ktpu::base {

// C[m][n] = A[m][k] B[k][n]: the whole problem, never one cluster's part; 1 to 2^17 elements each.
struct ProductShape {
  std::uint64_t m = 1, n = 1, k = 1;
};
// What a cluster holds: sub-tiles of its accumulator, L1 entries of a side over all its banks.
struct TileLimits {
  std::uint32_t tiles = 512, l1_a = 128, l1_b = 256, banks = 2;
};

// Candidates are compared by it, the larger wins.
struct TileKey {
  std::int64_t score = 0;  // 4096ths of operations for each value fetched, less what padding wastes
  std::uint32_t nk = 0;
  std::int64_t squareness = 0;  // 0 for gm = gn, else negative
  auto operator<=>(const TileKey&) const = default;
};
struct TileCandidate {
  std::uint32_t gm = 1, gn = 1;  // groups of 4 rows, of 4 columns
  std::uint32_t nk = 0;          // blocks of 32 along K; 0: does not fit
  double intensity = 0;          // 2 gm gn / (gm + gn)
  double useful = 0;             // share of the padded problem that is asked for
  TileKey key;

  bool fits() const { return nk != 0; }
  std::uint64_t bm() const { return std::uint64_t{4} * gm; }
  std::uint64_t bn() const { return std::uint64_t{4} * gn; }
  std::uint64_t bk() const { return std::uint64_t{32} * nk; }
  ProductShape padded(const ProductShape& shape) const;  // to whole tiles
};

// All of them in the order in which they are tried. Throws UserError for an empty problem or no banks.
std::vector<TileCandidate> tile_candidates(const ProductShape& shape, const TileLimits& limits);
// Of equal keys the first. Throws Refusal (NO_TILE) when none fits.
TileCandidate choose_tile(const ProductShape& shape, const TileLimits& limits);
// Every candidate with intensity, useful share and key, and why it loses.
std::string explain_tile(const ProductShape& shape, const TileLimits& limits);

// Groups of rows and columns with which a product of `m` by `n` keeps its epilogue on at most `cores` vector
// cores, one instance each: `preferred` where it does, else the tile with the fewest instances, and of those
// the one with the highest intensity. None: no tile does, the epilogue will be staged.
struct EpilogueTile {
  std::uint32_t gm = 8, gn = 8;
  bool operator==(const EpilogueTile&) const = default;
};
std::optional<EpilogueTile> fused_tile(std::uint64_t m, std::uint64_t n, std::uint32_t cores,
                                       EpilogueTile preferred = {});

}  // namespace ktpu::base
