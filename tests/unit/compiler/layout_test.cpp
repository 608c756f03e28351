// SPDX-License-Identifier: Apache-2.0
// compiler.md section 9.
#include "compiler/schedule/layout.h"

#include <gtest/gtest.h>

#include "compiler/schedule/entry_walk.h"
#include "tests/unit/compiler/helpers.h"

namespace ktpu::schedule {
namespace {

using Extents = std::vector<std::uint32_t>;

// Every element carries its own number, little-endian.
std::vector<std::uint8_t> counted(std::size_t values) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < values; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(i));
    bytes.push_back(static_cast<std::uint8_t>(i >> 8));
  }
  return bytes;
}
unsigned at(const std::vector<std::uint8_t>& image, std::size_t i) {
  return image[2 * i] | unsigned{image[2 * i + 1]} << 8;
}

TEST(CompilerSec9, Keys) {
  EXPECT_EQ(Layout::flat().key(), "flat");
  EXPECT_EQ(Layout::rows(7).key(), "rows:7");
  EXPECT_EQ(Layout::from_key("rows:7").row_columns(), 7u);
  EXPECT_EQ(Layout::flat().row_columns(), 0u);
  EXPECT_EQ(Layout::entry(8, 2).key(), "entry:8x2");
  EXPECT_EQ(Layout::tile(2, 3, 8, 4).key(), "tile:2x3:8x4");
  EXPECT_EQ(Layout::channel_bias(4).key(), "bias:4");
  EXPECT_EQ(Layout::conv_entry(16).key(), "conv:1:16");
  EXPECT_EQ(Layout::batched(Layout::entry(8, 2), 3).key(), "batch3:entry:8x2");
  EXPECT_EQ(Layout::entry(8, 2), Layout::entry(8, 2));
  EXPECT_NE(Layout::entry(8, 2), Layout::entry(2, 8));
}

// The worked example: 8 rows, K = 64, entries g0b0, g1b0, g0b1, g1b1 of four lanes with 32 elements each.
TEST(CompilerSec9, EntriesOfTheWorkedExample) {
  const auto image = Layout::entry(2, 1).pack(counted(8 * 64), Extents{8, 64});
  ASSERT_EQ(image.size(), 1024u);
  EXPECT_EQ(at(image, 0), 0u);
  EXPECT_EQ(at(image, 31), 31u);
  EXPECT_EQ(at(image, 32), 64u);                // lane 1
  EXPECT_EQ(at(image, 128), 4u * 64);           // group 1, block 0
  EXPECT_EQ(at(image, 256), 32u);               // group 0, block 1
  EXPECT_EQ(at(image, 384 + 5), 4 * 64 + 37u);  // group 1, block 1
}

TEST(CompilerSec9, EveryLayoutHoldsEveryValue) {
  const std::pair<Layout, Extents> all[] = {{Layout::flat(), {5, 7}},
                                            {Layout::rows(7), {5, 7}},
                                            {Layout::rows(14), {4, 7}},
                                            {Layout::entry(3, 2), {13, 70}},
                                            {Layout::tile(2, 1, 2, 3), {13, 11}},
                                            {Layout::channel_bias(2), {13}},
                                            {Layout::conv_entry(4), {3, 5, 64}},
                                            {Layout::batched(Layout::entry(1, 1), 6), {2, 3, 5, 40}}};
  for (const auto& [layout, shape] : all) {
    EXPECT_EQ(layout.verify(shape), "") << layout.key();
    std::size_t values = 1;
    for (const std::uint32_t n : shape) values *= n;
    const auto image = layout.pack(counted(values), shape);
    EXPECT_EQ(image.size(), layout.nbytes(shape)) << layout.key();
    EXPECT_EQ(layout.unpack(image, shape), counted(values)) << layout.key();
  }
  EXPECT_EQ(Layout::entry(8, 2).print(Extents{30, 50}), "entry:8x2 [30, 50]: 1500 values in 4096 bytes");
}

TEST(CompilerSec9, AShortImageUnpacksWithZeros) {
  const Layout tile = Layout::tile(1, 1, 1, 2);
  auto image = tile.pack(counted(4 * 8), Extents{4, 8});
  image.resize(32);  // the first of two sub-tiles
  const auto values = tile.unpack(image, Extents{4, 8});
  EXPECT_EQ(at(values, 8 + 3), 8u + 3);
  EXPECT_EQ(at(values, 8 + 4), 0u);
}

// Section 16: the widest order of a buffer decides how far its blocks stand apart.
TEST(CompilerSec16, BatchBlocksTakeTheWidestStride) {
  const Extents shape{2, 4, 8};
  EXPECT_EQ(Layout::batched(Layout::flat(), 2).nbytes(shape), 2u * 2048);
  const Layout wide = Layout::batched(Layout::flat(), 2, 2049);
  EXPECT_EQ(wide.nbytes(shape), 2u * 4096);
  const auto image = wide.pack(counted(64), shape);
  EXPECT_EQ(at(image, 2048), 32u);
  EXPECT_EQ(wide.unpack(image, shape), counted(64));
}

TEST(CompilerSec25, RefusesShapesWithoutMeaning) {
  EXPECT_NE(refusal([] { Layout::conv_entry(4).nbytes(Extents{4, 4, 16}); }), "");
  EXPECT_NE(refusal([] { Layout::tile(1, 1, 1, 1).nbytes(Extents{5, 4}); }), "");
  EXPECT_NE(refusal([] { Layout::entry(0, 1).nbytes(Extents{5, 4}); }), "");
}

TEST(CompilerSec9, EntryWalkFollowsTheFlatImage) {
  const EntryShape shapes[] = {{8, 64, 2, 2}, {16, 64, 2, 1}, {32, 64, 8, 2}, {64, 64, 8, 2}, {4, 32, 1, 1}};
  for (const EntryShape& s : shapes) {
    const auto walk = entry_walk(s);
    ASSERT_TRUE(walk.has_value());
    // Word w of the flat image goes where the walk's step w says: the place that the packed order gives it.
    const auto image = Layout::entry(static_cast<unsigned>(s.groups), static_cast<unsigned>(s.blocks))
                           .pack(counted(s.rows * s.k), Extents{static_cast<std::uint32_t>(s.rows),
                                                                static_cast<std::uint32_t>(s.k)});
    for (std::uint64_t word = 0; word < s.rows * s.k / 16; ++word) {
      std::uint64_t rest = word, place = 0;
      for (const WalkDim& dim : *walk) {
        place += rest % dim.bound * dim.stride;
        rest /= dim.bound;
      }
      ASSERT_EQ(at(image, place * 16), word * 16) << print(*walk);
    }
  }
}

TEST(CompilerSec9, EntryWalkMergesAndStops) {
  EXPECT_EQ(print(*entry_walk({16, 64, 2, 1})), "2 x 1, 2 x 16, 8 x 2, 2 x 32");
  EXPECT_FALSE(entry_walk({16, 128, 2, 2}).has_value());  // five dimensions
  EXPECT_FALSE(entry_walk({128, 64, 8, 2}).has_value());  // 512 words
  EXPECT_FALSE(entry_walk({7, 64, 1, 1}).has_value());    // no whole groups
  EXPECT_EQ(verify({{1, 257}}), "257 words, a walk has at most 256");
  EXPECT_NE(refusal([] { entry_walk({8, 64, 0, 1}); }), "");
}

}  // namespace
}  // namespace ktpu::schedule
