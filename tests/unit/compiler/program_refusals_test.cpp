// SPDX-License-Identifier: Apache-2.0
// compiler.md sections 17, 18 and 25: what building a unit's program refuses, and what policy best does where
// the reference is not right.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "compiler/base/refusal.h"
#include "compiler/schedule_to_program/lane_words.h"
#include "compiler/schedule_to_program/limits.h"
#include "compiler/schedule_to_program/lower.h"

namespace ktpu::schedule_to_program {
namespace {

using base::Expr;
using base::LaneOp;
using base::Phase;
using schedule::Chain;
using schedule::Leaf;
using schedule::Policy;
using schedule::Statement;
using schedule::UnitType;

struct Told {
  std::string code;
  Phase phase = Phase::kBind;
  bool cannot_fuse = false;
};
Told refused(const std::function<void()>& action) {
  try {
    action();
  } catch (const base::CannotFuse& refusal) {
    return {refusal.code(), refusal.phase(), true};
  } catch (const base::Refusal& refusal) {
    return {refusal.code(), refusal.phase(), false};
  }
  return {};
}

// Buffers x, y, z, w, ... of `elements` each, one after the other.
class Maker {
 public:
  explicit Maker(Policy policy = Policy::kCompat) { schedule_.policy = policy; }

  schedule::BufferId buffer(std::uint64_t elements) {
    schedule::Buffer b;
    b.name = fmt::format("b{}", schedule_.buffers.size());
    b.nbytes = elements * 2;
    b.held = b.held_widest = elements;
    b.address = schedule::global_address(0, next_);
    next_ += ceil_div(b.nbytes, 2048) * 2048;
    schedule_.buffers.push_back(b);
    return static_cast<schedule::BufferId>(schedule_.buffers.size() - 1);
  }
  schedule::Buffer& operator[](schedule::BufferId id) { return schedule_.buffers[id]; }
  schedule::Schedule& schedule() { return schedule_; }
  void stage(UnitType unit, std::vector<std::vector<Statement>> instances) {
    schedule::Stage stage;
    stage.unit = unit;
    for (std::int32_t i = 0; auto& statements : instances) {
      schedule::Instance instance;
      instance.key = {i++};
      instance.statements = std::move(statements);
      stage.instances.push_back(std::move(instance));
    }
    schedule_.stages.push_back(std::move(stage));
  }
  program::Program lowered() const { return lower(schedule_); }
  Told told() const {
    return refused([&] { lowered(); });
  }

