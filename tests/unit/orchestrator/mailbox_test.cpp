// SPDX-License-Identifier: Apache-2.0
// orchestrator.md sections 3.4 and 7: mailbox, receive side and completion mirror.
#include <gtest/gtest.h>

#include "tests/unit/orchestrator/agent_bench.h"

namespace ktpu::orchestrator::test {
namespace {

constexpr Cycle w = 10;

TEST(Orchestrator_S3_4_Mailbox, FlitIsOnTheOutputFiveCyclesAfterTheKick) {
  AgentBench b;
  Flit flit = AgentBench::numbered(9);
  for (unsigned i = 0; i < 5; ++i) b.write(i, reg::kTxFlit + 8 * i, flit.w[i]);
  b.write(w, reg::kTxKick, 1);
  b.run(30);
  ASSERT_EQ(b.sent.size(), 1u);
  EXPECT_EQ(b.pushes, std::vector<Cycle>{w + 1});
  EXPECT_EQ(b.sent[0].out, w + 5);
  EXPECT_EQ(b.sent[0].flit, flit);  // nothing is stamped: destination and source as written
}

TEST(Orchestrator_S3_4_Mailbox, BusyCoversTheFifoButNotItsFirstCyclesNorTheOutput) {
  AgentBench b;
  b.write(w, reg::kTxKick, 1);
  for (Cycle c = w; c < w + 8; ++c) EXPECT_EQ(b.at(c, reg::kStatus), c == w + 4 ? 5u : 4u) << c - w;
}

TEST(Orchestrator_S3_4_Mailbox, MailboxNeedsNoCredit) {
  AgentBench b;
  b.write(w, reg::kTxKick, 1);
  b.run(30);
  EXPECT_EQ(b.sent.size(), 1u);
  EXPECT_EQ(b.peek(reg::kProgCred), 0u);
}

TEST(Orchestrator_S3_4_Mailbox, ReplyIsReadableThreeCyclesAfterItsArrival) {
  AgentBench b;
  const Flit flit = AgentBench::reply({1, 1}, 77);
  b.arrive(w, flit);
  EXPECT_EQ(b.at(w + 2, reg::kRxStatus), 0x10000u);
  EXPECT_EQ(b.at(w + 3, reg::kRxStatus), 0u);
  for (unsigned i = 0; i < 5; ++i) EXPECT_EQ(b.peek(reg::kRxFlit + 8 * i), flit.w[i]);
}

TEST(Orchestrator_S3_4_Mailbox, EverythingButSignalsGoesToTheReceiveFifo) {
  AgentBench b;
  for (unsigned type = 0; type < 16; ++type) {
    b.arrive(w + type, arch::make_flit({0, 1}, {1, 1}, static_cast<FlitType>(type), type, true));
  }
  b.run(w + 40);
  for (unsigned type = 0; type < 16; ++type) {
    if (type == 6) continue;
    EXPECT_EQ((b.peek(reg::kRxFlit + 0x20) >> 12) & 15, type);
    b.write(b.now, reg::kRxPop, 1);
    b.run(b.now + 3);
  }
  EXPECT_EQ(b.peek(reg::kRxStatus), 0x10000u);
  EXPECT_EQ(b.peek(reg::kSigDone), 1u);
}

TEST(Orchestrator_S3_4_Mailbox, FullFifoDropsAndTheOverflowFlagSticks) {
  AgentBench b;
  for (unsigned i = 0; i < 18; ++i) b.arrive(w + i, AgentBench::reply({1, 1}, i));
  b.run(w + 30);
  EXPECT_EQ(b.peek(reg::kRxStatus), 0u) << "18 fit";
  b.arrive(w + 30, AgentBench::reply({1, 1}, 18));
  b.run(w + 32);
  EXPECT_EQ(b.peek(reg::kRxStatus), 0x20000u);
  EXPECT_FALSE(b.accepted.at(w + 30));
  for (unsigned i = 0; i < 18; ++i) {
    EXPECT_EQ(b.peek(reg::kRxFlit), i);
    b.write(b.now, reg::kRxPop, 1);
    b.run(b.now + 3);
  }
  EXPECT_EQ(b.peek(reg::kRxStatus), 0x30000u) << "empty, and the flag stays";
  b.agent.reset(b.now);
  EXPECT_EQ(b.peek(reg::kRxStatus), 0x10000u);
}

TEST(Orchestrator_S3_4_Mailbox, SignalsAreAbsorbedWhenFullButSetTheFlag) {
  AgentBench b;
  for (unsigned i = 0; i < 18; ++i) b.arrive(w + i, AgentBench::reply({1, 1}, i));
  b.arrive(w + 30, AgentBench::signal({1, 1}, 1, 5));
  EXPECT_EQ(b.at(w + 31, reg::kRxStatus), 0x20000u);
  EXPECT_TRUE(b.accepted.at(w + 30));
  EXPECT_EQ(b.peek(reg::kSigDone), 1u);
  EXPECT_EQ(b.peek(reg::node_status(0x11)), 0x0100000005000101u);
}

TEST(Orchestrator_S7_Mirror, SignalShowsInTheNextCycle) {
  AgentBench b;
  b.arrive(w, AgentBench::signal({2, 1}, 3, 2));
  EXPECT_EQ(b.at(w, reg::kSigDone), 0u);
  EXPECT_EQ(b.peek(reg::node_status(0x12)), 0u);
  EXPECT_EQ(b.at(w + 1, reg::kSigDone), 1u);
  EXPECT_EQ(b.peek(0x1000 + 0x12 * 8), 0x0300000002000101u);
  EXPECT_EQ(b.peek(reg::kRxStatus), 0x10000u) << "stored nowhere else";
}

TEST(Orchestrator_S7_Mirror, EveryCodeCountsAndConsecutiveSignalsBothCount) {
  AgentBench b;
  for (unsigned code = 0; code < 256; ++code) b.arrive(w + code, AgentBench::signal({1, 1}, code, code + 1));
  b.run(w + 256);
  EXPECT_EQ(b.peek(reg::kSigDone), 256u);
  EXPECT_EQ(b.peek(reg::node_status(0x11)), 0xFF00000100010001u);
}

TEST(Orchestrator_S7_Mirror, CountersWrapAtSixteenBits) {
  AgentBench b;
  for (unsigned i = 0; i < 65537; ++i) b.arrive(w + i, AgentBench::signal({1, 1}, 0, 0));
  EXPECT_EQ(b.at(w + 65535, reg::kSigDone), 0xFFFFu);
  EXPECT_EQ(b.at(w + 65536, reg::kSigDone), 0u);
  EXPECT_EQ(b.peek(reg::node_status(0x11)), 1u) << "count 0, still valid";
  EXPECT_EQ(b.at(w + 65537, reg::node_status(0x11)), 0x101u);
}

// A clear pulse (w+1) takes the signal of its own cycle with it, but not the mirror's.
TEST(Orchestrator_S7_Mirror, ClearPulseRace) {
  for (const Cycle offset : {0u, 1u, 2u}) {
    AgentBench b;
    b.arrive(w - 5, AgentBench::signal({1, 1}, 0, 1));
    b.arrive(w + offset, AgentBench::signal({1, 1}, 0, 2));
    b.write(w, reg::kSigDone, 0);
    b.run(w + 5);
    EXPECT_EQ(b.peek(reg::kSigDone), offset == 2 ? 1u : 0u) << offset;
    EXPECT_EQ(b.peek(reg::node_status(0x11)), 0x0000000002000201u);
  }
}

TEST(Orchestrator_S10_7_ReadBack, NodeStatusWords) {
  AgentBench b;
  b.arrive(1, AgentBench::signal({2, 0}, 4, 5));
  for (unsigned i = 0; i < 3; ++i) b.arrive(2 + i, AgentBench::signal({2, 1}, 3, 2));
  b.run(8);
  EXPECT_EQ(b.peek(0x1010), 0x0400000005000101u);
  EXPECT_EQ(b.peek(0x1090), 0x0300000002000301u);
  EXPECT_EQ(b.peek(reg::kCaps), 0x0000000201040120u);
}

}  // namespace
}  // namespace ktpu::orchestrator::test
