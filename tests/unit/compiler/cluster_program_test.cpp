// SPDX-License-Identifier: Apache-2.0
// compiler.md sections 17 and 25: what the instructions of a cluster refuse, and where policy best differs.
#include <gtest/gtest.h>

#include "tests/unit/compiler/schedule_maker.h"

namespace ktpu::schedule_to_program {
namespace {

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

// A cluster's second bank begins at entry 256: with an L1 that ends there, both stand in the first.
TEST(Compiler17Banks, OfASmallL1StandOneBehindTheOther) {
  Maker m(Policy::kBest);
  const auto x = m.buffer(1 << 20);
  std::vector<Statement> statements;
  for (const std::uint32_t step : {0u, 1u}) {
    for (const schedule::Side side : {schedule::Side::kA, schedule::Side::kB}) {
      schedule::Fill chunk = fill(x, 8, 1);
      chunk.side = side;
      chunk.step = step;
      statements.emplace_back(chunk);
    }
    schedule::Gemm gemm;
    gemm.acc = step;
    statements.emplace_back(gemm);
  }
  m.stage(UnitType::kCluster, {statements});
  const auto second = [&](std::uint32_t entries) {
    m.schedule().resources.bank_entries = entries;
    const auto steps = cluster_steps(m.lowered());
    return std::vector<std::uint32_t>{steps[3].inst.fbank, steps[3].inst.eoff,  steps[4].inst.eoff,
                                      steps[5].inst.abank, steps[5].inst.bbank, steps[5].inst.aoff,
                                      steps[5].inst.boff};
  };
  EXPECT_EQ(second(256), (std::vector<std::uint32_t>{1, 0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(second(16), (std::vector<std::uint32_t>{0, 16, 16, 0, 0, 16, 16}));
  EXPECT_EQ(second(128), (std::vector<std::uint32_t>{0, 128, 128, 0, 0, 128, 128}));
}

// 20 sub-tiles are two bursts of eight and one of four; in the receiver's L1 a tile takes whole vectors.
TEST(Compiler17Refusals, DrainsToANodeAreAcknowledgedBurstByBurst) {
  Maker m;
  schedule::Drain drain;
  drain.gm = 5;
  drain.gn = 4;
  drain.slot = 2;
  m.stage(UnitType::kCluster, {{drain}});
  const program::Program program = m.lowered();
  EXPECT_EQ(program.stages[0].instances[0].acks, 3u);
  EXPECT_EQ(cluster_steps(program)[0].inst.addr, 2u * 24 * 32);
  EXPECT_TRUE(cluster_steps(program)[0].to_next);
}

TEST(Compiler17Refusals, BestUsesOnlyWhatIsStillThereOfAnEarlierStage) {
  Maker m(Policy::kBest);
  const auto x = m.buffer(1024);
  const std::vector<Statement> fills{fill(x, 1, 1)}, product{schedule::Gemm{}};
  m.stage(UnitType::kCluster, {product, product});
  EXPECT_EQ(m.told().code, "GEMM_WITHOUT_FILL");
  m.schedule().stages.clear();
  m.stage(UnitType::kCluster, {fills, fills});
  m.stage(UnitType::kCluster, {product, product});
  m.schedule().resources.clusters = 1;
  EXPECT_EQ(m.told().code, "GEMM_WITHOUT_FILL");
  m.schedule().policy = Policy::kCompat;
  EXPECT_EQ(m.told().code, "");
  m.schedule().policy = Policy::kBest;
  m.schedule().resources.clusters = 2;  // each has one to itself
  EXPECT_EQ(m.told().code, "");
  m.schedule().stages[0].instances[0].key = {2};  // and is dealt to it by another place
  EXPECT_EQ(m.told().code, "GEMM_WITHOUT_FILL");
  m.schedule().stages[0].instances[0].key = {0};
  schedule::Fill other = fill(x, 1, 1);
  other.operand = 1;
  auto& statements = m.schedule().stages[1].instances[0].statements;
  statements.insert(statements.begin(), other);  // in the place of what was there
  EXPECT_EQ(m.told().code, "GEMM_WITHOUT_FILL");
  // Its own region, but not the bank; and a region that is not the first.
  schedule::Gemm second_bank;
  second_bank.acc = 1;
  statements = {fill(x, 1, 1), second_bank};
  schedule::Fill b_fill = fill(x, 1, 1);
  b_fill.side = schedule::Side::kB;
  b_fill.step = 1;
  statements.insert(statements.begin(), b_fill);
  EXPECT_EQ(m.told().code, "");
  m.schedule().resources.clusters = 1;
  EXPECT_EQ(m.told().code, "GEMM_WITHOUT_FILL");
  m.schedule().resources.clusters = 2;
  second_bank.a_operand = 1;
  statements = {b_fill, fill(x, 1, 1), other, second_bank};
  EXPECT_EQ(m.told().code, "GEMM_WITHOUT_FILL");
}

}  // namespace
}  // namespace ktpu::schedule_to_program
