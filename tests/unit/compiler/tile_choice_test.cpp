// SPDX-License-Identifier: Apache-2.0
// compiler.md sections 6 and 26 (`tiling.plan`).
#include "compiler/base/tile_choice.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/base/refusal.h"
#include "compiler/base/vector_l1.h"

namespace ktpu::base {
namespace {

constexpr TileLimits kCard{512, 128, 256, 2};

struct Example {
  ProductShape shape;
  std::uint32_t gm, gn, nk;
  TileKey key;
};

TEST(CompilerSec6, TheWorkedExamples) {
  const Example examples[] = {
      {{4, 4, 32}, 1, 1, 1, {4096, 1, 0}},           {{32, 1024, 256}, 8, 64, 2, {58254, 2, -56}},
      {{256, 256, 256}, 16, 32, 4, {87381, 4, -16}}, {{300, 300, 300}, 32, 16, 2, {60000, 2, -16}},
      {{33, 65, 97}, 16, 32, 3, {11559, 3, -16}},    {{5, 9, 7}, 2, 4, 1, {840, 1, -2}}};
  for (const Example& e : examples) {
    const TileCandidate tile = choose_tile(e.shape, kCard);
    EXPECT_EQ(tile.gm, e.gm) << e.shape.m;
    EXPECT_EQ(tile.gn, e.gn) << e.shape.m;
    EXPECT_EQ(tile.nk, e.nk) << e.shape.m;
    EXPECT_EQ(tile.key, e.key) << e.shape.m;
  }
}

TEST(CompilerSec6, TheChosenTileFitsAndNothingBeatsIt) {
  for (const TileLimits limits : {kCard, TileLimits{256, 32, 32, 2}, TileLimits{4096, 512, 512, 1}})
    for (const ProductShape shape : {ProductShape{96, 40, 640}, ProductShape{1, 4096, 4096}}) {
      const TileCandidate best = choose_tile(shape, limits);
      EXPECT_LE(std::uint64_t{best.gm} * best.gn, limits.tiles);
      EXPECT_LE(best.gm * best.nk * limits.banks, limits.l1_a);
      EXPECT_LE(best.gn * best.nk * limits.banks, limits.l1_b);
      for (const TileCandidate& other : tile_candidates(shape, limits))
        if (other.fits()) {
          EXPECT_LE(other.key, best.key);
        }
    }
}

TEST(CompilerSec6, NothingFits) {
  try {
    choose_tile({256, 256, 256}, {1, 1, 1, 2});
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.code(), "NO_TILE");
  }
  EXPECT_THROW(choose_tile({0, 4, 4}, kCard), arch::UserError);
  EXPECT_THROW(choose_tile({4, 4, 4}, {1, 1, 1, 0}), arch::UserError);
}

TEST(CompilerSec6, EveryCandidateIsExplained) {
  const std::string text = explain_tile({300, 300, 300}, kCard);
  EXPECT_NE(text.find("gm=32 gn=16 nk=2 intensity 21.33 useful 68.66% key (60000, 2, -16): chosen\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("gm=1 gn=256 intensity 1.992: one block of K of operand B does not fit a bank of L1\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(": score "), std::string::npos);
  EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')),
            1 + tile_candidates({300, 300, 300}, kCard).size());
  // 16 x 32 before 32 x 16 when they are worth the same.
  EXPECT_NE(explain_tile({512, 512, 32}, {512, 512, 512, 2})
                .find("gm=32 gn=16 nk=1 intensity 21.33 useful "
                      "100.00% key (87381, 1, -16): equal key, "
                      "tried later\n"),
            std::string::npos);
  EXPECT_NE(explain_tile({4, 4, 4}, {1, 1, 1, 2}).find("none fits"), std::string::npos);
}

TEST(CompilerSec26, ATileThatKeepsItsEpilogueFused) {
  EXPECT_EQ(fused_tile(64, 64, 4), (EpilogueTile{8, 8}));
  EXPECT_EQ(fused_tile(64, 64, 2), (EpilogueTile{16, 16}));
  EXPECT_EQ(fused_tile(100, 100, 8), (EpilogueTile{25, 5}));
  EXPECT_EQ(fused_tile(300, 300, 8), std::nullopt);
  EXPECT_EQ(fused_tile(64, 64, 0), std::nullopt);
  // 8 x 8 would do, but was not asked for.
  EXPECT_EQ(fused_tile(64, 64, 1, {4, 4}), (EpilogueTile{16, 16}));
  for (std::uint64_t m = 4; m < 400; m += 36)
    for (std::uint32_t cores = 1; cores < 10; ++cores)
      if (const auto tile = fused_tile(m, 128, cores)) {
        const std::uint64_t rows = (m + 3) / 4, wide = 32;
        EXPECT_LE((rows + tile->gm - 1) / tile->gm * ((wide + tile->gn - 1) / tile->gn), cores);
        EXPECT_TRUE(fits_vector_l1(2 * ((tile->gm * tile->gn + 7) / 8 * 8)));
      }
}

}  // namespace
}  // namespace ktpu::base
