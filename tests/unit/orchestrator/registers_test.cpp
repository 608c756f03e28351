// SPDX-License-Identifier: Apache-2.0
// orchestrator.md sections 1 to 3: the bus and the register map.
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/orchestrator/agent_bench.h"

namespace ktpu::orchestrator::test {
namespace {

constexpr Cycle w = 10;  // cycle of the beat under test

TEST(Orchestrator_S1_Decode, OnlyTheLowSixteenAddressBitsCount) {
  AgentBench b;
  b.write(w, 0x10000000 + reg::kCtrl, 7);
  EXPECT_EQ(b.at(w + 1, reg::kCtrl), 7u);
  EXPECT_EQ(b.peek(0xABCD0000 + reg::kCtrl), 7u);
}

TEST(Orchestrator_S2_Axi, BurstWriteTakesABeatACycle) {
  AgentBench b;
  for (unsigned i = 0; i < 5; ++i) b.write(w + i, reg::kTxFlit + 8 * i, i + 1);
  b.write(w + 5, reg::kTxKick, 1);
  b.run(w + 20);
  ASSERT_EQ(b.sent.size(), 1u);
  for (unsigned i = 0; i < 5; ++i) EXPECT_EQ(b.sent[0].flit.w[i], i + 1) << i;
}

TEST(Orchestrator_S2_Axi, BurstReadGivesABeatACycleAndReadsAndWritesAreIndependent) {
  AgentBench b;
  b.write(2, reg::kProgDst, 0x21);
  b.write(3, reg::kProgLen, 7);
  b.read(w, reg::kProgDst);
  b.write(w, reg::kProgDst, 0x12);  // in the same cycle as the read, which sees the old value
  b.read(w + 1, reg::kProgLen);
  b.read(w + 2, reg::kProgDst);
  b.run(w + 4);
  EXPECT_EQ(b.read_values.at(w), 0x21u);
  EXPECT_EQ(b.read_values.at(w + 1), 7u);
  EXPECT_EQ(b.read_values.at(w + 2), 0x12u);
}

TEST(Orchestrator_S2_Effect, PlainRegistersAreNewInTheNextCycle) {
  for (const std::uint32_t offset : {reg::kCtrl, reg::kIrqEn, reg::kProgDst, reg::kProgLen, reg::kProgBase}) {
    AgentBench b;
    b.write(w, offset, 0x5A);
    EXPECT_EQ(b.at(w, offset), 0u) << offset;
    EXPECT_EQ(b.at(w + 1, offset), 0x5Au) << offset;
  }
}

TEST(Orchestrator_S2_Effect, KickRunsTwoCyclesLater) {
  AgentBench b;
  b.write(2, reg::kProgLen, 1);
  b.write(3, reg::kProgCred, 1);
  b.write(w, reg::kProgKick, 0);  // any value
  EXPECT_EQ(b.at(w + 1, reg::kProgStat) & 1, 0u);
  EXPECT_EQ(b.at(w + 2, reg::kProgStat) & 1, 1u);
  EXPECT_EQ(b.peek(reg::kProgKick), 0u);  // reads 0
}

TEST(Orchestrator_S2_Effect, CreditIsHeldTwoCyclesLater) {
  AgentBench b;
  b.write(w, reg::kProgCred, 0x12345);
  EXPECT_EQ(b.at(w + 1, reg::kProgCred), 0u);
  EXPECT_EQ(b.at(w + 2, reg::kProgCred), 0x2345u);  // 16 bits
}

TEST(Orchestrator_S2_Effect, DoneCounterIsZeroTwoCyclesLater) {
  AgentBench b;
  b.arrive(3, AgentBench::signal({1, 1}, 0, 1));
  b.write(w, reg::kSigDone, 0xFFFF);  // any value clears
  EXPECT_EQ(b.at(w + 1, reg::kSigDone), 1u);
  EXPECT_EQ(b.at(w + 2, reg::kSigDone), 0u);
}

TEST(Orchestrator_S2_Effect, TxFlitAndStageAreUsableInTheNextCycle) {
  AgentBench b;
  b.write(w, reg::kTxFlit, 1);
  b.write(w + 1, reg::kTxKick, 1);
  b.write(w + 2, reg::kTxFlit, 2);  // the push of w+2 still takes the old word
  b.write(w + 3, reg::kTxKick, 1);
  b.run(w + 20);
  ASSERT_EQ(b.sent.size(), 2u);
  EXPECT_EQ(b.sent[0].flit.w[0], 1u);
  EXPECT_EQ(b.sent[1].flit.w[0], 2u);

  for (const Cycle late : {0u, 1u}) {  // word 4 is fetched in kick + 6: written before or in that cycle
    AgentBench s;
    const Cycle kick = s.start(1, 1);
    s.write(kick + 5 + late, reg::stage_word(0, 4), 0xFFFF7FF8);
    s.run(kick + 20);
    ASSERT_EQ(s.sent.size(), 1u);
    EXPECT_EQ(s.sent[0].flit.txn(), late == 0 ? 0xFFu : 0u);
  }
}

TEST(Orchestrator_S2_Effect, TxKickTestsRunInItsOwnCycle) {
  for (const Cycle offset : {1u, 2u}) {  // run is 1 from kick + 2
    AgentBench b;
    const Cycle kick = b.start(1, 1);
    b.write(kick + offset, reg::kTxKick, 1);
    b.run(kick + 30);
    EXPECT_EQ(b.sent.size(), offset == 1 ? 2u : 1u);
    if (offset == 1) {
      EXPECT_EQ(b.pushes[0], kick + 2);
    }
  }
}

TEST(Orchestrator_S2_Effect, TxKickTestsFullInItsOwnCycle) {
  AgentBench b;
  b.blocked = [](Cycle c) { return c < 200; };
  // 1 in the output register and 16 + 2 in the FIFO; the output register fills four cycles after the push.
  for (unsigned i = 0; i < 25; ++i) {
    b.write(10 * i + 1, reg::kTxFlit, i);
    b.write(10 * i + 2, reg::kTxKick, 1);
  }
  b.run(10 * 18 + 3);
  EXPECT_EQ(b.peek(reg::kTxStatus), 0u);
  EXPECT_EQ(b.at(10 * 18 + 4, reg::kTxStatus), 0x10000u);  // pushed in +3
  b.run(400);
  ASSERT_EQ(b.sent.size(), 19u + 5u);  // the kick of cycle 192 is lost
  EXPECT_EQ(b.sent[18].flit.w[0], 18u);
  EXPECT_EQ(b.sent[19].flit.w[0], 20u);
}

TEST(Orchestrator_S2_Effect, RxPopTestsEmptyInItsOwnCycle) {
  for (const Cycle offset : {2u, 3u}) {  // readable from arrival + 3
    AgentBench b;
    b.arrive(w, AgentBench::reply({1, 1}, 1));
    b.write(w + offset, reg::kRxPop, 1);
    EXPECT_EQ(b.at(w + offset + 1, reg::kRxStatus), 0u) << "still there in the cycle of the pop";
    EXPECT_EQ(b.at(w + offset + 2, reg::kRxStatus), offset == 2 ? 0u : 0x10000u);
  }
}

TEST(Orchestrator_S3_Map, ResetValues) {
  AgentBench b;
  const std::map<std::uint32_t, std::uint64_t> expected{
      {reg::kStatus, 4}, {reg::kCaps, 0x0000000201040120}, {reg::kRxStatus, 0x10000}};
  for (const arch::Register& r : reg::kRegisters) {
    for (std::uint32_t i = 0; i < r.count; ++i) {
      const std::uint32_t offset = r.offset + 8 * i;
      const auto it = expected.find(offset);
      if (r.offset == reg::kRxFlit) continue;  // undefined when empty
      EXPECT_EQ(b.peek(offset), it == expected.end() ? 0 : it->second) << r.name << " +" << i;
    }
  }
}

TEST(Orchestrator_S3_Map, UnlistedAndUnalignedOffsetsReadZero) {
  AgentBench b;
  b.aux.value = ~0ull;
  b.write(2, reg::kCtrl, ~0ull);
  b.write(3, reg::kIrqEn, ~0ull);
  b.write(4, reg::kProgDst, ~0ull);
  b.write(5, reg::kProgLen, ~0ull);
  b.write(6, reg::kProgBase, ~0ull);
  b.write(7, reg::kProgCred, ~0ull);
  b.arrive(8, AgentBench::signal({15, 15}, 1, 2));
  for (unsigned i = 0; i < 19; ++i) b.arrive(9 + i, AgentBench::reply({1, 1}, 3));
  b.run(40);
  const std::set<std::uint32_t> readable{reg::kCtrl,     reg::kStatus,  reg::kCaps,     reg::kIrqEn,
                                         reg::kProgDst,  reg::kProgLen, reg::kProgStat, reg::kProgCred,
                                         reg::kProgBase, reg::kSigDone, reg::kAuxStat,  reg::kRxStatus};
  for (std::uint32_t offset = 0; offset < 0x10000; ++offset) {
    const bool rx = offset >= 0x180 && offset < 0x1A8, node = offset >= 0x1000 && offset < 0x2000;
    std::uint64_t want = 0;
    if (rx) want = b.peek(offset & ~7u);
    if (offset >= 0x80 && offset < 0x100) want = 0x100 + (offset - 0x80) / 8;  // AUX_STATW
    if (node && ((offset >> 3) & 255) == 0xFF) want = 0x0100000002000101;
    if (readable.contains(offset)) {
      EXPECT_NE(b.peek(offset), 0u) << offset;
    } else if (b.peek(offset) != want) {
      ADD_FAILURE() << std::hex << offset << " reads " << b.peek(offset);
      return;
    }
  }
  EXPECT_EQ(b.peek(0x187), 3u);  // inside the window the low three bits do not count
}

TEST(Orchestrator_S3_Map, UnlistedAndUnalignedOffsetsIgnoreWrites) {
  AgentBench b;
  const std::set<std::uint32_t> writable{reg::kCtrl,     reg::kIrqEn,    reg::kProgDst,  reg::kProgLen,
                                         reg::kProgKick, reg::kProgCred, reg::kProgBase, reg::kSigDone,
                                         reg::kTxKick,   reg::kRxPop};
  b.write(2, reg::kProgLen, 3);
  b.write(3, reg::kProgCred, 9);
  b.arrive(4, AgentBench::signal({1, 1}, 0, 0));
  b.arrive(5, AgentBench::reply({1, 1}, 3));
  Cycle at = 20;
  for (std::uint32_t offset = 0; offset < 0x10000; offset += offset < 0x400 || offset >= 0x3300 ? 1 : 37) {
    if (writable.contains(offset) || (offset >= 0x100 && offset < 0x128)) continue;
    if (offset >= 0x800 && offset < 0x900) continue;  // AUX_CFG
    b.write(at++, offset, 0x0F0F0F0F0F0F0F0F);
  }
  b.run(at + 20);
  EXPECT_TRUE(b.sent.empty());
  EXPECT_EQ(b.peek(reg::kCtrl), 0u);
  EXPECT_EQ(b.peek(reg::kIrqStat), 0u);
  EXPECT_EQ(b.peek(reg::kIrqEn), 0u);
  EXPECT_EQ(b.peek(reg::kProgDst), 0u);
  EXPECT_EQ(b.peek(reg::kProgLen), 3u);
  EXPECT_EQ(b.peek(reg::kProgBase), 0u);
  EXPECT_EQ(b.peek(reg::kProgCred), 9u);
  EXPECT_EQ(b.peek(reg::kSigDone), 1u);
  EXPECT_EQ(b.peek(reg::kRxStatus), 0u);
  EXPECT_EQ(b.peek(reg::node_status(0x11)), 0x101u);
}

TEST(Orchestrator_S3_Map, RegisterWidths) {
  AgentBench b;
  for (const auto& [offset, width] : {std::pair{reg::kCtrl, 64u},
                                      {reg::kIrqEn, 64u},
                                      {reg::kProgDst, 8u},
                                      {reg::kProgLen, 16u},
                                      {reg::kProgBase, 16u}}) {
    b.write(b.now, offset, ~0ull);
    b.run(b.now + 1);
    EXPECT_EQ(b.peek(offset), width == 64 ? ~0ull : (1ull << width) - 1) << offset;
  }
}

TEST(Orchestrator_S4_Aux, WritesReachTheClientOneCycleAfterTheirBeat) {
  AgentBench b;
  b.write(5, reg::kAuxCfgMover, 0x10808);
  b.write(9, reg::kAuxCfgMover + 0x15, ~0ull);      // the low three bits do not count
  b.write(10, reg::kAuxCfgInterlink + 0x78, 7, 0);  // nor do the byte strobes
  b.write(11, reg::kAuxCfgEnd, 1);
  b.run(20);
  using Writes = std::vector<FixedAux::Write>;
  EXPECT_EQ(b.aux.writes, (Writes{{6, 0x00, 0x10808}, {10, 0x10, ~0ull}, {11, 0xF8, 7}}));
}

TEST(Orchestrator_S4_Aux, StatusWordsAreTheClients) {
  AgentBench b;
  EXPECT_EQ(b.peek(reg::kAuxStatW), 0u);
  b.aux.value = 0x0000010042000800;
  EXPECT_EQ(b.peek(reg::kAuxStat), 0x0000010042000800u);
  for (unsigned word = 0; word < reg::kAuxStatWords; ++word)
    EXPECT_EQ(b.peek(reg::kAuxStatW + 8 * word), 0x100 + word);
}

TEST(Orchestrator_S3_Map, CapsOfAnotherGrid) {
  AgentBench b({{0, 1}, 1, 14, 128, true});
  EXPECT_EQ(b.peek(reg::kCaps), 0x0000000E01040120u);
}

TEST(Orchestrator_S3_Map, NodeStatusIsAliased) {
  AgentBench b;
  b.arrive(2, AgentBench::signal({15, 15}, 4, 9));
  b.run(5);
  EXPECT_EQ(b.peek(0x17F8), 0x0400000009000101u);
  EXPECT_EQ(b.peek(0x1FF8), b.peek(0x17F8));
  EXPECT_EQ(b.peek(0x1FFF), b.peek(0x17F8));
}

TEST(Orchestrator_S3_Map, NodeStatusSurvivesAReset) {  // quirk O1
  for (const bool quirks : {true, false}) {
    AgentBench b({{0, 1}, 1, 2, 128, quirks});
    b.arrive(2, AgentBench::signal({1, 1}, 0, 9));
    b.run(5);
    b.agent.reset(5);
    EXPECT_EQ(b.peek(reg::kSigDone), 0u);
    EXPECT_EQ(b.peek(reg::node_status(0x11)), quirks ? 0x0000000009000101u : 0u);
    EXPECT_TRUE(b.agent.quirk_hits().empty());  // nobody has read it
    b.read(6, reg::node_status(0x21));
    b.read(8, reg::node_status(0x11));
    b.read(9, reg::node_status(0x11));
    b.run(11);
    ASSERT_EQ(b.agent.quirk_hits().size(), quirks ? 1u : 0u);
    if (!quirks) continue;
    EXPECT_EQ(b.agent.quirk_hits()[0].id, arch::QuirkId::kO1);
    EXPECT_EQ(b.agent.quirk_hits()[0].count, 2u);
    EXPECT_EQ(b.agent.quirk_hits()[0].first, 8u);
    b.arrive(12, AgentBench::signal({1, 1}, 0, 9));  // from then on the word is of this side of the reset
    b.read(14, reg::node_status(0x11));
    b.run(16);
    EXPECT_EQ(b.agent.quirk_hits()[0].count, 2u);
  }
}

TEST(Orchestrator_S3_Map, WriteStrobesCountForTxFlitOnly) {
  AgentBench b;
  b.write(1, reg::kTxFlit, 0x1111111111111111);
  b.write(2, reg::kTxFlit + 3, 0xAABBCCDDEEFF0022, 0x81);     // low address bits do not count
  b.write(3, reg::kTxFlit + 0x20, 0xFFFFFFFF00000000, 0xF0);  // bits above the header: not in the flit
  b.write(4, reg::kCtrl, ~0ull, 0x01);
  b.write(5, reg::kTxKick, 0, 0x00);
  b.run(20);
  ASSERT_EQ(b.sent.size(), 1u);
  EXPECT_EQ(b.sent[0].flit.w[0], 0xAA11111111111122u);
  EXPECT_EQ(b.sent[0].flit.w[4], 0u);
  EXPECT_EQ(b.peek(reg::kCtrl), ~0ull);
  EXPECT_EQ(b.peek(reg::kTxFlit), 0u);  // write-only
}

// Slot s word k lies at 0x2000 + (5 s + k) 8; the window ends at 0x3400.
TEST(Orchestrator_S3_Stage, WindowBounds) {
  EXPECT_EQ(reg::stage_word(127, 4), 0x33F8u);
  AgentBench b;
  Flit last = AgentBench::numbered(7), first = AgentBench::numbered(3);
  b.stage(0, 127, last);
  b.stage(5, 0, first);
  for (unsigned i = 0; i < 5; ++i) b.write(10 + i, 0x3400 + 8 * i, ~0ull);  // beyond: no alias to slot 0
  b.write(15, reg::kProgLen, 1);
  b.write(16, reg::kProgCred, 9);
  b.write(17, reg::kProgBase, 127);
  b.write(18, reg::kProgKick, 1);
  b.write(40, reg::kProgBase, 0);
  b.write(41, reg::kProgKick, 1);
  b.run(80);
  ASSERT_EQ(b.sent.size(), 2u);
  for (unsigned k = 0; k < 4; ++k) {
    EXPECT_EQ(b.sent[0].flit.w[k], last.w[k]);
    EXPECT_EQ(b.sent[1].flit.w[k], first.w[k]);
  }
  EXPECT_EQ(b.peek(0x2000), 0u);  // write-only
}

TEST(Orchestrator_S3_Stage, UnalignedWritesAndStrobesAreWholeWords) {
  AgentBench b;
  b.write(0, 0x2005, 0x1234, 0x00);
  b.write(1, reg::kProgLen, 1);
  b.write(2, reg::kProgCred, 1);
  b.write(6, reg::kProgKick, 1);
  b.run(30);
  ASSERT_EQ(b.sent.size(), 1u);
  EXPECT_EQ(b.sent[0].flit.w[0], 0x1234u);
}

}  // namespace
}  // namespace ktpu::orchestrator::test
