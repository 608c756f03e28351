// SPDX-License-Identifier: Apache-2.0
// Host, command engine, dispatcher and the way to a unit and back (orchestrator.md sections 2, 5, 8).
#include <gtest/gtest.h>

#include "arch/encoding/address_map.h"
#include "arch/encoding/registers.h"
#include "arch/error.h"
#include "compiler/cost/model.h"
#include "tests/unit/cost/small_machine.h"

namespace ktpu::cost {
namespace {

namespace reg = arch::agent;

// W beat of the kick w: flit k accepted by the unit in w + 11 + 5k + 5; instruction done 5 later; signal on
// the output 4, at the agent 5 after that.
constexpr Cycles kKickToSignal = 11 + 5 + 5 + 4 + 5;

TEST(HostCost, OneRound) {
  arch::Program program;
  add_round(program, "one", 1);
  const Report r = estimate(program, small_machine());
  // Start 40, baseline read, five staging writes, credit, poll, DST, BASE, LEN: the kick's W beat.
  const Cycles beat = 40 + 3 + 5 * 3 + 3 + 3 + 3 * 3 + 1;
  EXPECT_EQ(r.machine_cycles, kKickToSignal - 1 + 1);  // the kick pulse is one after the W beat
  // Visible one later; reads every three cycles from two after the beat on, sampled one after their address.
  const Cycles first = beat + 2 + 1, visible = beat + kKickToSignal + 1;
  const Cycles sample = first + (visible - first + 2) / 3 * 3;
  EXPECT_EQ(r.total_cycles, sample + 2);
}

TEST(HostCost, FlitsFollowEachOtherInFiveCycles) {
  const auto machine_cycles = [](unsigned flits) {
    arch::Program program;
    add_round(program, "one", flits);
    return estimate(program, small_machine()).machine_cycles;
  };
  EXPECT_EQ(machine_cycles(2) - machine_cycles(1), 5);
  EXPECT_EQ(machine_cycles(21) - machine_cycles(1), 100);
}

// Without credit the dispatcher waits for completions, which a last instruction does not give back.
TEST(HostCost, CreditHoldsTheDispatcher) {
  arch::Program program;
  add_round(program, "one", 8);
  std::get<arch::StepCredit>(program.steps[3].action).seed = 1;
  // Signal seen one after it is there, flit on the output 4 after that, 5 to the unit.
  EXPECT_EQ(estimate(program, small_machine()).machine_cycles, kKickToSignal + 7 * (1 + 4 + 5 + 5 + 4 + 5));
}

TEST(HostCost, FartherUnitsAnswerLater) {
  arch::Program program;
  add_round(program, "one", 1);
  CostMachine far = small_machine();
  far.meshes[0].units[0].router = {3, 1};
  EXPECT_EQ(estimate(program, far).machine_cycles - estimate(program, small_machine()).machine_cycles, 20);
  far.meshes[0].units[0].adapter = true;
  EXPECT_EQ(estimate(program, far).machine_cycles - estimate(program, small_machine()).machine_cycles, 21);
}

arch::Program command_program() {
  arch::Program program;
  arch::StepStage stage;
  stage.flits.push_back(arch::make_flit({}, {}, arch::FlitType::kCuInst, 0, true));
  program.steps.push_back({0, stage});
  arch::StepCommands list;
  const auto command = [&](arch::engine::CommandOp op, std::uint32_t offset, std::uint64_t data,
                           std::uint64_t mask = 0) {
    list.commands.push_back({static_cast<std::uint32_t>(op), offset, data, mask});
  };
  using Op = arch::engine::CommandOp;
  command(Op::kWrite, reg::kSigDone, 0);
  command(Op::kWrite, reg::kProgCred, 32);
  command(Op::kPoll, reg::kProgStat, 0, 1);
  command(Op::kWrite, reg::kProgDst, 0x11);
  command(Op::kWrite, reg::kProgBase, 0);
  command(Op::kWrite, reg::kProgLen, 1);
  command(Op::kWrite, reg::kProgKick, 1);
  command(Op::kPoll, reg::kSigDone, 1, 0xFFFF);
  command(Op::kDone, 0, 0);
  program.steps.push_back({0, list});
  return program;
}

// Nine commands of four fields, GO, five cycles a command, failed polls every 36.
TEST(HostCost, CommandEngine) {
  CostMachine machine = small_machine();
  machine.host.engine = true;
  const Report r = estimate(command_program(), machine);
  const Cycles go = 40 + 15 + 9 * 4 * 3 + 1, fetch = go + 2;
  const Cycles beat = fetch + 6 * 5 + 3;
  const Cycles sample = fetch + 7 * 5 + 3, visible = beat + kKickToSignal + 1;
  const Cycles met = sample + (visible - sample + 35) / 36 * 36;
  const Cycles done = met + 2;  // fetch of DONE
  const Cycles seen = go + 3 + (done - (go + 3) + 2) / 3 * 3;
  EXPECT_EQ(r.total_cycles, seen - 1 + 3 + 3);  // that read, and one more
  EXPECT_EQ(r.machine_cycles, kKickToSignal);
}

TEST(HostCost, TheEngineStartsBehindGo) {
  CostMachine machine = small_machine();
  machine.host.engine = true;
  const Cycles reference = estimate(command_program(), machine).total_cycles;
  machine.host.engine_go += 3;
  EXPECT_EQ(estimate(command_program(), machine).total_cycles, reference + 3);
}

// A second kick of a round writes what has changed only, and waits until the first has run.
TEST(HostCost, RegistersAreWrittenOnceARound) {
  arch::Program same;
  add_round(same, "same", 1);
  same.steps.insert(same.steps.begin() + 5, {0, arch::StepKick{{1, 1}, 0, 1}});
  std::get<arch::StepAwait>(same.steps.back().action).count = 2;
  arch::Program other = same;
  std::get<arch::StepStage>(other.steps[2].action).flits.resize(2);
  std::get<arch::StepKick>(other.steps[5].action).base = 1;
  // One flit more staged, PROG_BASE written again.
  EXPECT_EQ(estimate(other, small_machine()).total_cycles - estimate(same, small_machine()).total_cycles,
            15 + 3);
}

TEST(HostCost, WithoutTheEngineTheHostExecutesTheList) {
  EXPECT_LT(estimate(command_program(), small_machine()).total_cycles, 40 + 15 + 9 * 4 * 3);
}

TEST(HostCost, QuietWaits) {
  arch::Program program;
  program.steps.push_back({0, arch::StepQuiet{256}});
  EXPECT_EQ(estimate(program, small_machine()).total_cycles, 40 + 256);
}

TEST(HostCost, AProgramWithoutEndIsTold) {
  arch::Program program;
  program.steps.push_back({0, arch::StepAwait{{1, 1}, 3}});
  EXPECT_THROW(estimate(program, small_machine()), arch::UserError);
  program = {};
  add_round(program, "nowhere", 1);
  std::get<arch::StepKick>(program.steps[4].action).to = {5, 5};
  EXPECT_THROW(estimate(program, small_machine()), arch::UserError);
}

TEST(HostCost, WhatIsNotModelledIsSaid) {
  arch::Program program;
  program.steps.push_back({0, arch::StepWrite{reg::kAuxCfgMover, 1}});
  EXPECT_EQ(estimate(program, small_machine()).notes.size(), 1u);
}

}  // namespace
}  // namespace ktpu::cost
