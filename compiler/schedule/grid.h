// SPDX-License-Identifier: Apache-2.0
// The instances that share a product among them: that each element is computed exactly once, whose result an
// instance of the next step reads, and which cluster has which tile (compiler.md sections 5, 7 and 8.6).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ktpu::schedule {

struct Grid {
  std::uint64_t m = 1, n = 1, sk = 1;  // instances along rows, columns and the sum
  std::uint64_t size() const { return m * n * sk; }
  bool operator==(const Grid&) const = default;
};
// Elements of an instance; both at least 1.
struct TileShape {
  std::uint64_t m = 1, n = 1;
  bool operator==(const TileShape&) const = default;
};

// What is wrong with a grid; of several the first in this order. Overshoot is an instance that has no rows
// (columns) at all: less than that is padding.
enum class Coverage : std::uint8_t {
  kOnce,
  kRowsUncovered,
  kColumnsUncovered,
  kRowsOvershoot,
  kColumnsOvershoot,
};
// Of a result of `rows` by `columns`. `sk` does not count: who splits a sum has to add the parts up.
Coverage covers(const Grid& grid, const TileShape& tile, std::uint64_t rows, std::uint64_t columns);
std::string print(Coverage coverage);  // in words; empty for kOnce
// Throws Refusal (GRID_COVERAGE) that names the rule.
void require_covers(const Grid& grid, const TileShape& tile, std::uint64_t rows, std::uint64_t columns);

struct Occupancy {
  std::uint64_t busy = 0, units = 0;
};
Occupancy occupancy(const Grid& grid, std::uint64_t units);

// How many instances of a consumer share one instance of its producer, along rows and columns. None: some
// instance of the consumer would read of two. Equal numbers of elements are not enough.
struct Correspondence {
  std::uint64_t sm = 1, sn = 1;
  bool operator==(const Correspondence&) const = default;
};
std::optional<Correspondence> correspondence(const Grid& producer, const TileShape& produced,
                                             const Grid& consumer, const TileShape& consumed);

// The grid of an epilogue: the producer's, its rows halved while there are vector cores for it, a part stays
// whole groups of 4 rows and fills a vector.
struct EpilogueGrid {
  Grid grid;
  TileShape tile;
};
EpilogueGrid epilogue_grid(const Grid& producer, const TileShape& tile, std::uint64_t vector_cores);

// Tiles in the order rows first, cut into runs as equal as can be; the first clusters have one more. A
// cluster keeps to few columns, whose operand it then need not fetch again. Throws UserError without
// clusters.
struct OwnedTile {
  std::uint64_t row = 0, column = 0;
  bool operator==(const OwnedTile&) const = default;
};
std::vector<std::vector<OwnedTile>> owned_tiles(std::uint64_t rows, std::uint64_t columns,
                                                std::uint64_t clusters);

}  // namespace ktpu::schedule
