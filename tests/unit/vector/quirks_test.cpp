// SPDX-License-Identifier: Apache-2.0
// vector.md section 14 and quirks.md, V1 to V12: as the reference does it, and as intended.
#include "tests/unit/vector/kernel_bench.h"

namespace ktpu::test {
namespace {

using arch::QuirkId;

class Quirk : public testing::TestWithParam<bool> {
 protected:
  bool reference() const { return GetParam(); }
  KernelBench b{GetParam()};
  void expect_hits(QuirkId id) {
    if (reference())
      EXPECT_GT(b.hits(id), 0u);
    else
      EXPECT_EQ(b.hits(id), 0u);
  }
};

TEST_P(Quirk, V1TheWalkOfAnFp32StoreLags) {
  integers(b, 1);
  b.walk({2, 100, 1, 2});
  b.run(Kernel().fill(0, 0).bar().length(16).load(1, 1).store(1, 2, 2).halt());
  const std::uint64_t low = 0x3F80000000000000;   // elements 0 and 1: 0.0, 1.0
  const std::uint64_t high = 0x4110000041000000;  // elements 8 and 9
  EXPECT_EQ(b.core().l1(100)[0], reference() ? high : low);
  EXPECT_EQ(b.core().l1(101)[0], reference() ? 0 : high);
  expect_hits(QuirkId::kV1);
}

TEST_P(Quirk, V1TheWalkStillAdvancesByTwoForEachChunk) {
  integers(b, 3);
  b.walk({2, 100, 1, 6});
  b.run(Kernel().fill(0, 0).bar().length(48).load(1, 1).store(1, 2, 2).halt());
  // Elements 8j and 8j + 1 of the register, two to a 64-bit word.
  constexpr std::array<std::uint64_t, 6> kEighth{0x3F80000000000000, 0x4110000041000000, 0x4188000041800000,
                                                 0x41C8000041C00000, 0x4204000042000000, 0x4224000042200000};
  for (unsigned j = 0; j < 3; ++j) {
    EXPECT_EQ(b.core().l1(100 + 2 * j)[0], reference() ? kEighth[2 * j + 1] : kEighth[2 * j]) << j;
    EXPECT_EQ(b.core().l1(101 + 2 * j)[0], reference() ? 0 : kEighth[2 * j + 1]) << j;
  }
}

TEST_P(Quirk, V2AConversionIsOneReadBehind) {
  integers(b, 2);
  b.run(Kernel()
            .fill(0, 0)
            .bar()
            .length(32)
            .load(1, 1)
            .seti(2, kThree)
            .spread(3, 2)
            .op(VectorOpcode::kVmov, 4, 3)  // reads v3 last
            .convert(5, 1, 1)
            .halt());
  EXPECT_EQ(b.core().element(5, 1), reference() ? kThree : kOne);
  EXPECT_EQ(b.core().element(5, 17), reference() ? kOne : 0x418800u);  // 17.0
  expect_hits(QuirkId::kV2);
}

TEST_P(Quirk, V3APredicateIsReadBeforeItsCompareHasWrittenIt) {
  integers(b, 1);
  const auto result = b.run(Kernel()
                                .fill(0, 0)
                                .bar()
                                .length(16)
                                .load(1, 1)
                                .seti(2, kThree)
                                .spread(3, 2)
                                .compare(VectorOpcode::kVcmplt, 0, 1, 3)
                                .masked(VectorOpcode::kVmov, 5, 1, 0, 1)
                                .halt());
  ASSERT_EQ(result.code, 0u);
  EXPECT_EQ(b.core().element(5, 2), reference() ? 0 : kTwo);
  expect_hits(QuirkId::kV3);
}

TEST_P(Quirk, V3NotWithEnoughBetween) {
  integers(b, 1);
  b.run(Kernel()
            .fill(0, 0)
            .bar()
            .length(16)
            .load(1, 1)
            .seti(2, kThree)
            .spread(3, 2)
            .compare(VectorOpcode::kVcmplt, 0, 1, 3)
            .seti(6, 0)
            .seti(6, 0)
            .masked(VectorOpcode::kVmov, 5, 1, 0, 1)
            .halt());
  EXPECT_EQ(b.core().element(5, 2), kTwo) << "two VSETI suffice (section 12.4)";
  EXPECT_EQ(b.hits(QuirkId::kV3), 0u);
}

// Beats of the same phase are 31 cycles apart: the least with which a D2 compare is seen (section 12.4).
TEST_P(Quirk, V3NotAtTheLeastDistanceOfAGroup) {
  const auto cycles = [&](unsigned pm) {
    Kernel k;
    k.length(128).mode(VectorMode::kD2);
    k.stage(VectorOpcode::kVmov, 6, kV, 0);
    VectorWord w = Kernel::arithmetic(VectorOpcode::kVcmplt, 6, 0);
    w.sa = kC;
    w.sb = w.sc = kK;
    w.pr = 1;
    k.add(w).seti(3, 1).stage(VectorOpcode::kVmov, 7, kV, 0);
    w.op = static_cast<std::uint32_t>(VectorOpcode::kVmov);
    w.vd = 7;
    w.pm = pm;
    return b.run(k.add(w).halt()).arg;
  };
  EXPECT_EQ(cycles(1), cycles(0)) << "nothing to wait for";
  EXPECT_EQ(b.hits(QuirkId::kV3), 0u);
}

// The bits that are on their way are not below VL.
TEST_P(Quirk, V3NotForBitsThatAnyDoesNotRead) {
  Kernel k;
  k.length(128).seti(1, 16).seti(2, 1).compare(VectorOpcode::kVcmpeq, 1, 0, 0).setvl(1).seti(2, 1);
  VectorWord any = word(VectorOpcode::kVred);
  any.kind = static_cast<std::uint32_t>(ReduceKind::kAny);
  any.vd = 7;
  any.pr = 1;
  b.run(k.add(any).halt());
  EXPECT_EQ(b.core().scalar(7), kOne);
  EXPECT_EQ(b.cost(7), 4u) << "E + 1";
  EXPECT_EQ(b.hits(QuirkId::kV3), 0u);
}

TEST_P(Quirk, V4AnyUsesThePredicateNumberOfTheInstructionBefore) {
  integers(b, 1);
  b.run(Kernel()
            .fill(0, 0)
            .bar()
            .length(16)
            .load(1, 1)
            .seti(2, kThree)
            .spread(3, 2)
            .compare(VectorOpcode::kVcmplt, 1, 1, 3)
            .mode(VectorMode::kFlat)
            .reduce(ReduceKind::kAny, 7, 0, 0, 2)  // P2 is all zero, P1 is not
            .reduce(ReduceKind::kAny, 8, 0, 0, 2)
            .halt());
  EXPECT_EQ(b.core().scalar(7), reference() ? kOne : 0u);
  EXPECT_EQ(b.core().scalar(8), 0u) << "its own number counts for the next one";
  expect_hits(QuirkId::kV4);
}

TEST_P(Quirk, V5TheWriteBackOfExpsumIsMasked) {
  integers(b, 1);
  b.run(Kernel()
            .fill(0, 0)
            .bar()
            .length(16)
            .load(1, 1)
            .masked(VectorOpcode::kVmov, 5, 1, 0, 1)  // leaves pm = 1 behind; P0 is all zero
            .mode(VectorMode::kTree)
            .reduce(ReduceKind::kExpsum, 7, 1, 6)
            .halt());
  EXPECT_EQ(b.core().element(6, 1), reference() ? 0 : kTwo);
  expect_hits(QuirkId::kV5);
}

TEST_P(Quirk, V6ADeepGroupOfEightChunksIsUnprotected) {
  integers(b, 8);
  Kernel k;
  k.fill(0, 0).bar().length(128).load(1, 1).mode(VectorMode::kD4);
  for (unsigned round = 0; round < 2; ++round)  // v2 = v1 + 3, then v3 = v2 + 3
    for (unsigned t = 0; t < 4; ++t)
      k.stage(VectorOpcode::kVadd, 2 + round, t == 0 ? kV : kC, 1 + round, kK, 0, kK, t == 0 ? 0 : 1);
  b.run(k.halt());
  expect_hits(QuirkId::kV6);
  EXPECT_EQ(b.core().element(2, 0), kThree);
  // 3 + 3, or, of a v2 that was read before it was written, 0 + 3.
  EXPECT_EQ(b.core().element(3, 0), reference() ? kThree : 0x40C000u);
}

TEST_P(Quirk, V7Exp2Wraps) {
  b.run(Kernel().length(16).seti(1, 0x434800).spread(2, 1).op(VectorOpcode::kVexp2, 3, 2).halt());
  EXPECT_EQ(b.core().element(3, 0), reference() ? 0x238000u : 0x7F8000u);
  if (reference()) {
    EXPECT_EQ(b.hits(QuirkId::kV7), 16u) << "each operand";
  }
  expect_hits(QuirkId::kV7);
}

TEST_P(Quirk, V9ArithmeticInTreeMode) {
  Kernel k;
  k.length(16).mode(VectorMode::kTree);
  for (unsigned t = 0; t < 4; ++t) k.stage(VectorOpcode::kVadd, 2, t == 0 ? kV : kC, 0);
  k.mode(VectorMode::kFlat).op(VectorOpcode::kVmov, 3, 2).halt();
  const auto result = b.run(k, 5'000);
  if (reference()) {
    EXPECT_FALSE(result.completed) << "the next user of v2 waits for ever";
    const auto waits = b.core().waits(b.rig().now());
    ASSERT_EQ(waits.size(), 1u);
    EXPECT_EQ(waits[0].what,
              "VMOV at word 9: v2, which nothing will write: it is the destination of an arithmetic group in "
              "TREE mode (V9)");
  } else {
    EXPECT_EQ(result.code, 4u);
    EXPECT_EQ(result.arg, 4u);
  }
  expect_hits(QuirkId::kV9);
}

// Its beats take longer than those of a reduction, which does not look at the scoreboard.
TEST(Vector_S14_Q9, AReductionBehindADiscardedGroupGetsItsResults) {
  KernelBench b;
  integers(b, 1);
  Kernel k;
  k.fill(0, 0).bar().length(16).load(1, 1).mode(VectorMode::kTree);
  for (unsigned t = 0; t < 4; ++t) k.stage(VectorOpcode::kVadd, 2, t == 0 ? kV : kC, 0);
  k.reduce(ReduceKind::kExpsum, 7, 1, 6).mode(VectorMode::kFlat).op(VectorOpcode::kVmov, 3, 6).halt();
  ASSERT_TRUE(b.run(k, 5'000).completed);
  EXPECT_EQ(b.core().element(6, 1), kTwo);
  EXPECT_EQ(b.core().element(3, 1), kTwo);
}

TEST_P(Quirk, V10WordsOfAGroupAreNotCheckedToBeArithmetic) {
  // 0x12 acts as VINV.
  VectorWord w = word(VectorOpcode::kVmov);
  w.sa = kC;
  w.sb = w.sc = kK;
  w.vd = 4;
  const std::uint32_t as_vcvt = (arch::encode_vector_word(w) & 0x07FFFFFF) | 0x12u << 27;
  const auto result = b.run(Kernel()
                                .length(16)
                                .seti(1, kTwo)
                                .spread(2, 1)
                                .mode(VectorMode::kD2)
                                .stage(VectorOpcode::kVmov, 4, kV, 2)
                                .raw(as_vcvt)
                                .halt());
  if (reference()) {
    EXPECT_EQ(result.code, 0u);
    EXPECT_EQ(b.core().element(4, 0), 0x3F0000u);  // 0.5
  } else {
    EXPECT_EQ(result.arg, 4u);
  }
  expect_hits(QuirkId::kV10);
}

TEST_P(Quirk, V12ALoopThatEndsInsideAGroup) {
  const auto result = b.run(Kernel()
                                .length(16)
                                .seti(1, 3)
                                .mode(VectorMode::kD2)
                                .loop(1, 1)
                                .stage(VectorOpcode::kVmov, 4, kV, 2)
                                .stage(VectorOpcode::kVmov, 4, kC, 0)
                                .halt());
  if (reference()) {
    EXPECT_EQ(result.code, 0u) << "the end is passed by and the loop never closes";
  } else {
    EXPECT_EQ(result.code, 4u);
    EXPECT_EQ(result.arg, 6u);
  }
  expect_hits(QuirkId::kV12);
}

INSTANTIATE_TEST_SUITE_P(BothModes, Quirk, testing::Bool(),
                         [](const auto& mode) { return mode.param ? "reference" : "none"; });

}  // namespace
}  // namespace ktpu::test