 private:
  schedule::Schedule schedule_;
  std::uint64_t next_ = 0x8010'0000;
};

Leaf memory(schedule::BufferId id, std::uint64_t at = 0) {
  Leaf leaf;
  leaf.stretch = {id, at};
  leaf.asked_at = at;
  return leaf;
}
Leaf constant(double value) {
  Leaf leaf;
  leaf.kind = Leaf::Kind::kConstant;
  leaf.value = value;
  return leaf;
}
Leaf resident(std::uint32_t slot) {
  Leaf leaf;
  leaf.kind = Leaf::Kind::kResident;
  leaf.slot = slot;
  return leaf;
}
Leaf channel(schedule::BufferId id) {
  Leaf leaf;
  leaf.kind = Leaf::Kind::kChannel;
  leaf.stretch = {id, 0};
  return leaf;
}

// result <- leaf 0 op leaf 1 op ... (or op leaf 0).
Chain chain(schedule::BufferId result, LaneOp op, std::vector<Leaf> leaves, std::uint64_t span,
            std::optional<base::RowShape> row = {}) {
  Chain c;
  c.result = {result, 0};
  c.leaves = std::move(leaves);
  c.span = c.asked_span = span;
  Expr::Id value = c.expr.leaf(0);
  if (base::info(op).arguments == 1) {
    value = c.expr.op(op, {value, 0, 0}, row);
  } else {
    for (std::uint32_t l = 1; l < c.leaves.size(); ++l)
      value = c.expr.op(op, {value, c.expr.leaf(l), 0}, row);
    if (c.leaves.size() == 1) value = c.expr.op(op, {value, value, 0}, row);
  }
  c.expr.set_root(value);
  return c;
}

schedule::Fill fill(schedule::BufferId buffer, std::uint32_t groups, std::uint32_t blocks) {
  schedule::Fill f;
  f.buffer = buffer;
  f.groups = groups;
  f.blocks = blocks;
  return f;
}

const std::vector<program::ClusterStep>& cluster_steps(const program::Program& program) {
  return std::get<std::vector<program::ClusterStep>>(program.stages.at(0).instances.at(0).steps);
}
const std::vector<program::VectorStep>& vector_steps(const program::Program& program,
                                                     std::size_t instance = 0) {
  return std::get<std::vector<program::VectorStep>>(program.stages.at(0).instances.at(instance).steps);
}
std::size_t runs(const std::vector<program::VectorStep>& steps) {
  return static_cast<std::size_t>(
      std::count_if(steps.begin(), steps.end(), [](const auto& s) { return s.is(arch::VectorOp::kRun); }));
}

// --- Section 17.
TEST(Compiler17Refusals, AChunkOfMoreThanABank) {
  Maker m;
  const auto x = m.buffer(1 << 20);
  m.stage(UnitType::kCluster, {{fill(x, 257, 1)}});
  EXPECT_EQ(m.told().code, "CHUNK_OVER_BANK");
  EXPECT_EQ(m.told().phase, Phase::kBuild);
}

TEST(Compiler17Refusals, OperandsOfASideThatTogetherPassTheBank) {
  Maker m;
  const auto x = m.buffer(1 << 20);
  schedule::Fill second = fill(x, 16, 8);
  second.operand = 1;
  m.stage(UnitType::kCluster, {{fill(x, 16, 8), second}});
  EXPECT_EQ(m.told().code, "");  // 128 + 128
  second.operand = 2;
  std::get<schedule::Fill>(m.schedule().stages[0].instances[0].statements[1]).blocks = 9;
  EXPECT_EQ(m.told().code, "REGION_OVER_BANK");
}

TEST(Compiler17Refusals, AFillPastTheEndOfItsOperand) {
  for (const Policy policy : {Policy::kCompat, Policy::kBest}) {
    Maker m(policy);
    const auto x = m.buffer(8 * 128 - 1);
    m.stage(UnitType::kCluster, {{fill(x, 8, 1)}});
    EXPECT_EQ(m.told().code, "FILL_PAST_END");
    m[x].held_widest = 8 * 128;  // a later order pads more
    EXPECT_EQ(m.told().code, policy == Policy::kBest ? "" : "FILL_PAST_END");
    m[x].held = 8 * 128;
    EXPECT_EQ(m.told().code, "");
  }
}

TEST(Compiler17Refusals, AFillOf256EntriesIsSplitUnderBest) {
  Maker m(Policy::kBest);
  const auto x = m.buffer(1 << 20);
  schedule::Fill chunk = fill(x, 32, 8);
  chunk.chunk = 1;
  chunk.chunks = 2;
  chunk.step = 1;
  m.stage(UnitType::kCluster, {{chunk}});
  const auto steps = cluster_steps(m.lowered());
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].inst.n, 255u);
  EXPECT_EQ(steps[1].inst.n, 1u);
  EXPECT_EQ(steps[1].inst.eoff, 255u);
  EXPECT_EQ(steps[1].inst.addr, steps[0].inst.addr + 255 * 256);
  EXPECT_EQ(steps[1].inst.fbank, 1u);
  m.schedule().policy = Policy::kCompat;
  ASSERT_EQ(cluster_steps(m.lowered()).size(), 1u);
  EXPECT_EQ(cluster_steps(m.lowered())[0].inst.n, 256u);  // for the encoder to refuse
}

TEST(Compiler17Refusals, BestUsesNothingAnEarlierStageHasFilled) {
  Maker m(Policy::kBest);
  m.stage(UnitType::kCluster, {{schedule::Gemm{}}});
  EXPECT_EQ(m.told().code, "GEMM_WITHOUT_FILL");
  m.schedule().policy = Policy::kCompat;
  EXPECT_EQ(m.told().code, "");
}

