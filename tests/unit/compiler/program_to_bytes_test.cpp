// SPDX-License-Identifier: Apache-2.0
// compiler.md sections 12 and 19: programs of units to rounds.
#include <gtest/gtest.h>

#include "compiler/base/refusal.h"
#include "compiler/program_to_bytes/lower.h"

namespace ktpu::program_to_bytes {
namespace {

using bytes::CommandLimit;

arch::ClusterInst drain() {
  arch::ClusterInst inst;
  inst.op = static_cast<std::uint32_t>(arch::ClusterOp::kDrain);
  inst.n = 20;
  inst.dflags = 1;
  return inst;
}

bytes::Machine machine() {
  bytes::Machine m{"m", bytes::Units({{1, 1}, {1, 2}}), bytes::Units({{1, 0}, {2, 0}, {2, 4}}), {}, {}, 0};
  m.agent = bytes::Units({{3, 3}})[0];
  return m;
}

program::Stage clusters(std::vector<std::vector<std::int32_t>> keys, bool to_next) {
  program::Stage stage;
  for (auto& key : keys) {
    program::Instance instance;
    instance.key = std::move(key);
    instance.steps = std::vector<program::ClusterStep>{{drain(), to_next}};
    instance.acks = to_next ? 3 : 0;
    stage.instances.push_back(std::move(instance));
  }
  stage.feeds_next = to_next;
  return stage;
}
program::Stage vectors(std::vector<std::vector<std::int32_t>> keys) {
  program::Stage stage;
  stage.unit = program::UnitType::kVector;
  for (auto& key : keys) {
    program::Instance instance;
    instance.key = std::move(key);
    arch::VectorInst run;
    run.op = 3;
    instance.steps = std::vector<program::VectorStep>{run};
    stage.instances.push_back(std::move(instance));
  }
  return stage;
}

std::string told(const program::Program& program, const bytes::Machine& m) {
  try {
    lower(program, m, CommandLimit::kReport);
  } catch (const base::Refusal& refusal) {
    return refusal.code();
  }
  return {};
}

const bytes::Artifact& round_of(const bytes::ExecStep& step) {
  return std::get<bytes::Dispatch>(step).plan.rounds.at(0).artifact;
}

TEST(Compiler12Lowering, TilesGoToTheCoreThatRunsTheSamePlace) {
  // Keys in any order: both stages are dealt in the order of their keys.
  program::Program program;
  program.stages = {clusters({{1, 0}, {0, 1}, {0, 0}}, true), vectors({{0, 1}, {0, 0}, {1, 0}})};
  const bytes::Executable made = lower(program, machine(), CommandLimit::kReport);
  ASSERT_EQ(made.steps.size(), 2u);
  const bytes::Artifact& round = round_of(made.steps[0]);
  ASSERT_EQ(round.words.size(), 3u);
  const arch::Coord cores[] = {{1, 0}, {2, 0}, {2, 4}};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto inst = arch::unpack<arch::ClusterInst>(round.words[i]);
    EXPECT_EQ(inst.dnode, 1u);
    EXPECT_EQ(inst.dst_x, cores[i].x);
    EXPECT_EQ(inst.dst_y, cores[i].y);
    EXPECT_EQ(inst.dack_x, 3u);
    EXPECT_EQ(inst.dack_y, 3u);
    EXPECT_EQ(inst.dbuf, 0u);
    EXPECT_EQ(inst.dflags, 1u);
  }
  // Own signals of the clusters, acknowledgements of the cores.
  std::vector<std::pair<arch::Coord, std::uint32_t>> awaits;
  for (const bytes::RoundStep& step : round.steps)
    if (const auto* await = std::get_if<bytes::Await>(&step)) awaits.emplace_back(await->node, await->count);
  const std::vector<std::pair<arch::Coord, std::uint32_t>> expected{
      {{1, 1}, 2}, {{1, 0}, 3}, {{1, 2}, 1}, {{2, 0}, 3}, {{2, 4}, 3}};
  EXPECT_EQ(awaits, expected);
}

TEST(Compiler12Lowering, WaitsThenRelayoutsThenRounds) {
  program::Program program;
  program.stages = {clusters({{0}}, false), vectors({{0}})};
  program.stages[1].waits = true;
  program.stages[1].before = {{"t", 0x8010'0000, {8, 8}, "tile:1x1:2x2", "flat", 0}};
  const bytes::Executable made = lower(program, machine(), CommandLimit::kReport);
  ASSERT_EQ(made.steps.size(), 4u);
  EXPECT_EQ(std::get<bytes::Dispatch>(made.steps[0]).unit, "MG");
  EXPECT_TRUE(std::holds_alternative<bytes::WaitMemory>(made.steps[1]));
  EXPECT_EQ(std::get<bytes::HostRelayout>(made.steps[2]).to, "flat");
  EXPECT_EQ(std::get<bytes::Dispatch>(made.steps[3]).unit, "VC");
  EXPECT_EQ(std::get<bytes::Dispatch>(made.steps[3]).stage, 1u);
}

TEST(Compiler12Lowering, ATypeTheMachineLacksIsToldBeforeAnyWord) {
  program::Program program;
  program.stages = {vectors({{0}}), clusters({{0}}, false)};
  bytes::Machine m = machine();
  m.clusters = bytes::Units({});
  EXPECT_EQ(told(program, m), "UNIT_ABSENT");
  m = machine();
  m.vector_cores = bytes::Units({});
  EXPECT_EQ(told(program, m), "UNIT_ABSENT");
}

TEST(Compiler12Lowering, TilesNeedAnAgentForTheirAcknowledgements) {
  program::Program program;
  program.stages = {clusters({{0}}, true), vectors({{0}})};
  bytes::Machine m = machine();
  m.agent.reset();
  EXPECT_EQ(told(program, m), "AGENT_ABSENT");
}

TEST(Compiler12Lowering, AFillOf256EntriesDiesInTheEncoder) {
  program::Program program;
  program.stages = {clusters({{0}}, false)};
  arch::ClusterInst fill;
  fill.op = static_cast<std::uint32_t>(arch::ClusterOp::kFill);
  fill.n = 256;
  program.stages[0].instances[0].steps = std::vector<program::ClusterStep>{{fill, false}};
  EXPECT_EQ(told(program, machine()), "FILL_OVER_255");
  std::get<std::vector<program::ClusterStep>>(program.stages[0].instances[0].steps)[0].inst.n = 255;
  EXPECT_EQ(told(program, machine()), "");
}

// 32 kicks to two clusters in turn are 1 + 1 + 32 * 4 + 2 + 1 commands: more than the engine holds.
TEST(Compiler12Lowering, RoundsOverTheCommandsAreReportedOrCut) {
  std::vector<std::vector<std::int32_t>> keys;
  for (std::int32_t i = 0; i < 32; ++i) keys.push_back({i});
  program::Program program;
  program.stages = {clusters(keys, false)};
  const auto rounds = [&](CommandLimit limit) {
    const bytes::Executable made = lower(program, machine(), limit);
    return std::get<bytes::Dispatch>(made.steps.at(0)).plan.rounds;
  };
  ASSERT_EQ(rounds(CommandLimit::kReport).size(), 1u);
  EXPECT_GT(rounds(CommandLimit::kReport)[0].commands, 128u);
  ASSERT_EQ(rounds(CommandLimit::kCut).size(), 2u);
  EXPECT_LE(rounds(CommandLimit::kCut)[0].commands, 128u);
}

}  // namespace
}  // namespace ktpu::program_to_bytes
