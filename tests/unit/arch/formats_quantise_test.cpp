// SPDX-License-Identifier: Apache-2.0
// number-formats.md section 4: the block quantiser.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <random>
#include <vector>

#include "arch/formats/quantise.h"
#include "arch/formats/simd.h"

namespace ktpu::arch {
namespace {

QuantisedBlock quantise(std::vector<std::uint16_t> values) {
  values.resize(kBlockK, 0);
  return quantise_block(std::span<const std::uint16_t, kBlockK>(values));
}

struct Example {
  std::vector<std::uint16_t> block;
  std::uint8_t scale;
  std::vector<int> q;
};

TEST(NumberFormats4_6, WorkedQuantiserExamples) {
  const Example examples[] = {
      {{0x3C00}, 0x71, {57, 0, 0, 0}},          {{0x3C00, 0xBC00, 0x3800, 0x3555}, 0x71, {57, -57, 28, 19}},
      {{0x3C6E, 0x3C00}, 0x71, {63, 57, 0, 0}}, {{0x3C6F, 0x3C00}, 0x72, {57, 51, 0, 0}},
      {{0x3FE0}, 0x78, {63, 0, 0, 0}},          {{0x3FE1, 0x2C00}, 0x79, {56, 2, 0, 0}},
      {{0x7BFF, 0x0001}, 0xF1, {57, 0, 0, 0}},  {{0x7C00, 0x3C00}, 0xF1, {57, 0, 0, 0}},
      {{0x0200, 0x0100}, 0x01, {28, 14, 0, 0}}, {{0x0001, 0x8003}, 0x05, {0, 0, 0, 0}},
  };
  for (const Example& example : examples) {
    const QuantisedBlock got = quantise(example.block);
    EXPECT_EQ(got.scale, example.scale) << "first value " << example.block[0];
    for (std::size_t k = 0; k < 4; ++k)
      EXPECT_EQ(got.q[k], example.q[k]) << "first value " << example.block[0];
    EXPECT_TRUE(std::all_of(got.q.begin() + 4, got.q.end(), [](int q) { return q == 0; }));
  }
}

TEST(NumberFormats4_3, AllZeroBlockHasScaleA0) {
  EXPECT_EQ(quantise({}).scale, 0xA0);
  EXPECT_EQ(quantise({0x8000, 0x0000}).scale, 0xA0);
  EXPECT_EQ(quantise({0x8000, 0x0000}).q[0], 0);
}

// The compare thresholds given next to the division: strictly greater moves to the next mantissa.
TEST(NumberFormats4_3, ScaleThresholds) {
  constexpr unsigned kThresholds[] = {1134, 1260, 1386, 1512, 1638, 1764, 1890, 2016};
  for (unsigned sp = 1024; sp < 2048; ++sp) {
    unsigned c = 9;
    for (const unsigned threshold : kThresholds) c += sp > threshold ? 1 : 0;
    const QuantisedBlock got = quantise({static_cast<std::uint16_t>(15 << 10 | (sp - 1024))});
    const unsigned mantissa = c <= 15 ? c : c - 8;
    const unsigned exponent = 15 + 20 - (c <= 15 ? 21 : 20);
    EXPECT_EQ(got.scale, exponent * 8 + mantissa - 8) << "sp " << sp;
  }
}

// Section 4.5 in its second form (sh = 16 + t), with the table of 4.4 written out, for every significand
// under every scale mantissa.
TEST(NumberFormats4_5, EveryElementRounding) {
  constexpr std::uint32_t kTable[] = {4096, 3641, 3277, 2979, 2731, 2520, 2341, 2185};  // m8 = 8..15
  constexpr std::uint16_t kPeaks[] = {0x3FE0, 0x3C00, 0x3CC0, 0x3D40, 0x3DC0, 0x3E40, 0x3EC0, 0x3F40};
  for (unsigned index = 0; index < 8; ++index)
    for (unsigned h = 0; h <= kPeaks[index]; h += h < 0x2800 ? 37 : 1) {
      const QuantisedBlock got = quantise({static_cast<std::uint16_t>(h), kPeaks[index]});
      ASSERT_EQ(got.scale & 7u, index);
      const int exponent_field = static_cast<int>(h >> 10);
      const std::uint64_t significand = (h & 0x3FF) | (exponent_field ? 0x400u : 0u);
      const std::uint64_t product = significand * kTable[index];
      const int sh = 16 + 21 + ((got.scale >> 3) - 20) - std::max(exponent_field, 1);
      const std::uint64_t magnitude =
          sh >= 24 ? 0 : std::min<std::uint64_t>(63, (product >> sh) + (product >> (sh - 1) & 1));
      ASSERT_EQ(static_cast<std::uint64_t>(got.q[0]), magnitude)
          << "element " << h << " mantissa " << index + 8;
    }
}

// Section 15: every normal (and exponent-31) peak quantises to 56..63; a subnormal peak to 0..63 with scale
// exponent -20.
TEST(NumberFormats15, RangeOfThePeak) {
  for (unsigned peak = 1; peak < 0x8000; ++peak) {
    const QuantisedBlock got = quantise({static_cast<std::uint16_t>(peak)});
    EXPECT_LE(got.q[0], 63);
    if (peak >= 0x400) {
      EXPECT_GE(got.q[0], 56) << "peak " << peak;
    } else {
      EXPECT_GE(got.q[0], 0);
      EXPECT_EQ(got.scale >> 3, 0) << "peak " << peak;
    }
  }
}

// Sign symmetry and independence of order hold for every block.
TEST(NumberFormats4, SignAndOrderProperties) {
  constexpr unsigned kSeed = 20240601;
  RecordProperty("seed", static_cast<int>(kSeed));
  std::cout << "seed " << kSeed << "\n";
  std::mt19937 random(kSeed);
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::uint16_t> block(kBlockK), negated(kBlockK), reversed(kBlockK);
    const unsigned mask = round % 3 == 0 ? 0xFFFF : round % 3 == 1 ? 0x83FF : 0xBFFF;
    for (auto& h : block) h = static_cast<std::uint16_t>(random() & mask);
    std::transform(block.begin(), block.end(), negated.begin(), [](std::uint16_t h) { return h ^ 0x8000; });
    std::reverse_copy(block.begin(), block.end(), reversed.begin());
    const QuantisedBlock plain = quantise(block), minus = quantise(negated), back = quantise(reversed);
    ASSERT_EQ(plain.scale, minus.scale);
    ASSERT_EQ(plain.scale, back.scale);
    for (unsigned k = 0; k < kBlockK; ++k) {
      ASSERT_EQ(plain.q[k], -minus.q[k]);
      ASSERT_EQ(plain.q[k], back.q[kBlockK - 1 - k]);
      ASSERT_GE(plain.q[k], -63);
    }
  }
}

// design.md section 2: the vectorised quantiser has the scalar one's bits, here on 1.3 million elements of
// every kind of block.
TEST(NumberFormats4, ScalarAndVectorisedAgree) {
  if (!set_simd(true)) std::cout << "no AVX2: both runs are scalar\n";
  constexpr unsigned kSeed = 4242;
  std::cout << "seed " << kSeed << "\n";
  std::mt19937 random(kSeed);
  for (int round = 0; round < 10000; ++round) {
    std::array<std::uint16_t, kLanes * kBlockK> source;
    for (unsigned i = 0; i < source.size(); ++i) {
      constexpr unsigned kMasks[] = {0xFFFF, 0x83FF, 0x800F, 0xBFFF, 0xFC00, 0x8000};
      const unsigned mask = kMasks[(round + i / kBlockK) % std::size(kMasks)];
      source[i] = static_cast<std::uint16_t>(random() & mask);
      if (round % 3 == 1 && mask == 0xFFFF)
        source[i] = static_cast<std::uint16_t>((source[i] & 0x87FF) | 0x3800);
    }
    set_simd(false);
    const OperandEntry scalar = quantise_entry(source);
    set_simd(true);
    ASSERT_EQ(quantise_entry(source), scalar) << "round " << round;
  }
}

TEST(NumberFormats5_1, EntrySourceIsLaneMajor) {
  std::array<std::uint16_t, kLanes * kBlockK> source{};
  for (unsigned lane = 0; lane < kLanes; ++lane)
    source[lane * 32 + lane] = static_cast<std::uint16_t>(0x3C00 + (lane << 10));
  const OperandEntry entry = quantise_entry(source);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    EXPECT_EQ(entry.scale[lane], 0x71 + 8 * lane);
    for (unsigned k = 0; k < kBlockK; ++k) EXPECT_EQ(entry.q[lane][k], k == lane ? 57 : 0);
  }
}

}  // namespace
}  // namespace ktpu::arch