// --- Section 18.
void expect_row(std::uint64_t columns, bool alone, const char* code) {
  Maker m;
  const std::uint64_t span = 4 * columns;
  const auto x = m.buffer(span), y = m.buffer(span);
  Chain c = chain(y, LaneOp::kRowSum, {memory(x)}, span, base::RowShape{4, columns});
  c.reduce = alone;
  m.stage(UnitType::kVector, {{c}});
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
    m.stage(UnitType::kVector, {{c}});
    EXPECT_EQ(m.told().code, "PART_CUTS_ROW");
    Maker unknown;
    const auto a = unknown.buffer(960), b = unknown.buffer(960);
    Chain d = chain(b, LaneOp::kRowMax, {memory(a)}, 960);
    d.reduce = alone;
    unknown.stage(UnitType::kVector, {{d}});
    EXPECT_EQ(unknown.told().code, "ROW_UNKNOWN");
  }
  Maker m;
  const auto x = m.buffer(512), y = m.buffer(512);
  Chain c = chain(y, LaneOp::kRowSum, {memory(x)}, 512, base::RowShape{16, 32});
  c.expr.set_root(c.expr.op(LaneOp::kRowSum, {c.expr.root(), 0, 0}, base::RowShape{32, 16}));
  m.stage(UnitType::kVector, {{c}});
  EXPECT_EQ(m.told().code, "ROW_SHAPES");
}

TEST(Compiler18Refusals, MoreThanThreeOperands) {
  Maker m;
  std::vector<Leaf> leaves;
  for (int i = 0; i < 3; ++i) leaves.push_back(memory(m.buffer(1024)));
  const auto y = m.buffer(1024);
  // A fourth leaf that is a constant moves into a register.
  leaves.push_back(constant(2.5));
  m.stage(UnitType::kVector, {{chain(y, LaneOp::kAdd, leaves, 1024)}});
  EXPECT_EQ(m.told().code, "");
  leaves.back() = memory(m.buffer(1024));
  m.schedule().stages.clear();
  m.stage(UnitType::kVector, {{chain(y, LaneOp::kAdd, leaves, 1024)}});
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
    m.stage(UnitType::kVector, {{chain(y, op, leaves, 1008)}});
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
  m.stage(UnitType::kVector, {{c}});
  EXPECT_EQ(m.told().code, "NO_OPERATION");
}

// A comparison of which the result is used twice is no choice either.
TEST(Compiler18Refusals, ASharedComparison) {
  Maker m;
  const auto x = m.buffer(1024), y = m.buffer(1024);
  Chain c = chain(y, LaneOp::kLess, {memory(x), memory(x, 16)}, 1008);
  const Expr::Id compare = c.expr.root();
  c.expr.set_root(c.expr.op(LaneOp::kSelect, {compare, compare, c.expr.leaf(0)}));
  m.stage(UnitType::kVector, {{c}});
  EXPECT_EQ(m.told().code, "LONE_COMPARE");
}

TEST(Compiler18Refusals, TooLongAnImage) {
  Maker m;
  const auto x = m.buffer(1024), y = m.buffer(1024);
  Chain c = chain(y, LaneOp::kNeg, {memory(x)}, 1024);
  for (int i = 0; i < 63; ++i) c.expr.set_root(c.expr.op(LaneOp::kNeg, {c.expr.root(), 0, 0}));
  m.stage(UnitType::kVector, {{c}});
  EXPECT_EQ(m.told().code, "IMAGE_TOO_LONG");
}

TEST(Compiler18Refusals, TooFewRegisters) {
  Maker m;
  const auto x = m.buffer(128), y = m.buffer(128);
  // Fourteen values that are all used twice.
  Chain c = chain(y, LaneOp::kNeg, {memory(x)}, 128);
  Expr::Id sum = c.expr.root(), value = sum;
  for (int i = 0; i < 14; ++i) {
    value = c.expr.op(LaneOp::kExp2, {value, 0, 0});
    sum = c.expr.op(LaneOp::kAdd, {sum, value, 0});
  }
  c.expr.set_root(sum);
  m.stage(UnitType::kVector, {{c}});
  EXPECT_EQ(m.told().code, "REGISTERS");
}

