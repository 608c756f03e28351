// SPDX-License-Identifier: Apache-2.0
// number-formats.md sections 7 to 11: the scalar reference against the pages' worked tables and properties.
#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "arch/formats/acc.h"
#include "arch/formats/e8m15.h"

namespace ktpu::arch {
namespace {

static_assert(normalise(1, 0xA0, 0xA0, kGemmAnchor, 14) == 0x0FC000);  // usable in constant expressions

TEST(NumberFormats7, WorkedNormaliserTable) {
  struct Row {
    int part;
    unsigned fa, fb;
    std::uint32_t acc;
  };
  for (const Row& row : {Row{1, 0xA0, 0xA0, 0x0FC000}, Row{131072, 0xA0, 0xA0, 0x140000},
                         Row{3969, 0x76, 0x76, 0x101EF6}, Row{49151, 0xA1, 0xA7, 0x13E53F},
                         Row{-129024, 0xFF, 0x00, 0x31F620}, Row{127008, 0xFF, 0xFF, 0x19ED03}})
    EXPECT_EQ(normalise(row.part, row.fa, row.fb, 40, 14), row.acc) << "part " << row.part;
}

TEST(NumberFormats7, ZeroPartialIsAllZerosForEveryScaleAndAnchor) {
  for (unsigned f = 0; f < 256; f += 7)
    for (unsigned anchor = 0; anchor < 256; anchor += 51) EXPECT_EQ(normalise(0, f, 255 - f, anchor, 14), 0u);
}

// Anchor 40 with legal operands: the exponent stays inside the section's 23..104, so it neither wraps nor
// reaches 0. The largest product (131,072 * 225) gives 103.
TEST(NumberFormats7, ExponentRangeAtAnchor40) {
  for (unsigned mw = kMinAccMw; mw <= kMaxAccMw; ++mw) {
    EXPECT_EQ(acc_exponent(normalise(1, 0x00, 0x00, 40, mw), mw), 23u);
    EXPECT_EQ(acc_exponent(normalise(131072, 0xFF, 0xFF, 40, mw), mw), 103u);
  }
}

TEST(NumberFormats7, ExponentWrapsModulo128) {
  for (unsigned anchor = 0; anchor < 256; ++anchor) {
    const std::uint32_t acc = normalise(-3, 0x40, 0x48, anchor, 14);
    const std::uint32_t base = normalise(-3, 0x40, 0x48, 40, 14);
    EXPECT_EQ(acc_exponent(acc, 14), (acc_exponent(base, 14) + 40 - anchor) & 127);
    EXPECT_EQ(acc_mantissa(acc, 14), acc_mantissa(base, 14));
    EXPECT_EQ(acc_sign(acc, 14), 1u);
  }
}

TEST(NumberFormats8, WorkedAddTable) {
  struct Row {
    std::uint32_t a, b, sum;
  };
  for (const Row& row : {Row{0x0FC000, 0x0FC000, 0x100000}, Row{0x0FC000, 0x2FC000, 0x000000},
                         Row{0x0FC000, 0x2FBFFF, 0x0C0000}, Row{0x0FC000, 0x0C0000, 0x0FC000},
                         Row{0x0FC001, 0x0C0000, 0x0FC002}, Row{0x1FFFFF, 0x1FFFFF, 0x1FFFFF},
                         Row{0x004001, 0x204000, 0x000000}, Row{0x0FC000, 0x200001, 0x0FC000}})
    EXPECT_EQ(acc_add(row.a, row.b, 14), row.sum) << std::hex << row.a << " + " << row.b;
}

TEST(NumberFormats8, ForcedZeroPassesTheOtherThrough) {
  for (const std::uint32_t value : {0x0FC001u, 0x1FC000u, 0x1FFFFFu, 0x3FFFFFu, 0x3FC001u, 0x204000u}) {
    EXPECT_EQ(acc_add(value, 0x3ABCDE, 14, false, true), value);
    EXPECT_EQ(acc_add(0x3ABCDE, value, 14, true, false), value);
    EXPECT_EQ(acc_add(value, value, 14, true, true), 0u);
  }
  EXPECT_EQ(acc_add(0x203FFF, 0, 14, false, true), 0u);  // exponent 0 becomes all zeros
}

// The limits themselves: an exponent of exactly 127 saturates, one of exactly 0 flushes, both one step away
// do not.
TEST(NumberFormats8, SaturationAndFlushBegin) {
  for (unsigned mw = kMinAccMw; mw <= kMaxAccMw; ++mw) {
    const std::uint32_t top = (1u << mw) - 1, half = 1u << (mw - 1);
    for (std::uint32_t sign : {0u, 1u}) {
      EXPECT_EQ(acc_add(acc_pack(sign, 126, 0, mw), acc_pack(sign, 126, 0, mw), mw),
                acc_pack(sign, 127, top, mw));
      EXPECT_EQ(acc_add(acc_pack(sign, 125, 2, mw), acc_pack(sign, 125, 0, mw), mw),
                acc_pack(sign, 126, 1, mw));
      // 1.75 - 1 = 0.75 falls below the lowest binade, one binade up it does not
      EXPECT_EQ(acc_add(acc_pack(sign, 1, half | half >> 1, mw), acc_pack(sign ^ 1, 1, 0, mw), mw), 0u);
      EXPECT_EQ(acc_add(acc_pack(sign, 2, half | half >> 1, mw), acc_pack(sign ^ 1, 2, 0, mw), mw),
                acc_pack(sign, 1, half, mw));
    }
  }
}

// Lost bits stay positive sticky after a subtraction: the exact difference here lies just below the tie.
TEST(NumberFormats8, SubtractionWithLostBitsIsNotExactlyRounded) {
  const std::uint32_t big = acc_pack(0, 63, 0, 14);
  for (std::uint32_t m = 0; m < 0x4000; ++m) {
    const std::uint32_t small = acc_pack(1, 63 - 10, m, 14);
    const std::int64_t aligned = ((0x4000 | m) << 8) >> 10;
    const bool lost = (((0x4000 | m) << 8) & 0x3FF) != 0;
    const std::int64_t sum = (0x4000 << 8) - aligned;  // leading one at bit 21: shifted left by 2
    const std::int64_t normal = sum << 2;
    std::int64_t significand = normal >> 9;
    const bool guard = normal >> 8 & 1, sticky = lost || (normal & 255) != 0;
    if (guard && (sticky || (significand & 1))) ++significand;
    EXPECT_EQ(acc_add(big, small, 14), acc_pack(0, 62, static_cast<std::uint32_t>(significand) & 0x3FFF, 14))
        << m;
  }
}

// For operands whose exponents differ by at most 8 nothing is lost, so the sum is the correctly rounded one;
// an integer model in wide arithmetic that shares no step with the adder decides.
TEST(NumberFormats8, NearOperandsAreCorrectlyRounded) {
  constexpr unsigned kSeed = 8;
  std::cout << "seed " << kSeed << "\n";
  std::mt19937 random(kSeed);
  for (int round = 0; round < 200000; ++round) {
    const unsigned mw = kMinAccMw + random() % (kMaxAccMw - kMinAccMw + 1);
    const unsigned low = 50 + random() % 20, high = low + random() % 9;
    const std::uint32_t mask = (1u << mw) - 1;
    const std::uint32_t a = acc_pack(random() & 1, high, static_cast<std::uint32_t>(random()) & mask, mw);
    const std::uint32_t b = acc_pack(random() & 1, low, static_cast<std::uint32_t>(random()) & mask, mw);
    const auto value = [&](std::uint32_t acc) {
      const std::int64_t v = static_cast<std::int64_t>((1u << mw) | acc_mantissa(acc, mw))
                             << (acc_exponent(acc, mw) - low);
      return acc_sign(acc, mw) ? -v : v;
    };
    const std::int64_t sum = value(a) + value(b);  // in units of 2^(low - 63 - mw)
    std::uint32_t expected = 0;
    if (sum != 0) {
      const std::uint64_t magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
      int exponent = static_cast<int>(low);
      std::uint64_t significand = magnitude;
      if (significand < (1u << mw)) {
        while (significand < (1u << mw)) significand <<= 1, --exponent;
      } else {
        int drop = 0;
        while ((magnitude >> drop) >= (2ull << mw)) ++drop;
        const std::uint64_t rest = magnitude & ((1ull << drop) - 1), half = drop ? 1ull << (drop - 1) : 0;
        significand = magnitude >> drop;
        exponent += drop;
        if (drop && (rest > half || (rest == half && (significand & 1)))) ++significand;
        if (significand == (2ull << mw)) significand >>= 1, ++exponent;
      }
      expected = acc_pack(sum < 0, static_cast<unsigned>(exponent),
                          static_cast<std::uint32_t>(significand) & mask, mw);
    }
    ASSERT_EQ(acc_add(a, b, mw), expected) << std::hex << a << " + " << b << " mw " << std::dec << mw;
    ASSERT_EQ(acc_add(b, a, mw), expected);
  }
}

TEST(NumberFormats9, WorkedFp16Table) {
  struct Row {
    std::uint32_t acc;
    unsigned fp16;
  };
  for (const Row& row :
       {Row{0x0FC000, 0x3C00}, Row{0x0FC008, 0x3C00}, Row{0x0FC018, 0x3C02}, Row{0x0FFFF8, 0x4000},
        Row{0x137FF7, 0x77FF}, Row{0x137FFF, 0x7800}, Row{0x13C000, 0x7BFF}, Row{0x0C3FF8, 0x0400},
        Row{0x0C0000, 0x0000}, Row{0x2C0000, 0x8000}})
    EXPECT_EQ(acc_to_fp16(row.acc, 14), row.fp16) << std::hex << row.acc;
}

TEST(NumberFormats9, EveryFp16NormalComesBackFromAnyWidth) {
  for (unsigned mw = kMinAccMw + 1; mw <= kMaxAccMw; ++mw)
    for (unsigned h = 0x0400; h < 0x7C00; ++h) {
      const std::uint32_t acc = acc_pack(h & 1, (h >> 10) + 48, (h & 0x3FF) << (mw - 10), mw);
      ASSERT_EQ(acc_to_fp16(acc, mw), h | (h & 1) << 15) << "mw " << mw;
    }
}

TEST(NumberFormats10, TopBinadeBecomesInfinityOrNan) {
  EXPECT_EQ(acc_to_e8m15(0x1FC000, 14), 0x7F8000u);
  EXPECT_EQ(acc_to_e8m15(0x1FFFFF, 14), 0x7FFFFEu);  // the saturated value is a NaN
  EXPECT_EQ(acc_to_e8m15(acc_pack(1, 127, 1, 16), 16), 0xFF8001u);
  EXPECT_EQ(acc_to_e8m15(acc_pack(0, 0, 5, 14), 14), 0u);
  EXPECT_EQ(acc_to_e8m15(acc_pack(0, 63, 0xFFFF, 16), 16), 128u << 15);  // carry out of the fraction
}

TEST(NumberFormats11, EveryFp16SurvivesTheVectorLane) {
  for (unsigned h = 0; h < 0x10000; ++h) {
    const bool nan = (h & 0x7C00) == 0x7C00 && (h & 0x3FF) != 0;
    const unsigned got = e8m15_to_fp16(fp16_to_e8m15(static_cast<std::uint16_t>(h)));
    ASSERT_EQ(got, nan ? h | 0x200 : h);  // a NaN keeps its payload but for the forced top bit
  }
}

TEST(NumberFormats11, Fp32EdgesOfTheVectorLane) {
  EXPECT_EQ(fp32_to_e8m15(0x807FFFFF), 0x800000u);  // subnormals flush
  EXPECT_EQ(fp32_to_e8m15(0x7F800001), 0x7FC000u);  // NaN keeps payload bits 21:8 and gets bit 14
  EXPECT_EQ(fp32_to_e8m15(0xFF800000), 0xFF8000u);
  EXPECT_EQ(fp32_to_e8m15(0x7F7FFFFF), 0x7F8000u);  // rounds up to infinity
  EXPECT_EQ(fp32_to_e8m15(0x3F800080), 0x3F8000u);  // tie to even
  EXPECT_EQ(fp32_to_e8m15(0x3F800180), 0x3F8002u);
  EXPECT_EQ(e8m15_to_fp32(0x007FFF), 0u);  // exponent 0 drops its mantissa
  for (std::uint32_t v = 0x008000; v < 0x7F8000; v += 13) ASSERT_EQ(fp32_to_e8m15(e8m15_to_fp32(v)), v);
}

TEST(NumberFormats11, VectorStoreMakesSubnormalsAndSaturates) {
  EXPECT_EQ(e8m15_to_fp16(fp32_to_e8m15(0x33800000)), 0x0001);  // 2^-24
  EXPECT_EQ(e8m15_to_fp16(fp32_to_e8m15(0x33000000)), 0x0000);  // 2^-25: tie to even
  EXPECT_EQ(e8m15_to_fp16(fp32_to_e8m15(0x33000100)), 0x0001);
  EXPECT_EQ(e8m15_to_fp16(fp32_to_e8m15(0x387FFF00)), 0x0400);  // rounds into the normal range
  EXPECT_EQ(e8m15_to_fp16(fp32_to_e8m15(0xC7800000)), 0xFBFF);  // -65536 saturates
  EXPECT_EQ(e8m15_to_fp16(0x7F8000), 0x7C00);
  EXPECT_EQ(e8m15_to_fp16(0x000001), 0x0000);
}

}  // namespace
}  // namespace ktpu::arch
