// SPDX-License-Identifier: Apache-2.0
// The SystemVerilog control agent against the model, every output of every cycle (orchestrator.md sections 2
// to 7).
#include <gtest/gtest.h>

#include "tests/twin/agent_lockstep.h"

namespace ktpu::test {
namespace {

namespace reg = arch::agent;

orchestrator::BusBeat write_of(std::uint32_t offset, std::uint64_t value) {
  orchestrator::BusBeat beat;
  beat.write = true;
  beat.write_offset = offset;
  beat.data = value;
  return beat;
}
orchestrator::BusBeat read_of(std::uint32_t offset) {
  orchestrator::BusBeat beat;
  beat.read = true;
  beat.read_offset = offset;
  return beat;
}

// One dispatch of four flits, signals coming back, all registers read in between.
TEST(AgentTwin, DispatchesAsTheModel) {
  AgentPair pair(AgentLoad{}, 1);
  const auto write = [&](std::uint32_t offset, std::uint64_t value) {
    pair.step({write_of(offset, value), {}}, nullptr, false);
  };
  for (unsigned s = 0; s < 4; ++s)
    for (unsigned w = 0; w < 5; ++w) write(reg::stage_word(s, w), 0x1111 * (s + 1) + w);
  write(reg::kSigDone, 0);
  write(reg::kProgCred, 32);
  write(reg::kProgDst, 0x11);
  write(reg::kProgBase, 0);
  write(reg::kProgLen, 4);
  write(reg::kProgKick, 1);
  for (unsigned c = 0; c < 60; ++c) {
    arch::Flit signal = arch::make_flit({0, 1}, {1, 1}, arch::FlitType::kCuSignal, 0x40, true);
    pair.step({read_of(c % 2 != 0 ? reg::kProgStat : reg::kNodeStatus + 8 * 0x11), {}},
              c % 9 == 8 ? &signal : nullptr, false);
  }
  EXPECT_EQ(pair.sent, 4u);
}

TEST(AgentTwin, RandomLoad) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    AgentPair pair(AgentLoad{});
    pair.run_random(seed, 20000);
    EXPECT_GT(pair.sent, 100u);
    EXPECT_GT(pair.lost, 10u);
    EXPECT_GT(pair.aux.writes, 100u);
  }
}

TEST(AgentTwin, SmallStagingMemory) {
  AgentLoad load;
  load.staging_flits = 5;
  AgentPair pair(load);
  pair.run_random(11, 20000);
}

// O1 on and off, resets in the middle of everything.
TEST(AgentTwin, Resets) {
  for (const bool quirks : {true, false}) {
    AgentLoad load;
    load.quirks = quirks;
    load.resets = 12;
    AgentPair pair(load);
    pair.run_random(quirks ? 21 : 22, 12000);
  }
}

TEST(AgentTwin, AlwaysBusy) {
  AgentLoad load;
  load.beats = 50;
  load.flits = 50;
  load.blocked = 5;
  AgentPair pair(load);
  pair.run_random(31, 20000);
}

TEST(AgentTwin, RefusesABiggerStagingMemory) {
  const orchestrator::ControlAgentParams params{{0, 1}, 1, 2, 129, true};
  EXPECT_THROW(apps::AgentOfTwin("agent", params, {}, nullptr), arch::UserError);
}

}  // namespace
}  // namespace ktpu::test