TEST(Compiler18Refusals, L1Footprint) {
  EXPECT_TRUE(fits_l1(0) && fits_l1(320) && fits_l1(512));
  EXPECT_FALSE(fits_l1(321) || fits_l1(511) || fits_l1(513));
  EXPECT_EQ(refused([] { require_l1(321); }).code, "L1_FOOTPRINT");
  EXPECT_EQ(refused([] { rows_per_pass(7, 200); }).code, "L1_FOOTPRINT");
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
    m.stage(UnitType::kVector, {{chain(y, LaneOp::kNeg, {spread}, span)}});
    return m.told().code;
  };
  EXPECT_EQ(told(1024, 256, 128), "");
  EXPECT_EQ(told(1024, 256, 24), "SPREAD_SHAPE");   // no whole words
  EXPECT_EQ(told(1024, 192, 128), "SPREAD_SHAPE");  // does not divide
  EXPECT_EQ(told(960, 960, 960), "SPREAD_SHAPE");   // no step count makes 960 of steps of 128
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

// --- Section 18.6.
TEST(Compiler18Runs, ResultsInOneBufferShareADrain) {
  Maker m(Policy::kBest);
  const auto x = m.buffer(1024), y = m.buffer(1024);
  Chain first = chain(y, LaneOp::kNeg, {memory(x)}, 256), second = chain(y, LaneOp::kAbs, {memory(x)}, 256);
  second.result.at = second.asked_at = 256;
  m.stage(UnitType::kVector, {{first, second}});
  const auto steps = vector_steps(m.lowered());
  EXPECT_EQ(runs(steps), 1u);
  // Descriptors: fill 0, load 1, store 2, drain 3 over both.
  EXPECT_TRUE(std::any_of(steps.begin(), steps.end(), [](const auto& s) {
    return s.is(arch::VectorOp::kDesc) && s.ad == 3 && s.fld == 1 && s.value == (32u << 16 | 32u);
  }));
  // Further apart they are two programs.
  second.result.at = second.asked_at = 512;
  m.schedule().stages.clear();
  m.stage(UnitType::kVector, {{first, second}});
  EXPECT_EQ(runs(vector_steps(m.lowered())), 2u);
}

TEST(Compiler18Runs, ACutBeforeAReaderOfItsResult) {
  Maker m;
  const auto x = m.buffer(1024), y = m.buffer(1024), z = m.buffer(1024), u = m.buffer(1024),
             v = m.buffer(1024);
  const Chain first = chain(y, LaneOp::kAdd, {memory(x), memory(u), memory(v)}, 1024);
  m.stage(UnitType::kVector, {{first, chain(z, LaneOp::kAdd, {memory(x), memory(u)}, 1024)}});
  EXPECT_EQ(m.told().code, "");  // two programs that have nothing to do with each other
  EXPECT_EQ(runs(vector_steps(m.lowered())), 2u);
  m.schedule().stages.clear();
  m.stage(UnitType::kVector, {{first, chain(z, LaneOp::kAdd, {memory(x), memory(y)}, 1024)}});
  EXPECT_EQ(m.told().code, "RUN_CUT_READS_RESULT");
}

TEST(Compiler18Runs, OneStatementThatSeedsMakesAllSeed) {
  Maker m;
  const auto x = m.buffer(1024), y = m.buffer(1024), z = m.buffer(1024), array = m.buffer(1024);
  Leaf in_memory = constant(2.0);
  in_memory.array = array;
  const auto words_of = [&](const Leaf& other) {
    m.schedule().stages.clear();
    m.stage(UnitType::kVector, {{chain(y, LaneOp::kMul, {memory(x), in_memory}, 1024),
                                 chain(z, LaneOp::kAdd, {memory(x), other}, 1024)}});
    const program::Program program = m.lowered();
    std::vector<std::uint64_t> bases;
    for (const auto& step : vector_steps(program))
      if (step.is(arch::VectorOp::kDesc) && step.fld == 0) bases.push_back(step.value);
    return std::count(bases.begin(), bases.end(), m[array].address->value());
  };
  EXPECT_EQ(words_of(in_memory), 1);
  EXPECT_EQ(words_of(constant(3.0)), 0);
}

