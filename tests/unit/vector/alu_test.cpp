// SPDX-License-Identifier: Apache-2.0
// The lane arithmetic: vector.md section 6, against a second implementation of its rules in exact wide
// integers. KTPU_LONG=1 compares 10^8 operations.
#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <vector>

#include "apps/ktpu-check/sha256.h"
#include "arch/formats/lane_alu.h"
#include "arch/formats/seed_table.h"
#include "arch/formats/simd.h"

namespace ktpu::test {
namespace {

using arch::e8m15_fma;
using arch::lane_op;
using arch::SeedFunction;
using arch::SeedSegment;
using arch::VectorOpcode;

__extension__ typedef unsigned __int128 Wide;  // g++ and clang++ on 64-bit machines

bool zero(std::uint32_t v) { return (v & 0x7F8000) == 0; }
bool infinite(std::uint32_t v) { return (v & 0x7FFFFF) == 0x7F8000; }
bool nan(std::uint32_t v) { return (v & 0x7F8000) == 0x7F8000 && (v & 0x7FFF) != 0; }

// (-1)^sign * magnitude * 2^exponent, plus something smaller than its last bit when `more`; to nearest, ties
// to even or away; magnitude != 0.
std::uint32_t rounded(bool sign, Wide magnitude, int exponent, bool more, bool ties_away) {
  int length = 0;
  for (Wide m = magnitude; m != 0; m >>= 1) ++length;
  int drop = length - 16;
  if (drop < 0) {
    magnitude <<= -drop;
    exponent += drop;
    drop = 0;
  }
  Wide kept = magnitude >> drop;
  const Wide rest = magnitude - (kept << drop), half = drop == 0 ? 0 : Wide{1} << (drop - 1);
  bool up = false;
  if (drop > 0) up = rest > half || (rest == half && (more || ties_away || (kept & 1) != 0));
  kept += up;
  exponent += drop;
  if (kept == 0x10000) {
    kept >>= 1;
    ++exponent;
  }
  const int biased = exponent + 15 + 127;
  const std::uint32_t s = sign ? 0x800000u : 0u;
  if (biased >= 255) return s | 0x7F8000;
  if (biased <= 0) return s;
  return s | static_cast<std::uint32_t>(biased) << 15 | (static_cast<std::uint32_t>(kept) & 0x7FFF);
}

std::uint32_t reference_fma(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const bool product_sign = ((a ^ b) >> 23) & 1, addend_sign = (c >> 23) & 1;
  const bool product_nan = nan(a) || nan(b) || (infinite(a) && zero(b)) || (infinite(b) && zero(a));
  const bool product_infinite = !product_nan && (infinite(a) || infinite(b));
  if (product_nan || nan(c) || (product_infinite && infinite(c) && product_sign != addend_sign))
    return 0x7FC000;
  if (product_infinite) return (product_sign ? 0x800000u : 0u) | 0x7F8000;
  if (infinite(c)) return c;
  const auto significand = [](std::uint32_t v) { return Wide{0x8000 | (v & 0x7FFF)}; };
  const auto last_bit = [](std::uint32_t v) { return static_cast<int>((v >> 15) & 255) - 127 - 15; };
  if (zero(a) || zero(b)) {
    if (!zero(c)) return c;
    return addend_sign ? 0x800000u : 0u;  // equal signs keep it, of different ones the addend's stays
  }
  const Wide product = significand(a) * significand(b);
  const int product_last = last_bit(a) + last_bit(b);
  if (zero(c)) return rounded(product_sign, product, product_last, false, true);
  const int distance = last_bit(c) - product_last;
  if (distance > 32) return c;  // the addend dominates
  const bool subtract = product_sign != addend_sign;
  Wide p = product, q = significand(c);
  int last = product_last;
  bool more = false;
  if (distance >= 0) {
    q <<= distance;
  } else if (!subtract && distance > -64) {  // exact
    p <<= -distance;
    last += distance;
  } else {
    // Bits of the addend below the product's last one only say that there is more, also when they are taken
    // away.
    const Wide kept = distance > -64 ? q >> -distance : 0;
    more = distance <= -64 || (kept << -distance) != q;
    q = kept;
  }
  if (!subtract) return rounded(product_sign, p + q, last, more, false);
  if (p == q) return more ? rounded(addend_sign, 0, last, more, false) : 0;
  return p > q ? rounded(product_sign, p - q, last, more, false)
               : rounded(addend_sign, q - p, last, more, false);
}

std::uint64_t seed_given() {
  const char* given = std::getenv("KTPU_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 0) : 20261130;
}

TEST(Vector_S6_3, FmaEqualsTheWideIntegerReference) {
  const std::uint64_t seed = seed_given();
  std::mt19937_64 random(seed);
  const std::uint64_t count = std::getenv("KTPU_LONG") != nullptr ? 100'000'000 : 2'000'000;
  std::cout << "seed " << seed << ", " << count << " operations\n";
  const std::vector<std::uint32_t> edges{0x000000, 0x800000, 0x000001, 0x807FFF, 0x008000, 0x808000, 0x3F8000,
                                         0xBF8000, 0x3F8001, 0x3FFFFF, 0x7F7FFF, 0xFF7FFF, 0x7F8000, 0xFF8000,
                                         0x7FC000, 0x7F8001, 0xFFFFFF, 0x430000, 0xC30000, 0x400000};
  const auto operand = [&](std::uint32_t near) -> std::uint32_t {
    const std::uint64_t r = random();
    switch (r & 7) {
      case 0:
        return edges[(r >> 3) % edges.size()];
      case 1:
        return static_cast<std::uint32_t>(r >> 40);  // any pattern
      case 2:
        return (static_cast<std::uint32_t>(r >> 40) & 0x807FFF) | near;  // exponent as the other's
      case 3:
        return (static_cast<std::uint32_t>(r >> 40) & 0x807FE0) | (120 + (r >> 8) % 16)
                                                                      << 15;  // few bits: ties
      default:
        return (static_cast<std::uint32_t>(r >> 40) & 0x807FFF) |
               static_cast<std::uint32_t>(100 + (r >> 8) % 56) << 15;
    }
  };
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint32_t a = operand(0x3F8000), b = operand(a & 0x7F8000);
    // The addend is often as large as the product, so that they cancel.
    std::uint32_t c = operand(a & 0x7F8000);
    if ((i & 3) == 0) c = lane_op(VectorOpcode::kVmul, a, b, 0, true) ^ (random() & 0x800003);
    ASSERT_EQ(e8m15_fma(a, b, c), reference_fma(a, b, c))
        << std::hex << "a " << a << " b " << b << " c " << c << std::dec << ", operation " << i << " of seed "
        << seed;
  }
}

// The vectorised form, all operations that have one, special values included.
TEST(Vector_S6_3, TheVectorisedFormEqualsTheScalarOne) {
  const std::uint64_t seed = seed_given();
  std::mt19937_64 random(seed);
  std::cout << "seed " << seed << ", " << arch::simd_name() << "\n";
  std::array<std::uint32_t, 16> a, b, c, r;
  for (unsigned round = 0; round < 60'000; ++round) {
    for (unsigned i = 0; i < 16; ++i) {
      const auto any = [&] {
        const std::uint64_t v = random();
        const auto pattern = static_cast<std::uint32_t>(v >> 40);
        if (v % 64 == 0) return pattern;  // sometimes infinities, NaNs, zeros
        return (pattern & 0x807FFF) |
               static_cast<std::uint32_t>(v % 8 == 1 ? (v >> 8) % 255 : 90 + (v >> 8) % 70) << 15;
      };
      a[i] = any();
      b[i] = any();
      c[i] = round % 4 == 0 ? lane_op(VectorOpcode::kVmul, a[i], b[i], 0, true) ^ 0x800000 ^ (random() & 3)
                            : any();
    }
    for (const VectorOpcode op : {VectorOpcode::kVadd, VectorOpcode::kVsub, VectorOpcode::kVmul,
                                  VectorOpcode::kVfma, VectorOpcode::kVfnma}) {
      const unsigned n = 4 << random() % 3;
      arch::lane_ops(op, a.data(), b.data(), c.data(), r.data(), n, true);
      for (unsigned i = 0; i < n; ++i)
        ASSERT_EQ(r[i], lane_op(op, a[i], b[i], c[i], true))
            << std::hex << a[i] << ' ' << b[i] << ' ' << c[i] << ", operation " << static_cast<unsigned>(op);
    }
  }
}

TEST(Vector_S6_4, ACopyIsATimesOnePlusZero) {
  for (std::uint32_t v = 0; v < 1u << 24; ++v)
    ASSERT_EQ(arch::e8m15_copy(v), e8m15_fma(v, 0x3F8000, 0)) << std::hex << v;
}

TEST(Vector_S6_3, Consequences) {
  // Zero-addend ties go away from zero.
  EXPECT_EQ(lane_op(VectorOpcode::kVmul, 0x3F800F, 0x3FC000, 0, true), 0x3FC017u);
  EXPECT_EQ(lane_op(VectorOpcode::kVsub, 0x40490F, 0, 0x40490F, true), 0x000000u) << "x - x";
  EXPECT_EQ(lane_op(VectorOpcode::kVmov, 0x800000, 0, 0, true), 0x000000u);
  EXPECT_EQ(lane_op(VectorOpcode::kVneg, 0x000000, 0, 0, true), 0x000000u);
  EXPECT_EQ(lane_op(VectorOpcode::kVmul, 0x800000, 0x3F8000, 0, true), 0x000000u);
  EXPECT_EQ(lane_op(VectorOpcode::kVmul, 0x810000, 0x010000, 0, true), 0x800000u)
      << "an underflow keeps its sign";
  EXPECT_EQ(lane_op(VectorOpcode::kVadd, 0x800000, 0, 0x800000, true), 0x800000u)
      << "equal signs keep the sign";
  EXPECT_EQ(lane_op(VectorOpcode::kVadd, 0x000000, 0, 0x800000, true), 0x800000u) << "else the addend's";
  EXPECT_EQ(lane_op(VectorOpcode::kVfma, 0x000000, 0x3F8000, 0x40490F, true), 0x40490Fu);
}

TEST(Vector_S6_4, ComparisonsAndSelections) {
  constexpr std::uint32_t kNaN = 0x7FC000, kOne = 0x3F8000, kTwo = 0x400000;
  const auto op = [](VectorOpcode code, std::uint32_t a, std::uint32_t b, std::uint32_t c = 0) {
    return lane_op(code, a, b, c, true);
  };
  EXPECT_EQ(op(VectorOpcode::kVmax, kOne, kNaN), kOne);
  EXPECT_EQ(op(VectorOpcode::kVmax, kNaN, kOne), kNaN);
  EXPECT_EQ(op(VectorOpcode::kVmin, kOne, kNaN), kOne);
  EXPECT_EQ(op(VectorOpcode::kVmin, kNaN, kOne), kNaN);
  EXPECT_EQ(op(VectorOpcode::kVmax, 0x000000, 0x800000), 0u);
  for (const std::uint32_t bad : {kNaN, 0xFFC001u}) {
    EXPECT_EQ(op(VectorOpcode::kVcmplt, bad, kOne), 0u);
    EXPECT_EQ(op(VectorOpcode::kVcmpgt, kOne, bad), 0u);
    EXPECT_EQ(op(VectorOpcode::kVcmpeq, bad, bad), 0u);
  }
  EXPECT_EQ(op(VectorOpcode::kVcmpeq, 0x000000, 0x800000), kOne);
  EXPECT_EQ(op(VectorOpcode::kVcmplt, 0xC00000, 0xBF8000), kOne) << "-2 < -1";
  EXPECT_EQ(op(VectorOpcode::kVcmpgt, kTwo, kOne), kOne);
  EXPECT_EQ(op(VectorOpcode::kVcmplt, 0x000000, 0x000001), kOne) << "raw bits, though both are zeros";
  EXPECT_EQ(op(VectorOpcode::kVsel, kOne, kTwo, 0x800000), kTwo);
  EXPECT_EQ(op(VectorOpcode::kVsel, kOne, kTwo, 0x000001), kOne) << "raw bits";
}

TEST(Vector_S6_5, Exp2WrapsOrNot) {
  struct Row {
    std::uint32_t operand, wraps, intended;
  };
  for (const Row& row : {Row{0x434800, 0x238000, 0x7F8000}, Row{0xC34800, 0x5B8000, 0x000000},
                         Row{0x430000, 0x000000, 0x7F8000}, Row{0x42FF00, 0x7F3505, 0x7F3505},
                         Row{0x438000, 0x7F8000, 0x7F8000}, Row{0xC38000, 0x000000, 0x000000}}) {
    EXPECT_EQ(arch::e8m15_exp2(row.operand, true), row.wraps) << std::hex << row.operand;
    EXPECT_EQ(arch::e8m15_exp2(row.operand, false), row.intended) << std::hex << row.operand;
  }
}

TEST(Vector_S6_5, SpecialValues) {
  constexpr std::uint32_t kNaN = 0x7FC000, kInf = 0x7F8000, kMinusInf = 0xFF8000, kMinusOne = 0xBF8000;
  struct Row {
    VectorOpcode op;
    std::uint32_t nan, inf, minus_inf, zero, minus_zero, minus_one;
  };
  for (const Row& row : {Row{VectorOpcode::kVexp2, kNaN, kInf, 0, 0x3F8000, 0x3F8000, 0x3F0000},
                         Row{VectorOpcode::kVlog2, kNaN, kInf, kNaN, kMinusInf, kMinusInf, kNaN},
                         Row{VectorOpcode::kVinv, kNaN, 0, 0x800000, kInf, kMinusInf, kMinusOne},
                         Row{VectorOpcode::kVrsqrt, kNaN, 0, kNaN, kInf, kInf, kNaN}}) {
    const auto f = [&](std::uint32_t v) { return lane_op(row.op, v, 0, 0, true); };
    EXPECT_EQ(f(0xFFABCD), row.nan);
    EXPECT_EQ(f(kInf), row.inf);
    EXPECT_EQ(f(kMinusInf), row.minus_inf);
    EXPECT_EQ(f(0), row.zero);
    EXPECT_EQ(f(0x800000), row.minus_zero);
    EXPECT_EQ(f(kMinusOne), row.minus_one);
  }
  EXPECT_EQ(arch::e8m15_inv(0x7F0000), 0u) << "E = 254 flushes";
  EXPECT_EQ(arch::e8m15_inv(0xFE8001), 0x800000u) << "E = 253 with M != 0";
  EXPECT_EQ(arch::e8m15_inv(0x7E8000), 0x008000u);
}

TEST(Vector_S6_5, PowersOfTwoAreExact) {
  for (int e = -100; e <= 100; ++e) {
    const auto power = static_cast<std::uint32_t>(127 + e) << 15;
    EXPECT_EQ(arch::e8m15_inv(power), static_cast<std::uint32_t>(127 - e) << 15);
    if (e % 2 == 0) {
      EXPECT_EQ(arch::e8m15_rsqrt(power), static_cast<std::uint32_t>(127 - e / 2) << 15);
    }
    const std::uint32_t exponent = lane_op(VectorOpcode::kVlog2, power, 0, 0, true);
    EXPECT_EQ(arch::e8m15_exp2(exponent, true), power);
  }
}

TEST(Vector_S6_6, TheTable) {
  const auto& table = arch::seed_table();
  EXPECT_EQ(table.at(SeedFunction::kExp2, 0), (SeedSegment{0, 363393, 63660}));
  EXPECT_EQ(table.at(SeedFunction::kLog2, 31), (SeedSegment{1024752, 384179, -48023}));
  EXPECT_EQ(table.at(SeedFunction::kInv, 0), (SeedSegment{1048575, -524013, 250275}));
  EXPECT_EQ(table.at(SeedFunction::kRsqrt, 1), (SeedSegment{1032566, -250241, 87677}));
  for (unsigned f = 0; f < 4; ++f)
    for (unsigned i = 0; i < arch::seed_segments(static_cast<SeedFunction>(f)); ++i)
      for (const std::int32_t c : {table.of[f][i].c0, table.of[f][i].c1, table.of[f][i].c2})
        EXPECT_TRUE(c >= -(1 << 21) && c < 1 << 21) << "22 bits";
}

std::string table_text() {
  std::ostringstream text;
  for (unsigned f = 0; f < 4; ++f)
    for (unsigned i = 0; i < arch::seed_segments(static_cast<SeedFunction>(f)); ++i) {
      const SeedSegment& s = arch::seed_table().of[f][i];
      text << f << ',' << i << ',' << s.c0 << ',' << s.c1 << ',' << s.c2 << '\n';
    }
  return text.str();
}

TEST(Vector_S6_6, TheTableHasTheDigestOfTheSpecification) {
  const std::string text = table_text();
  EXPECT_EQ(check::sha256_hex({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}),
            "0427d68253bd8807df7d08b1ae9fc30705481fff7d66224be339a0bda10369b1");
}

TEST(Vector_S6_6, TheTableEqualsTheRecordedOne) {
  const char* from_environment = std::getenv("KTPU_VECTORS");
  const auto folder = from_environment
                          ? std::filesystem::path(from_environment)
                          : std::filesystem::path(KTPU_SOURCE_DIR).parent_path() / "shared" / "vectors";
  std::ifstream in(folder / "vector" / "seed_table.csv");
  if (!in) GTEST_SKIP() << "vectors not found: " << (folder / "vector/seed_table.csv").string();
  std::ostringstream recorded;
  recorded << in.rdbuf();
  EXPECT_EQ(table_text(), recorded.str());
}

// The whole output of each seed function, three bytes an operand, least significant first.
TEST(Vector_S6_5, DigestsOverAllOperands) {
  const std::pair<VectorOpcode, const char*> functions[] = {
      {VectorOpcode::kVexp2, "064e6ef1e3dc6dfcd81ce7a037ef885eec743dbc858155a6b8c69f7ca34ab619"},
      {VectorOpcode::kVlog2, "45eb5de07376506d2c4eae4dd6aa2d09a5978c0f41a49b08affd78af87cdea81"},
      {VectorOpcode::kVinv, "bf4b0203b6ea4f565e56735495923723da7be5801f6ad338c309da28bee0a28a"},
      {VectorOpcode::kVrsqrt, "0094cc625f46dd22a031c7061ca86cfb7d81bb23bd2c584b6736c4e643a51553"}};
  constexpr std::uint32_t kOperands = 1u << 24, kBlock = 1u << 12;
  for (const auto& [op, digest] : functions) {
    std::vector<std::uint8_t> bytes;
    bytes.reserve(std::size_t{3} * kOperands);
    std::vector<std::uint32_t> operand(kBlock), result(kBlock);
    for (std::uint32_t first = 0; first < kOperands; first += kBlock) {
      for (std::uint32_t i = 0; i < kBlock; ++i) operand[i] = first + i;
      arch::lane_ops(op, operand.data(), operand.data(), operand.data(), result.data(), kBlock, true);
      for (const std::uint32_t r : result)
        for (unsigned b = 0; b < 3; ++b) bytes.push_back(static_cast<std::uint8_t>(r >> (8 * b)));
    }
    const std::string got = check::sha256_hex(bytes);
    std::cout << arch::kVectorOpcodes[static_cast<unsigned>(op)].name << " over 2^24 operands: " << got
              << "\n";
    EXPECT_EQ(got, digest) << "a bit of some result has changed";
  }
}

}  // namespace
}  // namespace ktpu::test
