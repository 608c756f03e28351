// SPDX-License-Identifier: Apache-2.0
// compiler.md sections 18 and 25: what no vector program can hold.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/schedule_to_program/lane_words.h"
#include "compiler/schedule_to_program/limits.h"
#include "tests/unit/compiler/schedule_maker.h"

namespace ktpu::schedule_to_program {
namespace {

void expect_row(std::uint64_t columns, bool alone, const char* code) {
  Maker m;
  const std::uint64_t span = 4 * columns;
  const auto x = m.buffer(span), y = m.buffer(span);
  Chain c = chain(y, LaneOp::kRowSum, {memory(x)}, span, base::RowShape{4, columns});
  c.reduce = alone;
  m.chains({c});
  EXPECT_EQ(m.told().code, code) << columns;
}

TEST(Compiler18Refusals, RowsThatAreNoMultipleOf16OrWiderThanTheLanes) {
  for (const bool alone : {false, true}) {
    expect_row(8, alone, "ROW_WIDTH");
    expect_row(24, alone, "ROW_WIDTH");
    expect_row(144, alone, "ROW_WIDTH");
    expect_row(128, alone, "");
  }
}

TEST(Compiler18Refusals, RowsCutOrUnknownOrOfTwoShapes) {
  for (const bool alone : {false, true}) {
    Maker m;
    const auto x = m.buffer(960), y = m.buffer(960);
    Chain c = chain(y, LaneOp::kRowMax, {memory(x)}, 100, base::RowShape{20, 48});
    c.reduce = alone;
    m.chains({c});
    EXPECT_EQ(m.told().code, "PART_CUTS_ROW");
    Maker unknown;
    const auto a = unknown.buffer(960), b = unknown.buffer(960);
    Chain d = chain(b, LaneOp::kRowMax, {memory(a)}, 960);
    d.reduce = alone;
    unknown.chains({d});
    EXPECT_EQ(unknown.told().code, "ROW_UNKNOWN");
  }
  Maker m;
  const auto x = m.buffer(512), y = m.buffer(512);
  Chain c = chain(y, LaneOp::kRowSum, {memory(x)}, 512, base::RowShape{16, 32});
  c.expr.set_root(c.expr.op(LaneOp::kRowSum, {c.expr.root(), 0, 0}, base::RowShape{32, 16}));
  m.chains({c});
  EXPECT_EQ(m.told().code, "ROW_SHAPES");
}

TEST(Compiler18Refusals, MoreThanThreeOperands) {
  Maker m;
  std::vector<Leaf> leaves;
  for (int i = 0; i < 3; ++i) leaves.push_back(memory(m.buffer(1024)));
  const auto y = m.buffer(1024);
  // A fourth leaf that is a constant moves into a register.
  leaves.push_back(constant(2.5));
  m.chains({chain(y, LaneOp::kAdd, leaves, 1024)});
  EXPECT_EQ(m.told().code, "");
  leaves.back() = memory(m.buffer(1024));
  m.schedule().stages.clear();
  m.chains({chain(y, LaneOp::kAdd, leaves, 1024)});
  EXPECT_EQ(m.told().code, "OPERANDS");
}

TEST(Compiler18Refusals, OperationsWithoutAnInstruction) {
  for (const auto& [op, code] : {std::pair{LaneOp::kSqrt, "NO_LANE_OP"},
                                 {LaneOp::kRelu, "NO_LANE_OP"},
                                 {LaneOp::kCast, "NO_LANE_OP"},
                                 {LaneOp::kLess, "LONE_COMPARE"},
                                 {LaneOp::kGreater, "LONE_COMPARE"},
                                 {LaneOp::kEqual, "LONE_COMPARE"}}) {
    Maker m;
    const auto x = m.buffer(1024), y = m.buffer(1024);
    std::vector<Leaf> leaves{memory(x)};
    if (base::info(op).arguments == 2) leaves.push_back(memory(x, 16));
    m.chains({chain(y, op, leaves, 1008)});
    EXPECT_EQ(m.told().code, code);
    EXPECT_EQ(m.told().phase, Phase::kBuild);
  }
}

TEST(Compiler18Refusals, ABareOperand) {
  Maker m;
  const auto x = m.buffer(1024), y = m.buffer(1024);
  Chain c;
  c.result = {y, 0};
  c.leaves = {memory(x)};
  c.span = c.asked_span = 1024;
  c.expr.set_root(c.expr.leaf(0));
  m.chains({c});
  EXPECT_EQ(m.told().code, "NO_OPERATION");
}

// A comparison of which the result is used twice is no choice either.
TEST(Compiler18Refusals, ASharedComparison) {
  Maker m;
  const auto x = m.buffer(1024), y = m.buffer(1024);
  Chain c = chain(y, LaneOp::kLess, {memory(x), memory(x, 16)}, 1008);
  const Expr::Id compare = c.expr.root();
  c.expr.set_root(c.expr.op(LaneOp::kSelect, {compare, compare, c.expr.leaf(0)}));
  m.chains({c});
  EXPECT_EQ(m.told().code, "LONE_COMPARE");
}

TEST(Compiler18Refusals, TooLongAnImage) {
  Maker m;
  const auto x = m.buffer(1024), y = m.buffer(1024);
  Chain c = chain(y, LaneOp::kNeg, {memory(x)}, 1024);
  for (int i = 0; i < 63; ++i) c.expr.set_root(c.expr.op(LaneOp::kNeg, {c.expr.root(), 0, 0}));
  m.chains({c});
  EXPECT_EQ(m.told().code, "IMAGE_TOO_LONG");
}

// Each value is used twice, so each has a register: v0 is the operand's, v7 and v8 are taken.
TEST(Compiler18Refusals, TooFewRegisters) {
  const auto told = [](int values) {
    Maker m;
    const auto x = m.buffer(128), y = m.buffer(128);
    Chain c = chain(y, LaneOp::kNeg, {memory(x)}, 128);
    Expr::Id sum = c.expr.root(), value = sum;
    for (int i = 1; i < values; ++i) {
      value = c.expr.op(LaneOp::kExp2, {value, 0, 0});
      sum = c.expr.op(LaneOp::kAdd, {sum, value, 0});
    }
    c.expr.set_root(sum);
    m.chains({c});
    return m.told().code;
  };
  EXPECT_EQ(told(13), "");
  EXPECT_EQ(told(14), "REGISTERS");
}

TEST(Compiler18Refusals, MoreConstantsThanScalarRegisters) {
  const auto told = [](int constants) {
    Maker m;
    const auto x = m.buffer(128), y = m.buffer(128);
    std::vector<Leaf> leaves{memory(x)};
    for (int k = 0; k < constants; ++k) leaves.push_back(constant(k + 2.5));
    m.chains({chain(y, LaneOp::kAdd, leaves, 128)});
    return m.told().code;
  };
  EXPECT_EQ(told(12), "");
  EXPECT_EQ(told(13), "REGISTERS");
}

TEST(Compiler18Refusals, L1Footprint) {
  EXPECT_TRUE(fits_l1(0) && fits_l1(320) && fits_l1(512));
  EXPECT_FALSE(fits_l1(321) || fits_l1(511) || fits_l1(513));
  EXPECT_EQ(refused([] { require_l1(321); }).code, "L1_FOOTPRINT");
  EXPECT_EQ(refused([] { rows_per_pass(7, 200); }).code, "L1_FOOTPRINT");
  // A core with less.
  EXPECT_TRUE(fits_l1(64, 64) && fits_l1(320, 512) && !fits_l1(65, 64) && !fits_l1(321, 400));
  EXPECT_EQ(refused([] { require_l1(33, 32); }).code, "L1_FOOTPRINT");
  EXPECT_EQ(rows_per_pass(100, 4, 64), 5u);
  EXPECT_EQ(refused([] { rows_per_pass(1, 17, 32); }).code, "L1_FOOTPRINT");
  EXPECT_EQ(rows_per_pass(100, 4), 25u);
  EXPECT_EQ(rows_per_pass(67, 4), 1u);
  EXPECT_EQ(rows_per_pass(128, 1), 128u);
}

TEST(Compiler18Refusals, SpreadsThatNoRunCanRead) {
  const auto told = [](std::uint64_t span, std::uint64_t period, std::uint64_t take) {
    Maker m;
    const auto x = m.buffer(span), y = m.buffer(span);
    Leaf spread = memory(x);
    spread.period = period;
    spread.take = take;
    m.chains({chain(y, LaneOp::kNeg, {spread}, span)});
    return m.told().code;
  };
  EXPECT_EQ(told(1024, 256, 128), "");
  EXPECT_EQ(told(1152, 72, 24), "SPREAD_SHAPE");   // no whole words
  EXPECT_EQ(told(1024, 256, 96), "SPREAD_SHAPE");  // does not divide
  EXPECT_EQ(told(960, 960, 960), "SPREAD_SHAPE");  // no step count makes 960 of steps of 128
}

TEST(Compiler18Refusals, AnInstanceThatBeginsInsideAGroup) {
  Maker m;
  const auto x = m.buffer(2048), y = m.buffer(2048);
  std::vector<std::vector<Statement>> instances;
  for (const std::uint64_t at : {0, 1024}) {
    Leaf spread = memory(x, at);
    spread.period = 2048;
    spread.take = 128;
    Chain c = chain(y, LaneOp::kNeg, {spread}, 1024);
    c.result.at = c.asked_at = at;
    instances.push_back({c});
  }
  m.stage(UnitType::kVector, instances);
  EXPECT_EQ(m.told().code, "SPREAD_START");
}

TEST(Compiler18Words, ReductionsTakeTheScalarsInTurn) {
  ReductionScalars scalars;
  EXPECT_EQ(scalars.next(), 1u);
  EXPECT_EQ(scalars.next(), 2u);
  EXPECT_EQ(scalars.next(), 3u);
  EXPECT_EQ(scalars.next(), 1u);
}

TEST(Compiler18Words, ASeededConstantIsCutNotRounded) {
  Image image;
  image.constant(4, std::nextafter(2.0, 0.0));  // rounds to 2.0 as FP32
  image.constant(5, 1.0 + 0x1.fep-16);          // all of it below the last bit kept
  EXPECT_EQ(image.words()[1], 0x400000u);
  EXPECT_EQ(image.words()[3], 0x3F8000u);
}

}  // namespace
}  // namespace ktpu::schedule_to_program