// --- Policy best: nothing is stored behind a result.
TEST(Compiler18Best, StoresEndWithTheResult) {
  Maker m(Policy::kBest);
  const auto x = m.buffer(800), y = m.buffer(800);
  std::vector<std::vector<Statement>> instances;
  for (const std::uint64_t at : {0, 400}) {
    Chain c = chain(y, LaneOp::kNeg, {memory(x, at)}, 400);
    c.result.at = at;
    instances.push_back({c});
  }
  m.stage(UnitType::kVector, instances);
  const program::Program best = m.lowered();
  // 400 = 5 steps of 80: four steps of 128 would run into the second half, whose core may have finished.
  EXPECT_EQ(vector_steps(best)[1].word, 80u);
  m.schedule().policy = Policy::kCompat;
  EXPECT_EQ(vector_steps(m.lowered())[1].word, 128u);
  // The last part of a buffer ends in its padding.
  m.schedule().policy = Policy::kBest;
  EXPECT_EQ(vector_steps(best, 1)[1].word, 128u);
}

TEST(Compiler18Best, PartsThatEndInsideAMemoryWord) {
  Maker m(Policy::kBest);
  const auto x = m.buffer(200), y = m.buffer(200);
  std::vector<std::vector<Statement>> instances;
  for (const std::uint64_t at : {0, 100}) {
    Chain c = chain(y, LaneOp::kNeg, {memory(x, at)}, 100);
    c.result.at = at;
    instances.push_back({c});
  }
  m.stage(UnitType::kVector, {instances[0]});
  EXPECT_EQ(m.told().code, "RUN_PAST_END");
  m.schedule().stages.clear();
  m.stage(UnitType::kVector, {instances[1]});
  EXPECT_EQ(m.told().code, "PART_UNALIGNED");
}

TEST(Compiler18Best, FewerRowsWhereTheImageIsFull) {
  Maker m;
  const auto x = m.buffer(1600), y = m.buffer(1600);
  Chain c = chain(y, LaneOp::kRowSum, {memory(x)}, 1600, base::RowShape{100, 16});
  c.reduce = true;
  m.stage(UnitType::kVector, {{c}});
  EXPECT_EQ(m.told().code, "IMAGE_TOO_LONG");
  m.schedule().policy = Policy::kBest;
  EXPECT_EQ(runs(vector_steps(m.lowered())), 2u);  // 50 rows each
}

// --- Section 18.8.
Chain epilogue(schedule::BufferId result, LaneOp op, std::vector<Leaf> leaves) {
  Chain c = chain(result, op, std::move(leaves), 1024);
  c.gm = c.gn = 8;
  return c;
}
Told epilogue_told(const std::function<Chain(Maker&, schedule::BufferId)>& make) {
  Maker m;
  const auto y = m.buffer(65536);
  const Chain c = make(m, y);
  m.stage(UnitType::kVector, {{c}});
  return m.told();
}

TEST(Compiler18Epilogue, ConstantsWhereTheLanesAreKnownToTakeThem) {
  const auto told = [](LaneOp op, double value, bool first) {
    return epilogue_told([&](Maker&, schedule::BufferId y) {
             return first ? epilogue(y, op, {constant(value), resident(0)})
                          : epilogue(y, op, {resident(0), constant(value)});
           })
        .code;
  };
  EXPECT_EQ(told(LaneOp::kMul, 0.5, false), "");
  EXPECT_EQ(told(LaneOp::kMul, 1.0, true), "");
  EXPECT_EQ(told(LaneOp::kAdd, -1.0, false), "");
  EXPECT_EQ(told(LaneOp::kMul, 0.5, true), "CONSTANT_SLOT");
  EXPECT_EQ(told(LaneOp::kAdd, 0.5, false), "CONSTANT_SLOT");
  EXPECT_EQ(told(LaneOp::kSub, 0.5, true), "CONSTANT_SLOT");
}

