// SPDX-License-Identifier: Apache-2.0
// number-formats.md section 5: bit positions, checked one element at a time against the tables of the
// section.
#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "arch/bits.h"
#include "arch/formats/operand.h"
#include "arch/formats/subtile.h"

namespace ktpu::arch {
namespace {

constexpr unsigned kSeed = 51;

OperandEntry random_entry(std::mt19937& random) {
  OperandEntry entry;
  for (auto& lane : entry.q)
    for (auto& q : lane) q = static_cast<std::int8_t>(static_cast<int>(random() % 128) - 64);
  for (auto& scale : entry.scale) scale = static_cast<std::uint8_t>(random());
  return entry;
}

unsigned word_slot(Side side, unsigned lane, unsigned k) {
  return side == Side::kA ? lane * 8 + k % 8 : (k % 8) * 4 + lane;
}

TEST(NumberFormats5_2, EveryElementSitsInItsSlot) {
  for (const Side side : {Side::kA, Side::kB})
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (unsigned k = 0; k < kBlockK; ++k)
        for (const int value : {-64, -1, 1, 63}) {
          OperandEntry entry;
          entry.q[lane][k] = static_cast<std::int8_t>(value);
          for (unsigned w = 0; w < kEntryWords; ++w) {
            Word256 expected{};
            if (w == k / 8)
              set_bits(expected.data(), 249 - 7 * word_slot(side, lane, k), 7,
                       static_cast<std::uint64_t>(value));
            EXPECT_EQ(operand_word(side, w, entry), expected)
                << "lane " << lane << " k " << k << " word " << w;
          }
        }
}

TEST(NumberFormats5_2, ScalesSitInEveryWordLaneZeroOnTop) {
  OperandEntry entry;
  for (unsigned lane = 0; lane < kLanes; ++lane) entry.scale[lane] = static_cast<std::uint8_t>(0xA1 + lane);
  for (const Side side : {Side::kA, Side::kB})
    for (unsigned w = 0; w < kEntryWords; ++w)
      EXPECT_EQ(operand_word(side, w, entry), (Word256{0xA1A2A3A4, 0, 0, 0}));
}

TEST(NumberFormats5_3, EntryBitPositions) {
  for (const Side side : {Side::kA, Side::kB})
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      OperandEntry scaled;
      scaled.scale[lane] = 0xC3;
      EntryBits scale_bits{};
      set_bits(scale_bits.data(), 896 + 8 * lane, 8, 0xC3);
      EXPECT_EQ(entry_bits(side, scaled), scale_bits);
      for (unsigned k = 0; k < kBlockK; ++k) {
        OperandEntry entry;
        entry.q[lane][k] = -37;
        EntryBits expected{};
        const unsigned i = side == Side::kA ? lane * 32 + k : k * 4 + lane;
        set_bits(expected.data(), 7 * i, 7, static_cast<std::uint64_t>(-37));
        EXPECT_EQ(entry_bits(side, entry), expected) << "lane " << lane << " k " << k;
      }
    }
}

TEST(NumberFormats5_3, ScaleComesFromWordZeroOnly) {
  std::mt19937 random(kSeed);
  std::cout << "seed " << kSeed << "\n";
  for (int round = 0; round < 200; ++round)
    for (const Side side : {Side::kA, Side::kB}) {
      const OperandEntry source = random_entry(random);
      OperandEntry target = random_entry(random);
      for (unsigned w = 0; w < kEntryWords; ++w) {
        Word256 word = operand_word(side, w, source);
        if (w != 0) word[0] ^= random() & 0xFFFFFFFF;  // other scales in words 1..3 must not matter
        const OperandEntry before = target;
        store_operand_word(side, w, word.data(), target);
        for (unsigned lane = 0; lane < kLanes; ++lane) {
          EXPECT_EQ(target.scale[lane], w == 0 ? source.scale[lane] : before.scale[lane]);
          for (unsigned k = 0; k < kBlockK; ++k)
            EXPECT_EQ(target.q[lane][k], k / 8 == w ? source.q[lane][k] : before.q[lane][k]);
        }
      }
      EXPECT_EQ(target, source);
      EXPECT_EQ(entry_from_bits(side, entry_bits(side, source)), source);
    }
}

TEST(NumberFormats5_4, PeerGranulesOfEveryWidth) {
  std::mt19937 random(kSeed);
  std::cout << "seed " << kSeed << "\n";
  for (unsigned mw = kMinAccMw; mw <= kMaxAccMw; ++mw) {
    const std::uint32_t mask = static_cast<std::uint32_t>((1ull << acc_bits(mw)) - 1);
    for (unsigned lane = 0; lane < kSubTileLanes; ++lane) {  // one lane at a time: its bit position
      SubTile tile;
      tile.lane[lane] = mask;
      std::array<std::uint64_t, 8> expected{};
      set_bits(expected.data(), acc_bits(mw) * lane, acc_bits(mw), mask);
      const PeerGranules granules = pack_granules(tile, mw);
      for (unsigned i = 0; i < 8; ++i)
        EXPECT_EQ(granules[i / 4][i % 4], expected[i]) << "mw " << mw << " lane " << lane;
    }
    SubTile tile, target;
    for (auto& lane : tile.lane) lane = static_cast<std::uint32_t>(random()) & mask;
    PeerGranules granules = pack_granules(tile, mw);
    const unsigned high_bits = 16 * acc_bits(mw) - 256;
    for (unsigned bit = high_bits; bit < 256; ++bit) {  // zero when sent, ignored when received
      EXPECT_EQ(get_bits(granules[1].data(), bit, 1), 0u);
      set_bits(granules[1].data(), bit, 1, 1);
    }
    EXPECT_EQ(unpack_granules(granules, mw), tile) << "mw " << mw;
    store_granule(0, granules[0].data(), mw, target);
    store_granule(1, granules[1].data(), mw, target);
    EXPECT_EQ(target, tile) << "mw " << mw;
  }
}

TEST(NumberFormats8, SendMakesExponentZeroAllZeros) {
  SubTile tile;
  tile.lane[0] = 0x203FFF;  // negative, exponent 0, mantissa set
  tile.lane[1] = 0x1FC001;  // exponent 127 passes unchanged
  const PeerGranules sent = send_granules(tile, 14);
  SubTile expected;
  expected.lane[1] = 0x1FC001;
  EXPECT_EQ(unpack_granules(sent, 14), expected);
}

}  // namespace
}  // namespace ktpu::arch
