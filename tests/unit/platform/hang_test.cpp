// SPDX-License-Identifier: Apache-2.0
// orchestrator.md section 11: every row that hangs the machine ends with exit status 4 and a message that
// says why, never in silence.
#include <gmock/gmock.h>

#include "arch/program/text.h"
#include "tests/unit/platform/bench.h"

namespace ktpu::platform::test {
namespace {

using arch::ExitStatus;
using testing::AllOf;
using testing::HasSubstr;

RunResult run_program(const std::string& topology, const arch::Program& program,
                      const topo::Overrides& sets = {}, Cycle watchdog = 4000) {
  const auto system = make_system(topology, sets);
  Runner runner(*system, &program, {500'000, watchdog});
  return runner.run();
}
RunResult run(const std::string& topology, const std::string& text, const topo::Overrides& sets = {},
              Cycle watchdog = 4000) {
  return run_program(topology, arch::assemble(text, "test.kasm"), sets, watchdog);
}

// Four instructions on cluster (1,1), the last one marked so.
const std::string kStage = R"(
  stage 0 {
    fill a n=32 from=0x0 txn=0x40
    fill b n=32 from=0x2000 txn=0x40
    gemm gm=8 gn=8 nk=4 txn=0x40
    drain n=64 to=0x4000 txn=0x40 last
  }
  write SIG_DONE = 0
)";

TEST(Orchestrator_S11_Hang, ControlGroup) {
  const RunResult r =
      run("mesh1", kStage + "credit 32\n kick (1,1) slots=0..3\n poll SIG_DONE & 0xffff == 4\n");
  EXPECT_EQ(r.status, ExitStatus::kOk) << r.message;
}

TEST(Orchestrator_S11_Hang, OneSignalTooManyAwaited) {
  const RunResult r =
      run("mesh1", kStage + "credit 32\n kick (1,1) slots=0..3\n poll SIG_DONE & 0xffff == 5\n");
  EXPECT_EQ(r.status, ExitStatus::kNoProgress);
  EXPECT_THAT(r.message, AllOf(HasSubstr("no progress"), HasSubstr("step 4"), HasSubstr("SIG_DONE"),
                               HasSubstr("last value 0x4"), HasSubstr("fewer signals")));
  EXPECT_LT(r.cycles, 20'000u);
}

TEST(Orchestrator_S11_Hang, CountOfOneNode) {
  const RunResult r =
      run("mesh1", "baseline (1,1)\n" + kStage + "credit 32\n kick (1,1) slots=0..3\n await (1,1) 5\n");
  EXPECT_EQ(r.status, ExitStatus::kNoProgress);
  EXPECT_THAT(r.message,
              AllOf(HasSubstr("NODE_STATUS of (1,1)"), HasSubstr("4 signals came from the node, 5 are")));
}

TEST(Orchestrator_S11_Hang, KickWhileRunning) {
  const RunResult r = run("mesh1", kStage + R"(
    credit 32
    write PROG_DST = 0x11
    write PROG_LEN = 2
    write PROG_KICK = 1
    write PROG_BASE = 2
    write PROG_KICK = 1
    poll SIG_DONE & 0xffff == 4
  )");
  EXPECT_EQ(r.status, ExitStatus::kNoProgress);
  EXPECT_THAT(r.message, HasSubstr("1x a kick was ignored because a dispatch was running"));
}

TEST(Orchestrator_S11_Hang, KickWithLengthZero) {
  const RunResult r = run("mesh1", kStage + R"(
    credit 32
    write PROG_DST = 0x11
    write PROG_KICK = 1
    poll SIG_DONE & 0xffff == 4
  )");
  EXPECT_EQ(r.status, ExitStatus::kNoProgress);
  EXPECT_THAT(r.message, HasSubstr("1x a kick was ignored because PROG_LEN was 0"));
}

TEST(Orchestrator_S11_Hang, CreditLeakedByLast) {
  const RunResult r = run("mesh1", R"(
    stage 0 {
      fill a n=1 from=0x0 txn=1 last
      fill a n=1 from=0x0 txn=2 last
      fill a n=1 from=0x0 txn=3 last
      fill a n=1 from=0x0 txn=4 last
    }
    credit 2
    kick (1,1) slots=0..3
    poll SIG_DONE & 0xffff == 4
  )");
  EXPECT_EQ(r.status, ExitStatus::kNoProgress);
  EXPECT_THAT(r.message,
              AllOf(HasSubstr("the dispatcher has 2 flits left and no credit"), HasSubstr("PROG_CRED")));
}

TEST(Orchestrator_S11_Hang, CreditAboveTheInstructionDepth) {
  std::string text = "stage 0 {\n";
  for (int i = 0; i < 60; ++i) text += "fill a n=32 from=0x0 txn=1\n";
  text += "}\ncredit 512\nkick (1,1) slots=0..59\npoll SIG_DONE & 0xffff == 60\n";
  const RunResult r =
      run("mesh1", text, {"meshes.0.units.mat.inst_depth=16", "meshes.0.dram.first_read_beat=400"});
  EXPECT_EQ(r.status, ExitStatus::kNoProgress);
  EXPECT_THAT(r.message, AllOf(HasSubstr("cluster@1,1"), HasSubstr("room in its instruction FIFO"),
                               HasSubstr("entries placed")));
}

TEST(Orchestrator_S11_Hang, DoneClearedWhileSignalsCome) {
  const RunResult r = run("mesh1", kStage + R"(
    credit 32
    kick (1,1) slots=0..3
    poll SIG_DONE & 0xffff == 1
    write SIG_DONE = 0
    poll SIG_DONE & 0xffff == 4
  )");
  EXPECT_EQ(r.status, ExitStatus::kNoProgress);
  EXPECT_THAT(r.message,
              AllOf(HasSubstr("SIG_DONE"), HasSubstr("last value 0x3"), HasSubstr("a clear of SIG_DONE")));
}

TEST(Orchestrator_S11_Hang, MoreSignalsThanAwaited) {
  const RunResult r = run("mesh1", kStage + R"(
    credit 32
    kick (1,1) slots=0..3
    poll SIG_DONE & 0xffff == 4
    kick (1,1) slots=0..3
    quiet 3000
    poll SIG_DONE & 0xffff == 4
  )");
  EXPECT_EQ(r.status, ExitStatus::kNoProgress);
  EXPECT_THAT(r.message, HasSubstr("more signals came than are awaited"));
}

const std::string kRequest = R"(
  write TX_FLIT[4] = 0x11017018
)";

TEST(Orchestrator_S11_Hang, MailboxReplyLostBecauseTheMailboxWasFull) {
  std::string text = kRequest;
  for (int i = 0; i < 19; ++i) text += "write TX_KICK = 1\nquiet 40\n";
  for (int i = 0; i < 18; ++i) text += "write RX_POP = 1\n";
  const RunResult r = run("mesh1", text + "poll RX_STATUS & 0x10000 == 0\n");
  EXPECT_EQ(r.status, ExitStatus::kNoProgress);
  EXPECT_THAT(r.message, AllOf(HasSubstr("no flit is in the receive mailbox"),
                               HasSubstr("1x a flit was lost because the receive mailbox was full")));
}

TEST(Orchestrator_S11_Hang, MailboxSendIgnored) {
  const RunResult r = run("mesh1", kStage + kRequest + R"(
    credit 32
    kick (1,1) slots=0..3
    write TX_KICK = 1
    poll RX_STATUS & 0x10000 == 0
  )");
  EXPECT_EQ(r.status, ExitStatus::kNoProgress);
  EXPECT_THAT(r.message, HasSubstr("1x a mailbox send was ignored"));
}

TEST(Orchestrator_S11_Hang, PollOfTheEngineThatCannotMatch) {
  arch::Program program;  // the assembler refuses such a poll
  program.steps.push_back({0, arch::StepCommands{{{2, 0x10000010, 0x120, 0xFF}, {3, 0, 0, 0}}}});
  const RunResult r = run_program("mesh1", program);
  EXPECT_EQ(r.status, ExitStatus::kNoProgress);
  EXPECT_THAT(r.message, AllOf(HasSubstr("engine: command 0"), HasSubstr("CAPS"), HasSubstr("never met"),
                               HasSubstr("until the command engine is done")));
}

TEST(Orchestrator_S11_Hang, EngineWithoutDoneEndsWithErr) {
  arch::Program program;  // the assembler refuses such a list
  program.steps.push_back({0, arch::StepCommands{{{1, 0x10000000, 1, 0}}}});
  const RunResult r = run_program("mesh1", program);
  EXPECT_EQ(r.status, ExitStatus::kUnitFault);
  EXPECT_THAT(r.message, HasSubstr("End the list with DONE"));
}

TEST(Orchestrator_S11_Hang, DestinationChangedDuringARun) {
  const RunResult r = run("mesh8", R"(
    baseline (1,1)
    stage 0 {
      fill a n=1 from=0x80000000 txn=1
      fill a n=1 from=0x80000000 txn=2
      fill a n=1 from=0x80000000 txn=3 last
    }
    credit 32
    kick (1,1) slots=0..2
    write PROG_DST = 0x12
    await (1,1) 3
  )");
  EXPECT_EQ(r.status, ExitStatus::kNoProgress);
  EXPECT_THAT(r.message, HasSubstr("1x PROG_DST was changed while a dispatch was running"));
}

TEST(Fabric_S6_1_EmptySlot, ALostInstructionIsNamed) {
  const RunResult r =
      run("mesh1", kStage + "credit 32\n kick (1,2) slots=0..3\n poll SIG_DONE & 0xffff == 4\n");
  EXPECT_EQ(r.status, ExitStatus::kNoProgress);
  EXPECT_THAT(r.message, AllOf(HasSubstr("router@1,1"), HasSubstr("4"), HasSubstr("nothing is attached")));
}

TEST(Runner_Limits, CycleLimitSaysHowFarItCame) {
  const arch::Program program = arch::assemble(kStage + "poll SIG_DONE == 1\n", "test.kasm");
  const auto system = make_system("mesh1");
  Runner runner(*system, &program, {1000, 100'000});
  const RunResult& r = runner.run();
  EXPECT_EQ(r.status, ExitStatus::kCycleLimit);
  EXPECT_EQ(r.cycles, 1000u);
  EXPECT_THAT(r.message, AllOf(HasSubstr("1000"), HasSubstr("--max-cycles")));
}

// A CU_DATA burst for a buffer that does not exist: the next retirement is a fault, which satisfies the
// count.
TEST(Runner_Faults, AFaultIsExitStatus3AndNamesUnitAndCycle) {
  const RunResult r = run("mesh1", R"(
    write TX_FLIT[3] = 0x0900000000000000
    write TX_FLIT[4] = 0x11018020
    write TX_KICK = 1
    write TX_FLIT[4] = 0x11018028
    write TX_KICK = 1
    stage 0 {
      fill a n=1 from=0x0 txn=1
    }
    credit 32
    kick (1,1) slots=0..0
    poll SIG_DONE & 0xffff == 1
  )");
  EXPECT_EQ(r.status, ExitStatus::kUnitFault);
  EXPECT_THAT(r.message, AllOf(HasSubstr("cluster@1,1"), HasSubstr("fault"), HasSubstr("cycle")));
}

TEST(Runner_Faults, AccessOutsideTheDramIsNamed) {
  const RunResult r = run("mesh1", R"(
    stage 0 {
      fill a n=1 from=0x3ffffff000 txn=1 last
    }
    credit 32
    kick (1,1) slots=0..0
    poll SIG_DONE & 0xffff == 1
  )");
  EXPECT_EQ(r.status, ExitStatus::kUnitFault);
  EXPECT_THAT(r.message, AllOf(HasSubstr("cluster@1,1"), HasSubstr("0x3ffffff000")));
}

}  // namespace
}  // namespace ktpu::platform::test