TEST(Compiler18Epilogue, WhatCannotBeFusedIsStaged) {
  const auto told = [](std::uint32_t gm, std::uint32_t gn, std::uint32_t tiles) {
    return epilogue_told([&](Maker&, schedule::BufferId y) {
      std::vector<Leaf> leaves;
      for (std::uint32_t t = 0; t < tiles; ++t) leaves.push_back(resident(t));
      Chain c = epilogue(y, LaneOp::kAdd, leaves);
      c.gm = gm;
      c.gn = gn;
      return c;
    });
  };
  EXPECT_EQ(told(16, 10, 2).code, "L1_FOOTPRINT");
  EXPECT_EQ(told(16, 17, 1).code, "TILE_TOO_LARGE");
  EXPECT_EQ(told(1, 1, 7).code, "OPERANDS");
  EXPECT_TRUE(told(16, 10, 2).cannot_fuse && told(16, 17, 1).cannot_fuse && told(1, 1, 7).cannot_fuse);
  EXPECT_TRUE(base::before_placing(told(1, 1, 7).phase));
  EXPECT_EQ(told(1, 1, 6).code, "");
  const Told fused = epilogue_told([](Maker&, schedule::BufferId y) {
    Chain c = epilogue(y, LaneOp::kNeg, {resident(0)});
    for (int i = 0; i < 63; ++i) c.expr.set_root(c.expr.op(LaneOp::kNeg, {c.expr.root(), 0, 0}));
    return c;
  });
  EXPECT_EQ(fused.code, "IMAGE_TOO_LONG");
  EXPECT_TRUE(fused.cannot_fuse);
  const Told fma = epilogue_told([](Maker&, schedule::BufferId y) {
    Chain c = epilogue(y, LaneOp::kNeg, {resident(0)});
    c.expr.set_root(c.expr.op(LaneOp::kFma, {c.expr.root(), c.expr.leaf(0), c.expr.leaf(0)}));
    return c;
  });
  EXPECT_EQ(fma.code, "EPILOGUE_OP");
  EXPECT_TRUE(fma.cannot_fuse);
}

TEST(Compiler18Epilogue, WhatStagingDoesNotHelp) {
  const Told sides = epilogue_told([](Maker& m, schedule::BufferId y) {
    return epilogue(y, LaneOp::kAdd, {resident(0), channel(m.buffer(512)), channel(m.buffer(512))});
  });
  EXPECT_EQ(sides.code, "SIDE_OPERANDS");
  EXPECT_FALSE(sides.cannot_fuse);
  const Told lifted = epilogue_told([](Maker&, schedule::BufferId y) {
    Chain c = epilogue(y, LaneOp::kExp2, {resident(0)});
    c.expr.set_root(c.expr.op(LaneOp::kMul, {c.expr.root(), c.expr.root(), 0}));
    return c;
  });
  EXPECT_EQ(lifted.code, "EPILOGUE_LIFTED");
  EXPECT_FALSE(lifted.cannot_fuse);
}

TEST(Compiler18Epilogue, PairingComesFirst) {
  const auto told = [](bool agent, std::size_t instances, bool epilogues) {
    Maker m;
    const auto y = m.buffer(65536);
    m.schedule().resources.agent = agent;
    m.schedule().resources.vector_cores = 2;
    schedule::Drain drain;
    drain.gm = drain.gn = 8;
    // The fill is out of range as well: only a fused epilogue is asked for before it.
    m.stage(UnitType::kCluster, std::vector<std::vector<Statement>>(instances, {fill(y, 300, 300), drain}));
    m.schedule().stages[0].feeds_next = true;
    if (epilogues)
      m.stage(UnitType::kVector, std::vector<std::vector<Statement>>(
                                     instances, {epilogue(y, LaneOp::kAdd, {resident(0), constant(0.5)})}));
    return m.told().code;
  };
  EXPECT_EQ(told(false, 3, false), "AGENT_ABSENT");
  EXPECT_EQ(told(true, 3, false), "MORE_INSTANCES_THAN_CORES");
  EXPECT_EQ(told(true, 2, false), "EPILOGUE_ABSENT");
  EXPECT_EQ(told(true, 2, true), "CONSTANT_SLOT");
}

// --- Section 18.3, the words themselves.
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
