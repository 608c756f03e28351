// SPDX-License-Identifier: Apache-2.0
// orchestrator.md sections 5 and 6: dispatcher and credit.
#include <gtest/gtest.h>

#include "tests/unit/orchestrator/agent_bench.h"

namespace ktpu::orchestrator::test {
namespace {

unsigned run_bit(AgentBench& b, Cycle cycle) { return b.at(cycle, reg::kProgStat) & 1; }
unsigned left(AgentBench& b) { return (b.peek(reg::kProgStat) >> 1) & 0xFFFF; }
unsigned credit(const AgentBench& b) { return static_cast<unsigned>(b.peek(reg::kProgCred)); }

TEST(Orchestrator_S5_Dispatch, CycleTable) {
  AgentBench b;
  const Cycle w = b.start(4, 32);
  EXPECT_EQ(run_bit(b, w + 1), 0u);
  EXPECT_EQ(run_bit(b, w + 2), 1u);
  EXPECT_EQ(left(b), 4u);
  EXPECT_EQ(b.at(w + 7, reg::kProgCred), 32u);
  EXPECT_EQ(left(b), 3u);
  EXPECT_EQ(b.at(w + 8, reg::kProgCred), 31u);
  EXPECT_EQ(b.peek(reg::kProgStat), 0x3E0007u);  // section 10.7: run, 3 left, credit 31
  EXPECT_EQ(run_bit(b, w + 21), 1u);             // word 4 of the last flit
  EXPECT_EQ(run_bit(b, w + 22), 0u);
  EXPECT_EQ(left(b), 1u) << "stays at 1 after a run";
  b.run(w + 60);
  EXPECT_EQ(b.pushes, (std::vector<Cycle>{w + 7, w + 12, w + 17, w + 22}));
  ASSERT_EQ(b.sent.size(), 4u);
  for (unsigned k = 0; k < 4; ++k) EXPECT_EQ(b.sent[k].out, w + 11 + 5 * k) << k;
}

TEST(Orchestrator_S5_Dispatch, RunOfOneFlit) {
  AgentBench b;
  const Cycle w = b.start(1, 1);
  EXPECT_EQ(run_bit(b, w + 6), 1u);
  EXPECT_EQ(run_bit(b, w + 7), 0u);
  EXPECT_EQ(b.peek(reg::kStatus), 4u) << "busy does not cover the FIFO's first cycles";
  EXPECT_EQ(b.at(w + 10, reg::kStatus), 5u);
  EXPECT_EQ(b.at(w + 11, reg::kStatus), 4u);
  b.run(w + 20);
  ASSERT_EQ(b.sent.size(), 1u);
  EXPECT_EQ(b.sent[0].out, w + 11);
}

TEST(Orchestrator_S5_Dispatch, HeaderIsRewrittenAndTheRestKept) {
  AgentBench b;
  const Cycle w = b.start(3, 9);
  b.run(w + 60);
  ASSERT_EQ(b.sent.size(), 3u);
  for (unsigned i = 0; i < 3; ++i) {
    Flit want = AgentBench::numbered(i);
    want.set_dst({1, 1});
    want.set_src({0, 1});
    EXPECT_EQ(b.sent[i].flit, want) << i;
  }
}

TEST(Orchestrator_S5_Dispatch, AnyTypeMayBeStagedAndCosts) {
  AgentBench b;
  Flit flit = AgentBench::numbered(0);
  flit.w[4] = arch::make_header({0, 0}, {0, 0}, FlitType::kCuCtrl, 3, true);
  b.stage(0, 0, flit);
  b.write(5, reg::kProgLen, 1);
  b.write(6, reg::kProgCred, 5);
  b.write(10, reg::kProgKick, 1);
  b.run(50);
  ASSERT_EQ(b.sent.size(), 1u);
  EXPECT_EQ(b.sent[0].flit.type(), FlitType::kCuCtrl);
  EXPECT_EQ(b.peek(reg::kProgCred), 4u);
}

TEST(Orchestrator_S5_Dispatch, BaseIsASlotNumber) {
  AgentBench b;
  for (unsigned i = 0; i < 6; ++i) b.stage(5 * i, i, AgentBench::numbered(i));
  b.write(40, reg::kProgBase, 3);
  b.write(41, reg::kProgLen, 2);
  b.write(42, reg::kProgCred, 9);
  b.write(45, reg::kProgKick, 1);
  b.write(47, reg::kProgBase, 0);  // sampled at the kick: no longer looked at
  b.write(48, reg::kProgLen, 9);
  b.run(100);
  ASSERT_EQ(b.sent.size(), 2u);
  EXPECT_EQ(b.sent[0].flit.txn(), 3u);
  EXPECT_EQ(b.sent[1].flit.txn(), 4u);
}

TEST(Orchestrator_S5_Dispatch, KickWhileRunningIsIgnored) {
  for (const Cycle offset : {2u, 5u, 6u}) {  // the pulse comes one cycle later; run falls in w+7
    AgentBench b;
    const Cycle w = b.start(1, 9);
    b.write(w + offset, reg::kProgKick, 1);
    b.run(w + 60);
    EXPECT_EQ(b.sent.size(), offset == 6 ? 2u : 1u) << offset;
  }
}

TEST(Orchestrator_S5_Dispatch, KickWithLengthZeroIsIgnored) {
  AgentBench b;
  b.write(1, reg::kProgCred, 9);
  b.write(5, reg::kProgKick, 1);
  b.run(40);
  EXPECT_TRUE(b.sent.empty());
  EXPECT_EQ(b.peek(reg::kProgStat), 9u << 17);
}

TEST(Orchestrator_S5_Dispatch, DestinationIsLive) {
  for (const Cycle offset : {11u, 12u}) {  // flit 1 is pushed in w+12
    AgentBench b;
    const Cycle w = b.start(3, 9);
    b.write(w + offset, reg::kProgDst, 0x23);
    b.run(w + 60);
    ASSERT_EQ(b.sent.size(), 3u);
    const Coord before{1, 1}, after{3, 2};
    EXPECT_EQ(b.sent[0].flit.dst(), before);
    EXPECT_EQ(b.sent[1].flit.dst(), offset == 11 ? after : before);
    EXPECT_EQ(b.sent[2].flit.dst(), after);
  }
}

// Credit 0 freezes between two words; the half assembled flit goes on where it stopped.
TEST(Orchestrator_S5_Stall, CreditFreezesAHalfAssembledFlit) {
  AgentBench b;
  const Cycle w = b.start(2, 1);
  const Cycle x = w + 100;
  b.write(x, reg::kProgCred, 7);  // holds the value from x+2: words 1..4 in x+2..x+5
  EXPECT_EQ(b.at(x, reg::kProgStat), 1u | 1u << 1);
  EXPECT_EQ(b.sent.size(), 1u);
  b.run(x + 30);
  ASSERT_EQ(b.sent.size(), 2u);
  EXPECT_EQ(b.sent[1].out, x + 10);
  Flit want = AgentBench::numbered(1);
  want.set_dst({1, 1});
  want.set_src({0, 1});
  EXPECT_EQ(b.sent[1].flit, want);
  EXPECT_EQ(b.peek(reg::kProgStat), 6u << 17 | 1u << 1);
}

TEST(Orchestrator_S5_Stall, ReturnedCreditResumesTheRun) {
  AgentBench b;
  const Cycle w = b.start(2, 1);
  b.arrive(w + 50, AgentBench::signal({1, 1}, 0, 1));  // credit 1 in w+51: words 1..4 there and after
  b.run(w + 80);
  ASSERT_EQ(b.sent.size(), 2u);
  EXPECT_EQ(b.sent[1].out, w + 51 + 8);
}

TEST(Orchestrator_S5_Stall, FullTxFifoFreezesAndLosesNothing) {
  AgentBench b;
  const Cycle w = b.start(25, 512);
  b.blocked = [&](Cycle c) { return c < w + 300; };
  b.run(w + 300);
  EXPECT_EQ(b.peek(reg::kTxStatus), 0x10000u);
  EXPECT_EQ(b.peek(reg::kProgStat) & 0x1FFFF, 1u | 6u << 1) << "1 on the output, 18 in the FIFO";
  b.run(w + 400);
  ASSERT_EQ(b.sent.size(), 25u);
  for (unsigned i = 0; i < 25; ++i) EXPECT_EQ(b.sent[i].flit.txn(), i);
  EXPECT_EQ(b.peek(reg::kProgStat) & 1, 0u);
}

TEST(Orchestrator_S3_3_Stage, DisjointSlotsMayBeStagedDuringADispatch) {
  AgentBench b;
  const Cycle w = b.start(4, 9);
  b.stage(w + 3, 64, AgentBench::numbered(64));
  b.write(w + 40, reg::kProgBase, 64);
  b.write(w + 41, reg::kProgLen, 1);
  b.write(w + 42, reg::kProgKick, 1);
  b.run(w + 80);
  ASSERT_EQ(b.sent.size(), 5u);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(b.sent[i].flit.txn(), i);
  EXPECT_EQ(b.sent[4].flit.txn(), 64u);
}

// --- Section 6

// The push of a run of one flit is in w+7: its effect shows in w+8.
TEST(Orchestrator_S6_Credit, PushTakesOne) {
  AgentBench b;
  const Cycle w = b.start(1, 5);
  EXPECT_EQ(b.at(w + 7, reg::kProgCred), 5u);
  EXPECT_EQ(b.at(w + 8, reg::kProgCred), 4u);
}

TEST(Orchestrator_S6_Credit, CompletionGivesOneFromAnyNodeEvenUnasked) {
  AgentBench b;
  b.arrive(3, AgentBench::signal({3, 2}, 0x00, 1));
  b.run(4);
  EXPECT_EQ(credit(b), 1u);
}

TEST(Orchestrator_S6_Credit, OtherSignalsGiveNothing) {
  AgentBench b;
  for (unsigned code = 1; code < 256; ++code) b.arrive(3 + code, AgentBench::signal({1, 1}, code, 0));
  b.arrive(300, AgentBench::reply({1, 1}, 0));
  b.run(400);
  EXPECT_EQ(credit(b), 0u);
}

TEST(Orchestrator_S6_Credit, PushAndCompletionOfOneCycleCancel) {
  for (const Cycle offset : {6u, 7u, 8u}) {
    AgentBench b;
    const Cycle w = b.start(1, 5);
    b.arrive(w + offset, AgentBench::signal({1, 1}, 0, 0));
    if (offset == 7) {
      EXPECT_EQ(b.at(w + 8, reg::kProgCred), 5u);
    }
    b.run(w + 20);
    EXPECT_EQ(credit(b), 5u) << offset;
  }
}

TEST(Orchestrator_S6_Credit, HostWriteWinsOverEverythingOfItsCycle) {
  AgentBench b;
  const Cycle w = b.start(1, 5);
  b.write(w + 6, reg::kProgCred, 100);  // load pulse in w+7, the cycle of the push
  EXPECT_EQ(b.at(w + 8, reg::kProgCred), 100u);

  AgentBench c;
  const Cycle v = c.start(1, 5);
  c.write(v + 6, reg::kProgCred, 100);
  c.arrive(v + 7, AgentBench::signal({1, 1}, 0, 0));
  EXPECT_EQ(c.at(v + 9, reg::kProgCred), 100u);

  AgentBench d;
  d.write(10, reg::kProgCred, 100);
  d.arrive(11, AgentBench::signal({1, 1}, 0, 0));
  EXPECT_EQ(d.at(13, reg::kProgCred), 100u);
}

TEST(Orchestrator_S6_Credit, NeverBelowZero) {
  AgentBench b;
  const Cycle w = b.start(1, 5);
  b.write(w + 5, reg::kProgCred, 0);  // 0 from w+7, where the flit assembled before is pushed
  EXPECT_EQ(b.at(w + 7, reg::kProgCred), 0u);
  b.run(w + 40);
  EXPECT_EQ(b.sent.size(), 1u);
  EXPECT_EQ(credit(b), 0u);
}

TEST(Orchestrator_S6_Credit, AProgramOfNFlitsWithLastNetsMinusOne) {
  AgentBench b;
  const Cycle w = b.start(4, 32);
  for (unsigned i = 0; i < 3; ++i) b.arrive(w + 40 + 9 * i, AgentBench::signal({1, 1}, 0, i + 1));
  b.arrive(w + 90, AgentBench::signal({1, 1}, 1, 0x40));
  b.run(w + 100);
  EXPECT_EQ(credit(b), 31u);
  EXPECT_EQ(b.peek(reg::kProgStat), 0x3E0002u);  // section 10.5
}

}  // namespace
}  // namespace ktpu::orchestrator::test
