// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/grid.h"

#include <algorithm>
#include <iterator>

#include "compiler/base/refusal.h"

namespace ktpu::schedule {
namespace {

constexpr std::uint64_t kGroupRows = 4, kLongestVector = 128;

}  // namespace

Coverage covers(const Grid& grid, const TileShape& tile, std::uint64_t rows, std::uint64_t columns) {
  if (grid.m * tile.m < rows) return Coverage::kRowsUncovered;
  if (grid.n * tile.n < columns) return Coverage::kColumnsUncovered;
  if ((grid.m - 1) * tile.m >= rows) return Coverage::kRowsOvershoot;
  if ((grid.n - 1) * tile.n >= columns) return Coverage::kColumnsOvershoot;
  return Coverage::kOnce;
}

std::string print(Coverage coverage) {
  switch (coverage) {
    case Coverage::kOnce:
      break;
    case Coverage::kRowsUncovered:
      return "some rows of the result belong to no instance";
    case Coverage::kColumnsUncovered:
      return "some columns of the result belong to no instance";
    case Coverage::kRowsOvershoot:
      return "the last instances have no rows of the result";
    case Coverage::kColumnsOvershoot:
      return "the last instances have no columns of the result";
  }
  return {};
}

void require_covers(const Grid& grid, const TileShape& tile, std::uint64_t rows, std::uint64_t columns) {
  const Coverage coverage = covers(grid, tile, rows, columns);
  if (coverage == Coverage::kOnce) return;
  throw base::Refusal(base::Phase::kStages, "GRID_COVERAGE",
                      fmt::format("a grid of {} x {} tiles of {} x {} for a result of {} x {}: {}", grid.m,
                                  grid.n, tile.m, tile.n, rows, columns, print(coverage)),
                      "take as many tiles as cover the result");
}

Occupancy occupancy(const Grid& grid, std::uint64_t units) { return {std::min(grid.size(), units), units}; }

std::optional<Correspondence> correspondence(const Grid& producer, const TileShape& produced,
                                             const Grid& consumer, const TileShape& consumed) {
  if (consumer.sk != 1 || producer.m == 0 || producer.n == 0) return std::nullopt;
  if (consumer.m % producer.m != 0 || consumer.n % producer.n != 0) return std::nullopt;
  const Correspondence parts{consumer.m / producer.m, consumer.n / producer.n};
  if (consumed.m * parts.sm != produced.m || consumed.n * parts.sn != produced.n) return std::nullopt;
  return parts;
}

EpilogueGrid epilogue_grid(const Grid& producer, const TileShape& tile, std::uint64_t vector_cores) {
  const std::uint64_t cores = std::max<std::uint64_t>(1, vector_cores);
  std::uint64_t parts = 1;
  while (producer.size() * parts * 2 <= cores) {
    const std::uint64_t rows = tile.m / (2 * parts);
    if (tile.m % (2 * parts) != 0 || rows % kGroupRows != 0 || rows * tile.n < kLongestVector) break;
    parts *= 2;
  }
  return {{producer.m * parts, producer.n, 1}, {tile.m / parts, tile.n}};
}

std::vector<std::vector<OwnedTile>> owned_tiles(std::uint64_t rows, std::uint64_t columns,
                                                std::uint64_t clusters) {
  if (clusters == 0) throw arch::UserError("no clusters to deal tiles to");
  std::vector<OwnedTile> tiles;
  for (std::uint64_t column = 0; column < columns; ++column)
    for (std::uint64_t row = 0; row < rows; ++row) tiles.push_back({row, column});
  const std::uint64_t least = tiles.size() / clusters, one_more = tiles.size() % clusters;
  std::vector<std::vector<OwnedTile>> owned;
  auto next = tiles.begin();
  for (std::uint64_t c = 0; c < clusters; ++c) {
    const auto end = std::next(next, static_cast<std::ptrdiff_t>(least + (c < one_more ? 1 : 0)));
    owned.emplace_back(next, end);
    next = end;
  }
  return owned;
}

}  // namespace ktpu::schedule
