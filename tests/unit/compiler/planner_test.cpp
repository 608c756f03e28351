// SPDX-License-Identifier: Apache-2.0
// compiler.md section 10.
#include <gtest/gtest.h>

#include <set>

#include "apps/common/interpreted_machine.h"
#include "apps/ktpu-check/rig.h"
#include "compiler/base/refusal.h"
#include "compiler/base/tile_choice.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/planner/gemm_passes.h"
#include "compiler/planner/rounds.h"
#include "compiler/schedule/grid.h"
#include "compiler/schedule/layout.h"
#include "tests/support/plain_matmul.h"
#include "tests/unit/compiler/helpers.h"

namespace ktpu::planner {
namespace {

using schedule::refusal;

constexpr bytes::Limits kLimits{128, 128, 32};

// `grid` tiles of gm x gn groups and chunks of nk blocks, dealt to `clusters` clusters of one column.
GemmProblem problem(std::uint64_t m_tiles, std::uint64_t n_tiles, std::uint64_t k_chunks, std::uint32_t gm,
                    std::uint32_t gn, std::uint32_t nk, std::uint8_t clusters) {
  GemmProblem p;
  p.m_tiles = m_tiles;
  p.n_tiles = n_tiles;
  p.k_chunks = k_chunks;
  p.gm = gm;
  p.gn = gn;
  p.nk = nk;
  const auto owned = schedule::owned_tiles(m_tiles, n_tiles, clusters);
  for (std::uint8_t c = 0; c < clusters; ++c) {
    ClusterTiles mine;
    mine.at = {static_cast<std::uint8_t>(1 + c % 2), static_cast<std::uint8_t>(1 + c / 2)};
    for (const schedule::OwnedTile& t : owned[c]) mine.tiles.push_back({t.row, t.column});
    p.clusters.push_back(std::move(mine));
  }
  return p;
}

// Values in rows of K in the order of a plan's chunks, into memory.
arch::MemoryImage operand(const test::plain::Halves& values, unsigned rows, unsigned k, std::uint32_t groups,
                          std::uint32_t blocks, std::uint64_t word) {
  return {word * 32, arch::ImageBytes{test::plain::to_entries(values, rows, k, groups, blocks), 0}};
}

// The plan on the interpreted machine, against plain loops.
void expect_product(GemmProblem p) {
  p.first_word = 0x8000'0000 / 32;
  const auto m = static_cast<unsigned>(p.m_tiles * p.gm * 4), n = static_cast<unsigned>(p.n_tiles * p.gn * 4);
  const auto k = static_cast<unsigned>(p.k_chunks * p.nk * 32);
  const GemmPasses plan = plan_passes(p);
  verify(plan);
  const std::vector<GemmRound> rounds = cut_rounds(plan, kLimits);
  verify(rounds, kLimits);

  const test::plain::Halves a = test::plain::lcg(std::size_t{m} * k, 5, 10);
  const test::plain::Halves b = test::plain::lcg(std::size_t{n} * k, 9, 11);
  const MemoryWords memory = p.memory();
  arch::Program program;
  program.needs.staging_flits = 128;
  program.images.emplace_back(std::uint8_t{0}, operand(a, m, k, p.gm, p.nk, memory.a));
  program.images.emplace_back(std::uint8_t{0}, operand(b, n, k, p.gn, p.nk, memory.b));
  program.steps = program_steps(rounds, 0);
  interpret::Interpreter machine(program, apps::interpreted_machine(check::shipped_machine("mesh8")));
  machine.run();
  const auto image = machine.read_memory(0, memory.c * 32, p.m_tiles * p.n_tiles * p.gm * p.gn * 32);
  EXPECT_EQ(test::plain::from_tiles(image, static_cast<unsigned>(p.m_tiles), static_cast<unsigned>(p.n_tiles),
                                    p.gm, p.gn),
            test::plain::matmul(a, b, m, n, k));
}

TEST(CompilerSec10, TheMachineComputesTheProduct) {
  expect_product(problem(1, 1, 1, 2, 2, 1, 1));  // results are drained
  expect_product(problem(2, 2, 3, 4, 2, 2, 2));  // B stays, A and the first sweep are fetched ahead
  GemmProblem streamed = problem(3, 2, 4, 4, 8, 2, 4);
  streamed.l1_b = 32;  // two chunks
  expect_product(streamed);
  GemmProblem single = problem(3, 2, 1, 4, 8, 2, 4);
  single.l1_b = 16;  // one: nothing is fetched before the last result has left
  single.l1_a = 8;
  expect_product(single);
}

TEST(CompilerSec10, ManyRoundsAreOneProduct) { expect_product(problem(20, 8, 1, 1, 1, 2, 3)); }

// 144 entries a chunk: two of them do not fit one bank.
TEST(CompilerSec10, AChunkIsNeverCutByABank) {
  GemmProblem p = problem(2, 2, 2, 16, 16, 9, 1);
  p.l1_a = p.l1_b = 512;
  expect_product(p);
  p.policy = Policy::kCompat;
  EXPECT_NE(refusal([&] { verify(plan_passes(p)); }), "");
}

// 256 entries a chunk: more than one FILL names.
TEST(CompilerSec10, LongChunksTakeTwoFills) {
  GemmProblem p = problem(1, 2, 2, 16, 16, 16, 2);
  p.l1_a = p.l1_b = 512;
  const std::vector<arch::ClusterInst> steps = plan_passes(p).passes[0].steps;
  EXPECT_EQ(steps[0].n, 255u);
  EXPECT_EQ(steps[1].n, 1u);
  EXPECT_EQ(steps[1].eoff, 255u);
  expect_product(p);
}

TEST(CompilerSec10, NothingIsFetchedAheadOfAnotherColumn) {
  const GemmPasses plan = plan_passes(problem(2, 2, 2, 4, 4, 2, 1));
  std::vector<std::size_t> lent;
  for (const Pass& pass : plan.passes) lent.push_back(pass.lent);
  EXPECT_EQ(lent, (std::vector<std::size_t>{2, 0, 2, 0}));
}

// The next chunk would go where the sweep still reads.
TEST(CompilerSec10, ChunksThatFollowEachOtherNeedRoomForTwo) {
  for (const auto& [l1_a, l1_b] : {std::pair{8u, 64u}, std::pair{16u, 16u}}) {
    GemmProblem p = problem(3, 2, 4, 4, 8, 2, 4);
    p.l1_a = l1_a;
    p.l1_b = l1_b;
    EXPECT_NE(refusal([&] { plan_passes(p); }).find("CHUNK_OVER_BANK"), std::string::npos);
    p.policy = Policy::kCompat;
    EXPECT_NE(refusal([&] { verify(plan_passes(p)); }).find("is overwritten while"), std::string::npos);
  }
}

TEST(CompilerSec10, WhatL1Holds) {
  GemmProblem p = problem(2, 2, 4, 16, 32, 4, 1);
  p.policy = Policy::kCompat;
  EXPECT_FALSE(plan_passes(p).l1.b_resident);
  EXPECT_EQ(plan_passes(p).l1.banks_a, 2u);
  EXPECT_EQ(plan_passes(p).l1.banks_b, 2u);
  p.l1_a = 127;
  p.l1_b = 255;
  EXPECT_EQ(plan_passes(p).l1.banks_a, 1u);
  EXPECT_EQ(plan_passes(p).l1.banks_b, 1u);
  EXPECT_EQ(plan_passes(p).passes[0].lent, 0u);  // nowhere to fetch to
  p.l1_a = 63;
  EXPECT_NE(refusal([&] { plan_passes(p); }).find("CHUNK_OVER_BANK"), std::string::npos);
  EXPECT_TRUE(plan_passes(problem(1, 1, 1, 16, 16, 2, 1)).l1.fused);
  EXPECT_FALSE(plan_passes(problem(1, 1, 1, 16, 16, 1, 1)).l1.fused);
  EXPECT_NE(refusal([] { plan_passes(problem(1, 1, 0, 1, 1, 1, 1)); }), "");
}

TEST(CompilerSec10, EveryPlanHolds) {
  for (std::uint64_t m = 1; m < 5; ++m)
    for (std::uint64_t n = 1; n < 5; ++n)
      for (std::uint64_t k = 1; k < 6; ++k)
        for (std::uint8_t clusters = 1; clusters < 9; clusters = static_cast<std::uint8_t>(clusters + 3))
          for (const std::uint32_t l1_b : {32u, 64u}) {
            GemmProblem p = problem(m, n, k, 2, 8, 2, clusters);
            p.l1_a = 8;
            p.l1_b = l1_b;
            const GemmPasses plan = plan_passes(p);
            ASSERT_NO_THROW(verify(plan));
            ASSERT_NO_THROW(verify(cut_rounds(plan, kLimits), kLimits));
          }
}

TEST(CompilerSec10, ABrokenPlanIsFound) {
  const GemmPasses good = plan_passes(problem(2, 2, 2, 4, 4, 2, 2));
  const auto broken = [&](auto&& damage) {
    GemmPasses plan = good;
    damage(plan);
    return refusal([&] { verify(plan); });
  };
  using arch::ClusterOp;
  const auto step = [](GemmPasses& plan, ClusterOp op) -> arch::ClusterInst& {
    for (arch::ClusterInst& inst : plan.passes[0].steps)
      if (inst.is(op)) return inst;
    return plan.passes[0].steps[0];
  };
  EXPECT_EQ(broken([](GemmPasses&) {}), "");
  EXPECT_NE(broken([&](GemmPasses& plan) { step(plan, ClusterOp::kFill).eoff += 1; }), "");
  EXPECT_NE(broken([&](GemmPasses& plan) { step(plan, ClusterOp::kFill).addr += 256; }), "");
  EXPECT_NE(broken([&](GemmPasses& plan) { step(plan, ClusterOp::kGemm).aoff += 1; }), "");
  EXPECT_NE(broken([&](GemmPasses& plan) { step(plan, ClusterOp::kGemm).acc ^= 1; }), "");
  EXPECT_NE(broken([&](GemmPasses& plan) { step(plan, ClusterOp::kDrain).addr += 32; }), "");
  EXPECT_NE(broken([](GemmPasses& plan) {
              for (arch::ClusterInst& inst : plan.passes[0].steps) inst.addr += inst.emit * 32;
            }),
            "");
  EXPECT_NE(broken([&](GemmPasses& plan) { plan.passes.pop_back(); }), "");
  EXPECT_NE(broken([&](GemmPasses& plan) { std::swap(plan.passes[0], plan.passes[2]); }), "");
  EXPECT_NE(broken([&](GemmPasses& plan) { plan.passes[0].steps.pop_back(); }), "");
  EXPECT_NE(broken([](GemmPasses& plan) { plan.problem.clusters[0].tiles[0] = {1, 1}; }), "");
}

TEST(CompilerSec10, ThreeLimitsCutRounds) {
  const GemmPasses plan = plan_passes(problem(8, 8, 2, 4, 4, 2, 8));
  const auto first = [&](bytes::Limits limits) { return cut_rounds(plan, limits)[0]; };
  EXPECT_EQ(first({30, 1000, 512}).bound, bytes::Bound::kStaging);
  EXPECT_EQ(first({128, 1000, 6}).bound, bytes::Bound::kCredit);
  EXPECT_EQ(first({128, 1000, 6}).passes, 5u);
  EXPECT_EQ(first({128, 30, 512}).bound, bytes::Bound::kCommands);
  EXPECT_LE(first({128, 30, 512}).commands.size(), 30u);
  std::size_t passes = 0;
  for (const GemmRound& round : cut_rounds(plan, {128, 30, 512})) passes += round.passes;
  EXPECT_EQ(passes, plan.passes.size());
  EXPECT_EQ(cut_rounds(plan, {128, 30, 512}).back().bound, bytes::Bound::kEnd);
  EXPECT_NE(refusal([&] { first({8, 128, 32}); }).find("PASS_OVER_STAGING"), std::string::npos);
  EXPECT_NE(refusal([&] { first({128, 8, 32}); }).find("PASS_OVER_COMMANDS"), std::string::npos);
  EXPECT_NE(refusal([&] { first({128, 128, 1}); }).find("PASS_OVER_COMMANDS"), std::string::npos);
}

TEST(CompilerSec10, PlansArePrinted) {
  const GemmPasses plan = plan_passes(problem(2, 1, 2, 4, 4, 2, 1));
  const std::string text = print(plan);
  EXPECT_NE(text.find("L1: A 8 entries in 2, B 8 entries resident; results leave with the last chunk\n"),
            std::string::npos)
      << text;
  EXPECT_NE(
      text.find("pass (1,1) tile 0,0: 9 steps, 2 of them of the next tile\n    fill b from=0x2000 n=8\n"),
      std::string::npos)
      << text;
  EXPECT_EQ(print(cut_rounds(plan, kLimits)),
            "round 0 of 1: 2 passes, 12 flits, 13 commands; ended by: the end\n");
}

}  // namespace
}  // namespace ktpu::planner
