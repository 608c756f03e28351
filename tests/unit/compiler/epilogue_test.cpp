// SPDX-License-Identifier: Apache-2.0
// compiler.md section 18.8: epilogues on delivered tiles, and what keeps them from being fused.
#include <gtest/gtest.h>

#include "tests/unit/compiler/schedule_maker.h"

namespace ktpu::schedule_to_program {
namespace {

Chain epilogue(schedule::BufferId result, LaneOp op, std::vector<Leaf> leaves) {
  Chain c = chain(result, op, std::move(leaves), 1024);
  c.gm = c.gn = 8;
  return c;
}
Told epilogue_told(const std::function<Chain(Maker&, schedule::BufferId)>& make) {
  Maker m;
  const auto y = m.buffer(65536);
  const Chain c = make(m, y);
  m.chains({c});
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

TEST(Compiler18Epilogue, ThePerChannelOperandNeedsRoomAndAShape) {
  const auto told = [](std::uint32_t gm, std::uint32_t gn, Policy policy) {
    Maker m(policy);
    const auto y = m.buffer(65536), b = m.buffer(512);
    Chain c = epilogue(y, LaneOp::kAdd, {resident(0), channel(b)});
    c.gm = gm;
    c.gn = gn;
    m.chains({c});
    return m.told().code;
  };
  EXPECT_EQ(told(16, 10, Policy::kCompat), "L1_FOOTPRINT");  // 320 words without it
  EXPECT_EQ(told(2, 12, Policy::kCompat), "");
  // Chunk 1 would read columns 8 to 15 of 12.
  EXPECT_EQ(told(2, 12, Policy::kBest), "SIDE_OPERAND_SHAPE");
  EXPECT_EQ(told(2, 16, Policy::kBest), "");
  EXPECT_EQ(told(6, 4, Policy::kBest), "");
}

TEST(Compiler18Epilogue, OneStatementOnADeliveredTile) {
  Maker m;
  const auto y = m.buffer(65536);
  const Chain c = epilogue(y, LaneOp::kNeg, {resident(0)});
  m.chains({c, c});
  EXPECT_EQ(m.told().code, "EPILOGUE_STATEMENTS");
  EXPECT_TRUE(m.told().cannot_fuse);
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
  Maker m;
  const auto y = m.buffer(65536);
  m.stage(UnitType::kCluster, {{schedule::Drain{}}, {schedule::Drain{}}});
  m.schedule().stages[0].feeds_next = true;
  m.schedule().resources.vector_cores = 2;
  m.chains({epilogue(y, LaneOp::kNeg, {resident(0)})});
  EXPECT_EQ(m.told().code, "EPILOGUE_ABSENT");
}

}  // namespace
}  // namespace ktpu::schedule_to_program
