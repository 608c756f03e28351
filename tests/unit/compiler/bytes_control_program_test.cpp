// SPDX-License-Identifier: Apache-2.0
// compiler.md section 11: the control program and its register shadow. Addresses and bits are written out
// here, as the specification has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/error.h"
#include "compiler/bytes/control_program.h"

namespace ktpu::bytes {
namespace {

using arch::Command;
using testing::ElementsAre;

constexpr std::uint32_t kWrite = 1, kPoll = 2, kDone = 3;

Kick kick(arch::Coord to, std::uint32_t base, std::uint32_t count) {
  return {to, Staging(128).slot(base, count), count};
}

Artifact round_of(std::size_t words, std::vector<RoundStep> steps) {
  Artifact artifact;
  artifact.words.resize(words);
  artifact.steps = std::move(steps);
  return artifact;
}

std::string refusal(const Artifact& artifact, const Limits& limits = {}) {
  try {
    verify(artifact, limits);
  } catch (const arch::UserError& error) {
    return error.what();
  }
  return {};
}

TEST(Compiler11, AKickPollsThenWritesDestinationBaseAndLength) {
  ControlProgram p;
  p.kick(kick({2, 1}, 4, 7));
  EXPECT_THAT(p.commands(),
              ElementsAre(Command{kPoll, 0x10000058, 0, 1}, Command{kWrite, 0x10000040, 0x12, 0},
                          Command{kWrite, 0x10000068, 4, 0}, Command{kWrite, 0x10000048, 7, 0},
                          Command{kWrite, 0x10000050, 1, 0}));
}

TEST(Compiler11, KicksThatDifferInDestinationAloneCostThree) {
  ControlProgram p;
  p.kick(kick({1, 1}, 0, 4));
  p.kick(kick({2, 1}, 0, 4));
  EXPECT_EQ(p.commands().size(), 5u + 3u);
  EXPECT_EQ(p.commands()[6], (Command{kWrite, 0x10000040, 0x12, 0}));
}

TEST(Compiler11, CreditAndKickAndClearAreNeverLeftOut) {
  ControlProgram p;
  p.seed_credits(512);
  p.seed_credits(512);
  p.clear_done();
  p.clear_done();
  EXPECT_THAT(p.commands(),
              ElementsAre(Command{kWrite, 0x10000060, 512, 0}, Command{kWrite, 0x10000060, 512, 0},
                          Command{kWrite, 0x10000070, 0, 0}, Command{kWrite, 0x10000070, 0, 0}));
  EXPECT_THROW(p.write_changed(0x50, 1), arch::InternalError);
}

TEST(Compiler11, APlainWriteIsDoneAndRemembered) {
  ControlProgram p;
  p.write(0x48, 4);
  p.write(0x48, 4);
  p.write_changed(0x48, 4);
  EXPECT_EQ(p.commands().size(), 2u);
}

TEST(Compiler11, EveryProgramBeginsWithAnEmptyShadow) {
  const Artifact round = round_of(4, {Seed{512}, kick({1, 1}, 0, 4)});
  EXPECT_EQ(control_program(round), control_program(round));
}

TEST(Compiler11, AwaitsComparePlaceByPlace) {
  ControlProgram p;
  p.await_node({8, 1}, 0x12345);
  p.await_signal({8, 1}, arch::SignalCode::kDataReceived, 2);
  p.await_signal({8, 1}, arch::SignalCode::kBatchComplete, 2, 0x40);
  p.await_all(9);
  p.done(0xC0DE);
  EXPECT_THAT(p.commands(),
              ElementsAre(Command{kPoll, 0x100010C0, 0x234501, 0x00FFFF01},
                          Command{kPoll, 0x100010C0, 3ull << 56 | 0x201, 0xFF00000000FFFF01},
                          Command{kPoll, 0x100010C0, 1ull << 56 | 0x40ull << 24 | 0x201, 0xFFFFFFFFFFFFFF01},
                          Command{kPoll, 0x10000070, 9, 0xFFFF}, Command{kDone, 0, 0xC0DE, 0}));
}

TEST(Compiler12, AwaitsCountOnFromTheBaselineIn16Bits) {
  const Artifact round = round_of(0, {Await{{1, 1}, 4}, Await{{2, 1}, 1}});
  Baselines before;
  before.set({1, 1}, 0xFFFE);
  EXPECT_EQ(control_program(round, before)[0].data, 0x0201u);
  EXPECT_EQ(control_program(round, before)[1].data, 0x0101u);
  before.add(round);
  EXPECT_EQ(before.of({1, 1}), 2u);
  EXPECT_EQ(before.of({2, 1}), 1u);
}

TEST(Compiler11, EachSlotIsStagedOnceInFiveWordsLowFirst) {
  Artifact round = round_of(2, {Seed{512}, kick({1, 1}, 0, 2), kick({2, 1}, 0, 2)});
  round.words[1].w = {1, 2, 3, 4, 0x400};
  const auto writes = setup_writes(round);
  ASSERT_EQ(writes.size(), 10u);
  EXPECT_EQ(writes[0].address, 0x10002000u);
  EXPECT_EQ(writes[4].data, 0x5000u);
  EXPECT_EQ(writes[5], (arch::HostWrite{0x10002028, 1}));
  EXPECT_EQ(writes[8], (arch::HostWrite{0x10002040, 4}));
  // The encoder's transaction number stays; the last flit of a kick is marked.
  EXPECT_EQ(writes[9], (arch::HostWrite{0x10002048, 0x5408}));
}

TEST(Compiler12, RoundsThatCannotRunAreRefused) {
  EXPECT_EQ(refusal(round_of(4, {Seed{512}, kick({1, 1}, 0, 4), kick({2, 1}, 0, 4)})), "");
  EXPECT_THAT(refusal(round_of(3, {Seed{512}, kick({1, 1}, 0, 4)})), testing::HasSubstr("only 3 words"));
  EXPECT_THAT(refusal(round_of(4, {Seed{512}, kick({1, 1}, 0, 4)}), {3, 128, 512}),
              testing::HasSubstr("the staging RAM has 3"));
  EXPECT_THAT(refusal(round_of(4, {Seed{512}, kick({1, 1}, 0, 3), kick({1, 1}, 2, 2)})),
              testing::HasSubstr("shares some slots"));
  EXPECT_THAT(refusal(round_of(4, {kick({1, 1}, 0, 4)})), testing::HasSubstr("seeded"));
  EXPECT_THAT(refusal(round_of(4, {Seed{512}, kick({1, 1}, 0, 0)})), testing::HasSubstr("sends nothing"));
  EXPECT_THROW((void)Staging(128).slot(127, 2), arch::UserError);
  EXPECT_THROW((void)Staging(128).slot(128, 0), arch::UserError);
}

TEST(Compiler12, ARoundAsStepsOfAProgramFile) {
  const auto steps = program_steps(round_of(2, {Seed{9}, kick({1, 2}, 0, 2), Await{{1, 2}, 2}}), 1);
  ASSERT_EQ(steps.size(), 6u);
  EXPECT_EQ(std::get<arch::StepBaseline>(steps[1].action).nodes, (std::vector<arch::Coord>{{1, 2}}));
  EXPECT_TRUE(std::get<arch::StepStage>(steps[2].action).flits[1].last());
  EXPECT_EQ(std::get<arch::StepCredit>(steps[3].action).seed, 9u);
  EXPECT_EQ(std::get<arch::StepKick>(steps[4].action), (arch::StepKick{{1, 2}, 0, 2}));
  EXPECT_EQ(std::get<arch::StepAwait>(steps[5].action), (arch::StepAwait{{1, 2}, 2}));
  for (const arch::Step& step : steps) EXPECT_EQ(step.mesh, 1);
}

}  // namespace
}  // namespace ktpu::bytes
