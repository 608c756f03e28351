// SPDX-License-Identifier: Apache-2.0
// Programs that the hardware has no answer to (quirks.md, illegal programs; cluster.md section 15;
// orchestrator.md section 11; memory.md section 4.5). Each ends by itself, and where it stands still or
// faults the message names the cause. tests/unit/platform/hang_test.cpp has the rows of orchestrator.md one
// by one; these are the ones of the matmul path.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/encoding/cluster_inst.h"
#include "arch/encoding/payloads.h"
#include "arch/encoding/registers.h"
#include "tests/fuzz/outcome.h"
#include "tests/fuzz/seeds.h"

namespace ktpu::fuzz {
namespace {

using namespace arch;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint32_t kFill = 1, kGemm = 2, kDrain = 3;

ClusterInst fill(unsigned side, std::uint64_t from, unsigned n) {
  ClusterInst i;
  i.op = kFill;
  i.sel = side;
  i.addr = from;
  i.n = n;
  return i;
}
ClusterInst gemm(unsigned gm, unsigned gn, unsigned nk) {
  ClusterInst i;
  i.op = kGemm;
  i.gm = gm;
  i.gn = gn;
  i.nk = nk;
  return i;
}
ClusterInst drain(unsigned n, std::uint64_t to) {
  ClusterInst i;
  i.op = kDrain;
  i.n = n;
  i.addr = to;
  return i;
}

// Stages `list`, seeds the credit, kicks it off to `to` and awaits every completion.
struct Job {
  std::vector<ClusterInst> list;
  Coord to{1, 1};
  std::uint32_t credit = 64;
  std::vector<Step> before = {};  // ahead of the kick
};
Program make_program(const Job& job) {
  Program p;
  p.name = "directed";
  StepStage stage;
  for (const ClusterInst& inst : job.list)
    stage.flits.push_back(
        make_flit(make_header({}, {}, FlitType::kCuInst, 0x40, &inst == &job.list.back()), inst));
  const auto count = static_cast<std::uint32_t>(stage.flits.size());
  p.steps.push_back({0, StepBaseline{{job.to}}});
  p.steps.push_back({0, stage});
  if (job.credit != 0) p.steps.push_back({0, StepCredit{job.credit}});
  p.steps.insert(p.steps.end(), job.before.begin(), job.before.end());
  p.steps.push_back({0, StepKick{job.to, 0, count}});
  p.steps.push_back({0, StepAwait{job.to, count}});
  return p;
}
std::vector<Step> mailbox(const Flit& flit) {
  std::vector<Step> steps;
  for (unsigned w = 0; w < agent::kWordsPerFlit; ++w)
    steps.push_back({0, StepWrite{agent::kTxFlit + 8 * w, flit.w[w]}});
  steps.push_back({0, StepWrite{agent::kTxKick, 1}});
  steps.push_back({0, StepQuiet{64}});
  return steps;
}

Outcome run_on(const char* name, const Program& program) {
  for (const SeedMachine& machine : machines())
    if (machine.name == name) {
      const Outcome outcome = run(machine.machine, &program, {60'000, 4000});
      EXPECT_EQ(outcome.wrong, "") << outcome.message;
      return outcome;
    }
  ADD_FAILURE() << "no machine " << name;
  return {};
}
Outcome run_job(const Job& job, const char* machine = "mesh1") { return run_on(machine, make_program(job)); }

#define EXPECT_END(outcome, expected, matcher)      \
  do {                                              \
    const Outcome& end = outcome;                   \
    EXPECT_EQ(end.status, expected) << end.message; \
    EXPECT_THAT(end.message, matcher);              \
  } while (false)

// Where the machine may go on, too.
#define EXPECT_FINE_OR(outcome, matcher) \
  do {                                   \
    const Outcome& end = outcome;        \
    if (end.status != ExitStatus::kOk) { \
      EXPECT_THAT(end.message, matcher); \
    }                                    \
  } while (false)

TEST(Directed, ControlGroup) {
  EXPECT_END(run_job({.list = {fill(0, 0, 4), fill(1, 0x1000, 4), gemm(2, 2, 2), drain(4, 0x4000)}}),
             ExitStatus::kOk, "");
}

TEST(Directed, EmitWithNothingToEmit) {
  ClusterInst sweep = gemm(2, 2, 1), last = drain(4, 0x4000);
  sweep.emit = 1;
  sweep.addr = 0x4000;
  last.fuse = 1;
  EXPECT_END(run_job({.list = {fill(0, 0, 2), fill(1, 0x1000, 2), sweep, last}}), ExitStatus::kNoProgress,
             AllOf(HasSubstr("cluster@1,1"), HasSubstr("emits nothing")));
}

TEST(Directed, FillOf256) {
  EXPECT_END(run_job({.list = {fill(0, 0, 256)}}), ExitStatus::kNoProgress,
             AllOf(HasSubstr("FILL A"), HasSubstr("never completes")));
}

TEST(Directed, CreditNeverSeeded) {
  EXPECT_END(run_job({.list = {fill(0, 0, 1), fill(1, 0, 1)}, .credit = 0}), ExitStatus::kNoProgress,
             AllOf(HasSubstr("no credit"), HasSubstr("PROG_CRED")));
}

TEST(Directed, FusedDrainOfMoreThanItsSweepMakes) {
  ClusterInst sweep = gemm(2, 2, 2), last = drain(5, 0x4000);
  sweep.emit = 1;
  sweep.addr = 0x4000;
  last.fuse = 1;
  const Outcome outcome = run_job({.list = {fill(0, 0, 4), fill(1, 0x1000, 4), sweep, last}});
  EXPECT_FINE_OR(outcome, HasSubstr("fused DRAIN of 5 for a GEMM with 4 results"));
}

TEST(Directed, SecondEmittingSweepBeforeTheFirstDrain) {
  ClusterInst sweep = gemm(2, 2, 2), last = drain(4, 0x4000);
  sweep.emit = 1;
  sweep.addr = 0x4000;
  last.fuse = 1;
  const Outcome outcome = run_job({.list = {fill(0, 0, 4), fill(1, 0x1000, 4), sweep, sweep, last}});
  EXPECT_FINE_OR(outcome, HasSubstr("second emitting GEMM"));
}

// A burst to the sender itself: its own descriptor waits behind the sweep that waits for the burst.
TEST(Directed, PeerBurstToItself) {
  for (const unsigned buffer : {0u, 1u, 2u}) {
    ClusterInst last = drain(4, 0);
    last.dnode = 1;
    last.dst_x = last.dst_y = 1;
    last.dbuf = buffer;
    const Outcome outcome = run_job({.list = {fill(0, 0, 4), fill(1, 0x1000, 4), gemm(2, 2, 2), last}});
    EXPECT_FINE_OR(outcome, AllOf(HasSubstr("cluster@1,1"), HasSubstr("(1,1)")));
  }
}

TEST(Directed, PeerBurstForABufferThatIsNone) {
  ClusterInst last = drain(4, 0);
  last.dnode = 1;
  last.dst_x = 2;
  last.dst_y = 1;
  last.dbuf = 9;
  const Outcome outcome =
      run_job({.list = {fill(0, 0x80000000, 4), fill(1, 0x80001000, 4), gemm(2, 2, 2), last}}, "mesh8");
  EXPECT_FINE_OR(outcome, HasSubstr("cluster@2,1"));
}

TEST(Directed, InstructionsForACornerOrAnEmptySlot) {
  for (const Coord to : {Coord{0, 0}, Coord{2, 2}, Coord{1, 0}, Coord{2, 1}, Coord{15, 15}}) {
    SCOPED_TRACE(testing::Message() << int{to.x} << "," << int{to.y});
    EXPECT_END(run_job({.list = {fill(0, 0, 1)}, .to = to}), ExitStatus::kNoProgress,
               AllOf(HasSubstr("NODE_STATUS"), HasSubstr("0 signals came")));
  }
}

TEST(Directed, InstructionsForTheMemoryPort) {
  EXPECT_END(run_job({.list = {fill(0, 0x80000000, 1)}, .to = {0, 2}}, "mesh8"), ExitStatus::kNoProgress,
             HasSubstr("NODE_STATUS of (0,2)"));
}

TEST(Directed, WriteDataWithoutAnOpenWrite) {
  EXPECT_END(run_job({.list = {fill(0, 0x80000000, 1)},
                      .before = mailbox(make_flit({0, 2}, {0, 1}, FlitType::kMemWrData, 0, true))},
                     "mesh8"),
             ExitStatus::kUnitFault, AllOf(HasSubstr("no open write"), HasSubstr("(0,2)")));
}

TEST(Directed, WriteBurstOfMoreThanEightBeats) {
  MemReq request;
  request.addr = 0x80000000;
  request.len = 20;
  const Outcome outcome = run_job(
      {.list = {fill(0, 0x80000000, 1)},
       .before = mailbox(make_flit(make_header({0, 2}, {0, 1}, FlitType::kMemWrReq, 0, true), request))},
      "mesh8");
  EXPECT_THAT((std::vector{ExitStatus::kOk, ExitStatus::kNoProgress, ExitStatus::kUnitFault}),
              testing::Contains(outcome.status));
}

// The response stands at the head of the receive FIFO until a FILL comes; a second one takes it for its own.
TEST(Directed, ReadResponseOutsideAFill) {
  const auto stray = mailbox(make_flit({1, 1}, {0, 1}, FlitType::kMemRdResp, 0x40, true));
  Program p = make_program({.list = {gemm(1, 1, 1), drain(1, 0x4000)}, .before = stray});
  std::get<StepAwait>(p.steps.back().action).count = 3;
  EXPECT_END(
      run_on("mesh1", p), ExitStatus::kNoProgress,
      AllOf(HasSubstr("2 signals came from the node, 3 are"), HasSubstr("a FILL to take the read response")));
}

TEST(Directed, ReadOutsideTheMemory) {
  EXPECT_END(run_job({.list = {fill(0, 0x7000'0000, 1)}}, "mesh8"), ExitStatus::kUnitFault,
             AllOf(HasSubstr("0x70000000"), HasSubstr("cluster@1,1")));
}

TEST(Directed, ResultsOutsideTheMemory) {
  EXPECT_END(
      run_job({.list = {fill(0, 0x80000000, 4), fill(1, 0x80001000, 4), gemm(2, 2, 2), drain(4, 0x100)}},
              "mesh8"),
      ExitStatus::kUnitFault, HasSubstr("0x100"));
}

TEST(Directed, TilesThatWereNeverLoaded) {
  EXPECT_END(run_job({.list = {drain(4, 0x4000)}}), ExitStatus::kOk, "");
}

TEST(Directed, SharedFillWhosePeersDoNotFill) {
  ClusterInst shared = fill(0, 0x80000000, 8);
  shared.npeer = 2;
  shared.peer0 = Coord{1, 2}.node_byte();
  shared.peer1 = Coord{4, 4}.node_byte();
  const Outcome outcome = run_job({.list = {shared, fill(1, 0x80001000, 1)}}, "mesh8");
  EXPECT_FINE_OR(outcome, HasSubstr("FILL"));
}

TEST(Directed, KickOfNothingAndKickWhileRunning) {
  Program p = make_program({.list = {fill(0, 0, 1), fill(1, 0, 1)}});
  p.steps.pop_back();
  p.steps.push_back({0, StepWrite{agent::kProgLen, 0}});
  p.steps.push_back({0, StepWrite{agent::kProgKick, 1}});
  p.steps.push_back({0, StepAwait{{1, 1}, 4}});
  EXPECT_END(run_on("mesh1", p), ExitStatus::kNoProgress,
             AllOf(HasSubstr("a kick was ignored"), HasSubstr("2 signals came")));
}

TEST(Directed, PollOfARegisterThatIsNone) {
  Program p;
  p.steps.push_back({0, StepPoll{0xFF8, ~0ull, 1}});
  EXPECT_END(run_on("mesh1", p), ExitStatus::kNoProgress, AllOf(HasSubstr("step 0"), HasSubstr("0x0ff8")));
}

}  // namespace
}  // namespace ktpu::fuzz
