// SPDX-License-Identifier: Apache-2.0
// The vectorised accumulate kernel against the scalar one, bit for bit (design.md section 2), and the scalar
// one against the accumulator commands of number-formats.md section 8.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <random>

#include "arch/error.h"
#include "arch/formats/kernel.h"

namespace ktpu::arch {
namespace {

using Random = std::mt19937_64;

std::uint32_t random_acc(Random& random, unsigned mw, unsigned shape) {
  const auto bits = static_cast<std::uint32_t>(random());
  const std::uint32_t mask = (1u << mw) - 1;
  const std::uint32_t mantissas[] = {bits & mask, 0, mask, 1, mask - 1, mask >> 1, (mask >> 1) + 1, bits & 3};
  const std::uint32_t mantissa = shape % 4 == 0 ? mantissas[random() % 8] : bits & mask;
  const unsigned exponents[] = {0, 1, 2, 9, 40, 63, 80, 104, 125, 126, 127};
  unsigned exponent = static_cast<unsigned>(random() % 128);
  if (shape % 3 == 1) exponent = 50 + static_cast<unsigned>(random() % 32);
  if (shape % 3 == 2) exponent = exponents[random() % std::size(exponents)];
  return acc_pack(static_cast<std::uint32_t>(random() & 1), exponent, mantissa, mw);
}

OperandEntry random_entry(Random& random, unsigned shape) {
  OperandEntry entry;
  for (auto& lane : entry.q) {
    const auto constant = static_cast<std::int8_t>(random() % 2 ? -64 : 63);
    const unsigned sparse = static_cast<unsigned>(random() % 32);
    for (unsigned k = 0; k < kBlockK; ++k) {
      switch (shape % 5) {
        case 0:
          lane[k] = constant;
          break;  // the extremes
        case 1:
          lane[k] = static_cast<std::int8_t>(random() % 2 ? -64 : 63);
          break;
        case 2:
          lane[k] = static_cast<std::int8_t>(k == sparse ? random() % 3 - 1 : 0);
          break;  // tiny or zero
        default:
          lane[k] = static_cast<std::int8_t>(static_cast<int>(random() % 128) - 64);
      }
    }
  }
  for (auto& scale : entry.scale)
    scale = static_cast<std::uint8_t>(random() % 4 ? random() : random() % 2 * 255);
  return entry;
}

int dot_of(const OperandEntry& a, const OperandEntry& b, unsigned row, unsigned column) {
  int sum = 0;
  for (unsigned k = 0; k < kBlockK; ++k) sum += a.q[row][k] * b.q[column][k];
  return sum;
}

void expect_equal(const SubTile& scalar, const SubTile& simd, unsigned mw, const char* what) {
  for (unsigned lane = 0; lane < kSubTileLanes; ++lane)
    ASSERT_EQ(scalar.lane[lane], simd.lane[lane])
        << what << " mw " << mw << " lane " << lane << std::hex << " scalar " << scalar.lane[lane] << " simd "
        << simd.lane[lane];
}

class KernelWidth : public testing::TestWithParam<unsigned> {
 protected:
  // Null when this processor has no AVX2 or the width has no vectorised form; there is then nothing to
  // compare.
  const AccumulateKernel* simd() {
    const AccumulateKernel* kernel = avx2_kernel(GetParam());
    if (!kernel) std::cout << "no AVX2 kernel for this width on this processor: nothing compared\n";
#if defined(__x86_64__)
    EXPECT_EQ(kernel != nullptr, __builtin_cpu_supports("avx2") && GetParam() <= 19);
#endif
    return kernel;
  }
  Random seeded(unsigned salt) {
    const unsigned seed = 1000 * GetParam() + salt;
    std::cout << "seed " << seed << "\n";
    return Random(seed);
  }
};

// 16 widths x 8,000 rounds x 16 lanes = 2 million lanes per command.
TEST_P(KernelWidth, ChainLoadAndAddAgree) {
  const unsigned mw = GetParam();
  const AccumulateKernel *fast = simd(), &reference = scalar_kernel(mw);
  if (!fast) return;
  Random random = seeded(1);
  for (unsigned round = 0; round < 8000; ++round) {
    const OperandEntry a = random_entry(random, round), b = random_entry(random, round / 5);
    const unsigned anchor = round % 2 ? kGemmAnchor : static_cast<unsigned>(random() % 256);
    SubTile expected, got, tile;
    reference.chain(a, b, anchor, expected);
    fast->chain(a, b, anchor, got);
    expect_equal(expected, got, mw, "chain");
    for (auto& lane : tile.lane) lane = random_acc(random, mw, round);
    if (round % 4 == 3)  // cancellation against what the chain is about to add
      for (unsigned i = 0; i < kSubTileLanes; ++i)
        tile.lane[i] = (expected.lane[i] ^ 1u << (mw + 7)) + static_cast<std::uint32_t>(random() % 3) - 1;
    if (mw < 24)
      for (auto& lane : tile.lane) lane &= (1u << (mw + 8)) - 1;
    expected = got = tile;
    reference.add_chain(a, b, anchor, expected);
    fast->add_chain(a, b, anchor, got);
    expect_equal(expected, got, mw, "add_chain");
    reference.load_chain(a, b, anchor, expected);
    fast->load_chain(a, b, anchor, got);
    expect_equal(expected, got, mw, "load_chain");
    if (HasFatalFailure()) return;
  }
}

// Every partial from 0 to 126,975 and its negative under odd scale mantissas: products above 24 bits, which
// random operands almost never make, meet every rounding case here.
TEST_P(KernelWidth, ChainAgreesOnEveryPartial) {
  const unsigned mw = GetParam();
  const AccumulateKernel *fast = simd(), &reference = scalar_kernel(mw);
  if (!fast) return;
  OperandEntry a, b;
  for (unsigned row = 0; row < kLanes; ++row) {
    std::fill_n(a.q[row], kBlockK, static_cast<std::int8_t>(row == 2 ? 63 : -64));
    a.q[row][31] = row == 2 ? -1 : 1;
    a.scale[row] = static_cast<std::uint8_t>(0x60 + 1 + 2 * row);  // mantissas 9, 11, 13, 15
  }
  for (int first = 0; first + 3 < 31 * 4096; first += 4) {
    for (unsigned column = 0; column < kLanes; ++column) {  // -64 * -(64 n + x) + y
      const int part = first + static_cast<int>(column), full = part / 4096, x = part % 4096 / 64;
      for (int k = 0; k < 31; ++k)
        b.q[column][k] = static_cast<std::int8_t>(k < full ? -64 : k == full ? -x : 0);
      b.q[column][31] = static_cast<std::int8_t>(part % 64);
    }
    for (unsigned mantissa = 1; mantissa < 8; mantissa += 2) {
      for (auto& scale : b.scale) scale = static_cast<std::uint8_t>(0x98 + mantissa);
      SubTile expected, got;
      reference.chain(a, b, kGemmAnchor, expected);
      fast->chain(a, b, kGemmAnchor, got);
      expect_equal(expected, got, mw, "chain");
      if (HasFatalFailure()) return;
    }
    ASSERT_EQ(dot_of(a, b, 0, 3), first + 3);
  }
}

TEST_P(KernelWidth, AddAndEmitAgree) {
  const unsigned mw = GetParam();
  const AccumulateKernel *fast = simd(), &reference = scalar_kernel(mw);
  if (!fast) return;
  Random random = seeded(2);
  for (unsigned round = 0; round < 8000; ++round) {
    SubTile tile, x;
    for (unsigned i = 0; i < kSubTileLanes; ++i) {
      tile.lane[i] = random_acc(random, mw, round);
      x.lane[i] = random_acc(random, mw, round / 2);
      const auto near = static_cast<std::uint32_t>(random() % 5);
      if (round % 4 == 1 && near < 3 && acc_mantissa(tile.lane[i], mw) > 1)
        x.lane[i] = (tile.lane[i] ^ 1u << (mw + 7)) - near;  // exact or almost exact cancellation
      if (round % 4 == 2)                                    // every exponent distance around the guard width
        x.lane[i] = acc_pack(static_cast<std::uint32_t>(random() & 1), 100, x.lane[i] & ((1u << mw) - 1), mw),
        tile.lane[i] =
            acc_pack(0, 100 - static_cast<unsigned>(random() % 40), tile.lane[i] & ((1u << mw) - 1), mw);
    }
    EXPECT_EQ(reference.emit(tile), fast->emit(tile)) << "mw " << mw;
    SubTile expected = tile, got = tile;
    reference.add(expected, x);
    fast->add(got, x);
    expect_equal(expected, got, mw, "add");
    EXPECT_EQ(reference.emit(expected), fast->emit(expected)) << "mw " << mw;
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

// Every exponent pair of both signs, with mantissas at the edges.
TEST_P(KernelWidth, AddAgreesOnEveryExponentPair) {
  const unsigned mw = GetParam();
  const AccumulateKernel *fast = simd(), &reference = scalar_kernel(mw);
  if (!fast) return;
  const std::uint32_t mask = (1u << mw) - 1;
  const std::uint32_t edge[] = {0, 1, mask, mask - 1};
  for (unsigned ea = 0; ea < 128; ++ea)
    for (unsigned eb = 0; eb < 128; ++eb)
      for (std::uint32_t sign = 0; sign < 4; ++sign) {
        SubTile expected, x;
        for (unsigned i = 0; i < kSubTileLanes; ++i) {
          expected.lane[i] = acc_pack(sign & 1, ea, edge[i % 4], mw);
          x.lane[i] = acc_pack(sign >> 1, eb, edge[i / 4], mw);
        }
        SubTile got = expected;
        reference.add(expected, x);
        fast->add(got, x);
        expect_equal(expected, got, mw, "add");
        if (HasFatalFailure()) return;
      }
}

INSTANTIATE_TEST_SUITE_P(Mw, KernelWidth, testing::Range(kMinAccMw, kMaxAccMw + 1),
                         [](const auto& instance) { return std::to_string(instance.param); });

TEST(NumberFormats6, DotProductsAtTheirLimits) {
  OperandEntry low, high;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    std::fill_n(low.q[lane], kBlockK, std::int8_t{-64});
    std::fill_n(high.q[lane], kBlockK, std::int8_t{63});
    low.scale[lane] = high.scale[lane] = 0xA0;
  }
  for (const AccumulateKernel* kernel : {&scalar_kernel(14), avx2_kernel(14)}) {
    if (!kernel) continue;
    SubTile tile;
    kernel->chain(low, low, 40, tile);  // 131,072 in every lane
    for (const std::uint32_t lane : tile.lane) EXPECT_EQ(lane, 0x140000u) << kernel->name;
    kernel->chain(low, high, 40, tile);  // -129,024
    for (const std::uint32_t lane : tile.lane)
      EXPECT_EQ(lane, normalise(-129024, 0xA0, 0xA0, 40, 14)) << kernel->name;
    kernel->chain(high, high, 40, tile);  // 127,008
    for (const std::uint32_t lane : tile.lane)
      EXPECT_EQ(lane, normalise(127008, 0xA0, 0xA0, 40, 14)) << kernel->name;
  }
}

// Row i of A meets column j of B in lane 4i + j, with their own scales.
TEST(NumberFormats5_4, LaneIsRowTimesFourPlusColumn) {
  OperandEntry a, b;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    a.q[lane][lane + 3] = 1;
    for (unsigned k = 0; k < kBlockK; ++k) b.q[lane][k] = static_cast<std::int8_t>(k + lane * 8);
    a.scale[lane] = static_cast<std::uint8_t>(0xA0 + lane);
    b.scale[lane] = static_cast<std::uint8_t>(0x98 - 8 * lane);
  }
  for (const AccumulateKernel* kernel : {&scalar_kernel(14), avx2_kernel(14)}) {
    if (!kernel) continue;
    SubTile tile;
    kernel->load_chain(a, b, 40, tile);
    for (unsigned row = 0; row < 4; ++row)
      for (unsigned column = 0; column < 4; ++column)
        EXPECT_EQ(tile.lane[row * 4 + column],
                  normalise(static_cast<int>(row + 3 + column * 8), a.scale[row], b.scale[column], 40, 14))
            << kernel->name << " row " << row << " column " << column;
  }
}

TEST(NumberFormats8, CommandsAtTheirEdges) {
  for (const AccumulateKernel* kernel : {&scalar_kernel(14), avx2_kernel(14)}) {
    if (!kernel) continue;
    // A chain whose exponent wraps to 0 is kept by chain, loaded as all zeros, and added as zero.
    OperandEntry a, b;
    for (unsigned lane = 0; lane < kLanes; ++lane) a.q[lane][0] = b.q[lane][0] = 1, b.scale[lane] = 0x01;
    SubTile chain, tile;
    const unsigned anchor = 63;  // exponent 6 + (0 + 0 - 63 - 6) + 63 = 0 with mantissa bits set
    kernel->chain(a, b, anchor, chain);
    EXPECT_EQ(acc_exponent(chain.lane[0], 14), 0u) << kernel->name;
    EXPECT_NE(chain.lane[0], 0u) << kernel->name;
    tile.lane[0] = 0x123456;
    kernel->load_chain(a, b, anchor, tile);
    EXPECT_EQ(tile.lane[0], 0u) << kernel->name;
    tile.lane[0] = 0x1FC001;  // exponent 127 passes through an add with zero unchanged
    tile.lane[1] = 0x203FFF;  // exponent 0 on both sides gives all zeros
    kernel->add_chain(a, b, anchor, tile);
    EXPECT_EQ(tile.lane[0], 0x1FC001u) << kernel->name;
    EXPECT_EQ(tile.lane[1], 0u) << kernel->name;
    // EMIT never shows a negative zero of a stored zero, but a flushed negative value is one.
    SubTile out;
    out.lane[0] = 0x203FFF;
    out.lane[1] = 0x2C0000;
    out.lane[15] = 0x0FC000;
    EXPECT_EQ(kernel->emit(out), (Word256{0x80000000, 0, 0, 0x3C00ull << 48})) << kernel->name;
  }
}

TEST(AccumulateKernelChoice, SimdCanBeSwitchedOffAndIsNamed) {
  const bool available = avx2_kernel(14) != nullptr;
  EXPECT_EQ(set_simd(true), available);
  EXPECT_EQ(simd_name(), available ? "avx2" : "scalar");
  EXPECT_EQ(accumulate_kernel(14).name, simd_name());
  EXPECT_FALSE(set_simd(false));
  EXPECT_EQ(simd_name(), "scalar");
  EXPECT_EQ(accumulate_kernel(9).name, "scalar");
  set_simd(true);
  EXPECT_THROW(accumulate_kernel(8), InternalError);
  EXPECT_THROW(accumulate_kernel(25), InternalError);
}

}  // namespace
}  // namespace ktpu::arch
