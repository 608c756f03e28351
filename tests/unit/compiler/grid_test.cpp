// SPDX-License-Identifier: Apache-2.0
// compiler.md sections 5, 7 and 8.6.
#include "compiler/schedule/grid.h"

#include <gtest/gtest.h>

#include <set>

#include "compiler/base/refusal.h"
#include "tests/unit/compiler/helpers.h"

namespace ktpu::schedule {
namespace {

TEST(CompilerSec7, TheFirstRuleThatAGridBreaks) {
  EXPECT_EQ(covers({4, 2, 1}, {64, 128}, 256, 256), Coverage::kOnce);
  EXPECT_EQ(covers({4, 2, 1}, {64, 128}, 193, 129), Coverage::kOnce);  // the last tiles are padded
  EXPECT_EQ(covers({4, 2, 1}, {64, 128}, 192, 256), Coverage::kRowsOvershoot);
  EXPECT_EQ(covers({4, 2, 1}, {64, 128}, 256, 128), Coverage::kColumnsOvershoot);
  EXPECT_EQ(covers({5, 1, 1}, {64, 128}, 256, 256), Coverage::kColumnsUncovered);  // before the overshoot
  EXPECT_EQ(covers({3, 1, 1}, {64, 128}, 256, 256), Coverage::kRowsUncovered);
  EXPECT_EQ(covers({2, 2, 4}, {64, 64}, 128, 128), Coverage::kOnce);
  EXPECT_EQ(refusal([] { require_covers({4, 2, 1}, {64, 128}, 256, 256); }), "");
  const std::string message = refusal([] { require_covers({5, 2, 1}, {64, 128}, 256, 256); });
  EXPECT_NE(message.find("have no rows"), std::string::npos) << message;
}

TEST(CompilerSec7, UnitsThatWork) {
  EXPECT_EQ(occupancy({2, 2, 1}, 8).busy, 4u);
  EXPECT_EQ(occupancy({1, 1, 16}, 8).busy, 8u);
}

TEST(CompilerSec5, AConsumerReadsOfOneProducer) {
  EXPECT_EQ(correspondence({4, 2}, {64, 128}, {8, 2}, {32, 128}), (Correspondence{2, 1}));
  EXPECT_EQ(correspondence({4, 2}, {64, 128}, {8, 2}, {64, 128}), std::nullopt);
  EXPECT_EQ(correspondence({4, 2}, {64, 128}, {2, 4}, {128, 64}), std::nullopt);  // equal in elements only
  EXPECT_EQ(correspondence({4, 2}, {64, 128}, {4, 3}, {64, 128}), std::nullopt);
  EXPECT_EQ(correspondence({4, 2}, {64, 128}, {4, 2, 2}, {64, 128}), std::nullopt);
}

TEST(CompilerSec8, AnEpilogueGridAlwaysCorresponds) {
  for (std::uint64_t rows = 1; rows < 5; ++rows)
    for (std::uint64_t height = 4; height <= 128; height += 4)
      for (const std::uint64_t width : {8u, 64u, 128u})
        for (const std::uint64_t cores : {0u, 1u, 4u, 16u}) {
          const Grid grid{rows, 2, 1};
          const TileShape tile{height, width};
          const EpilogueGrid made = epilogue_grid(grid, tile, cores);
          EXPECT_TRUE(correspondence(grid, tile, made.grid, made.tile).has_value());
          EXPECT_EQ(made.tile.m % 4, 0u);
          EXPECT_TRUE(made.grid.size() <= cores || made.grid == grid);
          EXPECT_TRUE(made.tile.m * made.tile.n >= 128 || made.grid == grid);
        }
  EXPECT_EQ(epilogue_grid({1, 1}, {64, 128}, 8).grid, (Grid{8, 1, 1}));
}

TEST(CompilerSec7, EveryTileHasOneOwner) {
  for (std::uint64_t clusters = 1; clusters < 12; ++clusters) {
    const auto owned = owned_tiles(5, 3, clusters);
    ASSERT_EQ(owned.size(), clusters);
    std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
    for (const auto& tiles : owned) {
      EXPECT_LE(tiles.size(), owned.front().size());
      EXPECT_GE(tiles.size() + 1, owned.front().size());
      for (const OwnedTile& tile : tiles) EXPECT_TRUE(seen.insert({tile.row, tile.column}).second);
    }
    EXPECT_EQ(seen.size(), 15u);
  }
  EXPECT_EQ(owned_tiles(2, 3, 4)[1], (std::vector<OwnedTile>{{0, 1}, {1, 1}}));
  EXPECT_NE(refusal([] { owned_tiles(1, 1, 0); }), "");
}

}  // namespace
}  // namespace ktpu::schedule
