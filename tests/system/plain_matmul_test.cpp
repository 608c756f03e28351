// SPDX-License-Identifier: Apache-2.0
// The plain model itself, against the worked examples of number-formats.md and compiler.md section 9.
#include "tests/support/plain_matmul.h"

#include <gtest/gtest.h>

namespace ktpu::test::plain {
namespace {

Block block_of(std::vector<std::uint16_t> values) {
  values.resize(32);
  return quantise(values.data());
}

TEST(PlainMatmul, NumberFormats4_6) {
  const struct {
    std::vector<std::uint16_t> values;
    unsigned scale;
    std::vector<int> q;
  } rows[] = {{{0x3C00}, 0x71, {57, 0, 0, 0}},
              {{0x3C00, 0xBC00, 0x3800, 0x3555}, 0x71, {57, -57, 28, 19}},
              {{0x3C6E, 0x3C00}, 0x71, {63, 57, 0, 0}},
              {{0x3C6F, 0x3C00}, 0x72, {57, 51, 0, 0}},
              {{0x3FE0}, 0x78, {63, 0, 0, 0}},
              {{0x3FE1, 0x2C00}, 0x79, {56, 2, 0, 0}},
              {{0x7BFF, 0x0001}, 0xF1, {57, 0, 0, 0}},
              {{0x7C00, 0x3C00}, 0xF1, {57, 0, 0, 0}},
              {{0x0200, 0x0100}, 0x01, {28, 14, 0, 0}},
              {{0x0001, 0x8003}, 0x05, {0, 0, 0, 0}},
              {{}, 0xA0, {0, 0, 0, 0}}};
  for (const auto& row : rows) {
    const Block block = block_of(row.values);
    EXPECT_EQ(block.scale, row.scale);
    EXPECT_EQ(std::vector<int>(block.q, block.q + 4), row.q.empty() ? std::vector<int>(4) : row.q);
  }
}

TEST(PlainMatmul, NumberFormats7) {
  EXPECT_EQ(normalise(1, 0xA0, 0xA0, 40, 14), 0x0FC000u);
  EXPECT_EQ(normalise(131072, 0xA0, 0xA0, 40, 14), 0x140000u);
  EXPECT_EQ(normalise(3969, 0x76, 0x76, 40, 14), 0x101EF6u);
  EXPECT_EQ(normalise(49151, 0xA1, 0xA7, 40, 14), 0x13E53Fu);
  EXPECT_EQ(normalise(-129024, 0xFF, 0x00, 40, 14), 0x31F620u);
  EXPECT_EQ(normalise(127008, 0xFF, 0xFF, 40, 14), 0x19ED03u);
}

TEST(PlainMatmul, NumberFormats8) {
  const std::uint32_t rows[][3] = {
      {0x0FC000, 0x0FC000, 0x100000}, {0x0FC000, 0x2FC000, 0x000000}, {0x0FC000, 0x2FBFFF, 0x0C0000},
      {0x0FC000, 0x0C0000, 0x0FC000}, {0x0FC001, 0x0C0000, 0x0FC002}, {0x1FFFFF, 0x1FFFFF, 0x1FFFFF},
      {0x004001, 0x204000, 0x000000}, {0x0FC000, 0x200001, 0x0FC000}, {0x1F8000, 0x1F8000, 0x1FFFFF}};
  for (const auto& row : rows)
    EXPECT_EQ(add(row[0], row[1], 14), row[2]) << std::hex << row[0] << " " << row[1];
}

TEST(PlainMatmul, NumberFormats9) {
  const std::pair<std::uint32_t, std::uint16_t> rows[] = {
      {0x0FC000, 0x3C00}, {0x0FC008, 0x3C00}, {0x0FC018, 0x3C02}, {0x0FFFF8, 0x4000}, {0x137FF7, 0x77FF},
      {0x137FFF, 0x7800}, {0x13C000, 0x7BFF}, {0x0C3FF8, 0x0400}, {0x0C0000, 0x0000}, {0x2C0000, 0x8000}};
  for (const auto& [acc, half] : rows) EXPECT_EQ(emit(acc, 14), half) << std::hex << acc;
}

TEST(PlainMatmul, Compiler9Layouts) {
  Halves matrix(8 * 64);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = static_cast<std::uint16_t>(i);
  const auto bytes = to_entries(matrix, 8, 64, 2, 1);
  const auto at = [&](std::size_t element) { return bytes[2 * element] | bytes[2 * element + 1] << 8; };
  EXPECT_EQ(at(0), 0);
  EXPECT_EQ(at(32), 64);                             // lane 1 of entry(g0,b0)
  EXPECT_EQ(at(128), 4 * 64);                        // entry(g1,b0)
  EXPECT_EQ(at(256), 32);                            // entry(g0,b1)
  EXPECT_EQ(at(384), 4 * 64 + 32);                   // entry(g1,b1)
  const auto tiles = from_tiles(bytes, 1, 2, 2, 8);  // 8 rows, 64 columns
  EXPECT_EQ(tiles[1], at(1));
  EXPECT_EQ(tiles[64], at(4));           // row 1 of the first sub-tile
  EXPECT_EQ(tiles[4], at(16));           // the next sub-tile
  EXPECT_EQ(tiles[4 * 64], at(8 * 16));  // gm = 1
  EXPECT_EQ(tiles[32], at(2 * 8 * 16));  // instance (0,1)
}

TEST(PlainMatmul, GeneratorIsTheLcg) {
  const Halves values = lcg(4, 0, 10);
  // x = 1013904223, 1196435762, 3519870697, 2868466484: x >> 20 = 966, 1141, 3356, 2735.
  EXPECT_EQ(values, (Halves{0xBC3A, 0xBB16, 0x3D1C, 0x395E}));
}

}  // namespace
}  // namespace ktpu::test::plain
