// SPDX-License-Identifier: Apache-2.0
// Programs no one should write, which hang or go wrong exactly as the machine does (cluster.md sections 5, 9
// and 15).
#include "tests/unit/cluster/bench.h"

namespace ktpu::test {
namespace {

using cluster::AccOp;
using cluster::BusyFlag;
using V = std::vector<Cycle>;

bool reported(const Bench& b, const std::string& kind) {
  for (const auto& m : b.record.misuse)
    if (m.kind == kind) return true;
  return false;
}
bool waits_for(const Bench& b, const std::string& text) {
  const auto& unit = const_cast<Bench&>(b).unit();
  for (const auto& w : unit.waits(const_cast<Bench&>(b).engine().now()))
    if (w.what.find(text) != std::string::npos) return true;
  return false;
}
void answer_fills(Bench& b) {
  b.far().on_flit = [&b](const FarEnd::Seen& seen) {
    if (seen.flit.type() != FlitType::kMemRdReq) return;
    const unsigned count = std::max<unsigned>(1, seen.flit.bits(192, 8));
    for (unsigned i = 0; i < 4 * count; ++i)
      b.far().send(seen.taken + 1, response(seen.flit.txn() + i / 4, i % 4));
  };
}

TEST(Cluster5_1, ZeroEntriesActAsOne) {
  Bench b;
  answer_fills(b);
  b.send(0, inst_flit(fill(0)));
  EXPECT_TRUE(b.run_until_signals(1, 200));
}

TEST(Cluster5_1, FillOf256NeverCompletes) {
  Bench b;
  answer_fills(b);
  b.send(0, inst_flit(fill(256)));
  EXPECT_FALSE(b.run_until_signals(1, 3000));
  EXPECT_TRUE(reported(b, "fill-count"));
  EXPECT_TRUE(waits_for(b, "1 of 256 entries placed; read responses from (0,1)"));
}

TEST(Cluster5_1, OnlyTheLowestNodeAsks) {
  for (const Coord peer : {Coord{1, 1}, Coord{3, 1}, Coord{1, 2}, Coord{2, 1}}) {
    Bench b;
    ClusterInst f = fill(1);
    f.npeer = 1;
    f.peer0 = peer.node_byte();
    b.send(0, inst_flit(f));
    for (unsigned w = 0; w < 4; ++w) b.send(20, response(0, w));
    ASSERT_TRUE(b.run_until_signals(1, 200));
    const bool leads = kCluster.node_byte() < peer.node_byte();
    EXPECT_EQ(b.outputs(FlitType::kMemRdReq).size(), leads ? 1u : 0u);
  }
}

TEST(Cluster5_1, SurplusResponseIsTakenInTheLastCycleOnly) {
  Bench b;
  b.send(0, inst_flit(fill(1)));
  for (unsigned i = 0; i < 6; ++i) b.send(7 + i, response(i / 4, i % 4));
  b.run(60);
  EXPECT_EQ(Bench::relative(b.record.retire), V{16});  // last word accepted in 10
  EXPECT_TRUE(waits_for(b, "blocks the 1 flits"));     // word 0 of entry 1 went, word 1 stays
}

TEST(Cluster5_1, ResponseWithoutFillBlocksEverythingBehindIt) {
  cluster::ClusterParams p = default_params();
  p.recv_depth = 4;
  Bench b(p);
  b.send(0, response(0, 0));
  b.send(1, data_descriptor(0, 0, 3));
  for (unsigned i = 0; i < 4; ++i) b.send(2, data_flit(i, i == 3));
  b.send(20, inst_flit(unknown_op()));  // the FIFO of 4 + 2 is full: the instruction cannot get in either
  b.run(500);
  EXPECT_TRUE(b.record.l1_write.empty());
  EXPECT_TRUE(b.record.issue.empty());
  EXPECT_EQ(b.far().unsent(), 1u);
  EXPECT_TRUE(waits_for(b, "a FILL to take the read response (entry 0)"));
}

TEST(Cluster5_1, AFillFreesTheBlockedResponse) {
  Bench b;
  for (unsigned w = 0; w < 4; ++w) b.send(0, response(0, w));
  b.send(30, inst_flit(fill(1)));
  b.run(100);
  // State entered in 34: words taken in 34..37.
  EXPECT_EQ(Bench::relative(b.record.l1_write), V{38});
  EXPECT_EQ(Bench::relative(b.record.retire), V{40});
}

TEST(Cluster5_2, EmitOnLoadCountsForEver) {
  Bench b;
  b.send(0, inst_flit(gemm(16, 16, 1, false, true)));
  b.send(1, inst_flit(drain(256, true)));
  b.run(2000);
  EXPECT_EQ(b.signals().size(), 1u);  // the GEMM's
  EXPECT_EQ(b.unit().results_outstanding(), 115u);
  EXPECT_TRUE(b.record.push.empty());
  EXPECT_TRUE(reported(b, "emit-load"));
  EXPECT_TRUE(waits_for(b, "0 of 256 results"));
  EXPECT_TRUE(waits_for(b, "115 results before it to leave"));
}

TEST(Cluster9_1, StalledSweepPeaksAt115) {
  Bench b;
  b.far().busy = [](Cycle c) { return c > Bench::at(20) && c < Bench::at(600); };
  b.send(0, inst_flit(gemm(16, 16, 2, false, true)));
  b.send(1, inst_flit(drain(256, true)));
  unsigned peak = 0;
  for (Cycle c = 0; c < 1600; ++c) {
    b.run(c);
    peak = std::max(peak, b.unit().results_outstanding());
  }
  EXPECT_EQ(peak, 115u);
  EXPECT_EQ(b.signals().size(), 2u);
  EXPECT_EQ(b.outputs(FlitType::kMemWrData).size(), 256u);
}

TEST(Cluster9_1, ExplicitDrainPausesAt112) {
  Bench b;
  b.far().busy = [](Cycle c) { return c > Bench::at(20) && c < Bench::at(600); };
  b.send(0, inst_flit(drain(256)));
  unsigned peak = 0;
  for (Cycle c = 0; c < 1600; ++c) {
    b.run(c);
    peak = std::max(peak, b.unit().results_outstanding());
  }
  EXPECT_EQ(peak, 112u);
  EXPECT_EQ(b.outputs(FlitType::kMemWrData).size(), 256u);
}

// A start on results still queued: d_out wraps when those are taken, and every later sweep stalls.
TEST(Cluster9_1, ExplicitDrainOnQueuedResultsHangs) {
  Bench b;
  b.far().busy = [](Cycle c) { return c > Bench::at(12) && c < Bench::at(200); };
  b.send(0, inst_flit(gemm(5, 5, 1, true, true)));
  b.send(1, inst_flit(drain(2)));
  b.send(300, inst_flit(gemm(2, 4, 1)));
  b.run(2000);
  EXPECT_TRUE(reported(b, "emit-order"));
  EXPECT_GT(b.unit().results_outstanding(), 65500u);
  EXPECT_EQ(b.edge(BusyFlag::kDrain, false, 1), sim::kNever);
  EXPECT_EQ(b.signals().size(), 1u);  // the DRAIN never retires
}

TEST(Cluster5_5, FusedDrainWithAnotherAddressRedirects) {
  Bench b;
  ClusterInst g = gemm(4, 4, 1, true, true);
  g.addr = 0x4000;
  b.send(0, inst_flit(g));
  b.send(1, inst_flit(drain(16, true, 0x8000)));
  ASSERT_TRUE(b.run_until_signals(2, 500));
  for (const auto& o : b.outputs(FlitType::kMemWrReq)) EXPECT_EQ(o.flit.bits(216, 40) & ~0xFFFull, 0x8000u);
  EXPECT_TRUE(reported(b, "fuse-destination"));
}

TEST(Cluster5_5, AnEmittingGemmCarriesTheDestination) {
  Bench b;
  ClusterInst g = gemm(4, 4, 1, true, true);
  g.addr = 0xFF00004000;
  b.send(0, inst_flit(g));
  b.run(200);  // the fused DRAIN never comes: full banks and the rest leave all the same
  const auto heads = b.outputs(FlitType::kMemWrReq);
  ASSERT_EQ(heads.size(), 2u);
  EXPECT_EQ(heads[0].flit.bits(216, 40), 0xFF00004000u);
  EXPECT_EQ(heads[1].flit.bits(216, 40), 0xFF00004100u);
}

// Armed only if fewer than n granules were taken in cycles up to s; then low from max(p+2, s+3).
TEST(Cluster13_3, FusedBarrier) {
  // 9 results: pushes 19+15.. ; the last granule is taken in p whatever the DRAIN does.
  Cycle p = 0;
  {
    Bench b;
    b.send(0, inst_flit(gemm(3, 3, 1, true, true)));
    b.run(200);
    p = b.edge(BusyFlag::kDrain, false) - 1;
  }
  for (Cycle s = p - 6; s <= p + 3; ++s) {
    Bench b;
    b.send(0, inst_flit(gemm(3, 3, 1, true, true)));
    b.send(s - 4, inst_flit(drain(9, true)));
    b.run(200);
    ASSERT_EQ(b.record.drain_start.at(0), Bench::at(s + 1));
    const Cycle low = p <= s ? p + 1 : std::max(p + 2, s + 3);
    EXPECT_EQ(b.edge(BusyFlag::kDrain, false), low) << "s " << s << " p " << p;
  }
}

TEST(Cluster5_4, ALargerCountNeverCompletes) {
  Bench b;
  b.send(0, inst_flit(gemm(3, 3, 1, true, true)));
  b.send(1, inst_flit(drain(10, true)));
  EXPECT_FALSE(b.run_until_signals(2, 2000));
  EXPECT_TRUE(waits_for(b, "9 of 10 results were taken by the write port"));
}

TEST(Cluster13_3, FusedDrainOfAFinishedBatchRetiresAtOnce) {
  Bench b;
  b.send(0, inst_flit(gemm(3, 3, 1, true, true)));
  b.send(200, inst_flit(drain(9, true)));  // visible in 203
  b.run(300);
  EXPECT_EQ(Bench::relative(b.record.retire), (V{8, 208}));
  EXPECT_EQ(b.edge(BusyFlag::kDrain, true, 1), sim::kNever);
}

TEST(Cluster7, AReadOfATileNeverLoadedIsReported) {
  Bench b;
  b.send(0, inst_flit(drain(3)));
  b.run(100);
  EXPECT_TRUE(reported(b, "tile-unloaded"));

  Bench loaded;
  loaded.send(0, inst_flit(gemm(1, 3, 1)));
  loaded.send(1, inst_flit(drain(3)));
  loaded.run(200);
  EXPECT_TRUE(loaded.record.misuse.empty());
}

TEST(Cluster15, L1WriteUnderARunningSweepIsReported) {
  for (const unsigned entry : {0u, 31u, 32u, 256u}) {
    Bench b;
    b.send(0, inst_flit(gemm(4, 4, 8)));  // A entries 0..31 of bank 0, issues 6..133
    b.send(10, data_descriptor(0, 4 * entry, 3));
    for (unsigned w = 0; w < 4; ++w) b.send(10, data_flit(w, w == 3));
    b.run(300);
    EXPECT_EQ(reported(b, "fill-race"), entry < 32 && entry % 8 != 0) << entry;
  }
}

// An issue sees the writes enabled in its own cycle and before (section 13.3), whichever side and wherever in
// the walk.
TEST(Cluster6, AWriteUnderASweepSplitsItExactly) {
  const auto operand = [](unsigned seed) {
    arch::OperandEntry e;
    for (unsigned lane = 0; lane < 4; ++lane) {
      for (unsigned k = 0; k < 32; ++k)
        e.q[lane][k] = static_cast<std::int8_t>((seed * 37 + lane * 11 + k * 7) % 127 - 63);
      e.scale[lane] = static_cast<std::uint8_t>(0xA0 + seed);
    }
    return e;
  };
  for (const bool side_b : {false, true}) {
    const arch::Side side = side_b ? arch::Side::kB : arch::Side::kA;
    Bench b;
    b.unit().preload_l1(arch::Side::kA, 0, operand(1));
    b.unit().preload_l1(arch::Side::kB, 0, operand(2));
    // One entry of `side` meets all 64 of the other, which are all alike.
    for (unsigned e = 0; e < 64; ++e)
      b.unit().preload_l1(side_b ? arch::Side::kA : arch::Side::kB, e, operand(2 - side_b));
    b.send(0, inst_flit(side_b ? gemm(64, 1, 1) : gemm(1, 64, 1)));  // issues 6..69
    b.send(40, data_descriptor(side_b, 0, 3));
    const arch::OperandEntry fresh = operand(3);
    for (unsigned w = 0; w < 4; ++w) b.send(41 + w, data_flit(arch::operand_word(side, w, fresh), w == 3));
    const arch::OperandEntry newer = operand(4);
    b.send(50, data_descriptor(side_b, 0, 3));
    for (unsigned w = 0; w < 4; ++w) b.send(51 + w, data_flit(arch::operand_word(side, w, newer), w == 3));
    b.run(200);
    b.engine().sync();
    // So tile 48 - 6 is the first with the first new entry and tile 58 - 6 the first with the second.
    ASSERT_EQ(Bench::relative(b.record.l1_write), (V{48, 58}));
    for (unsigned t = 0; t < 64; ++t) {
      arch::SubTile expected;
      const arch::OperandEntry entry = t < 42 ? operand(side_b ? 2 : 1) : t < 52 ? fresh : newer;
      const arch::OperandEntry other = operand(side_b ? 1 : 2);
      arch::scalar_kernel(14).load_chain(side_b ? other : entry, side_b ? entry : other, 40, expected);
      ASSERT_EQ(b.unit().tile(t), expected) << "tile " << t << " side " << side_b;
    }
  }
}

TEST(Cluster11, DoneCountAndCodes) {
  Bench b;
  answer_fills(b);
  b.send(0, inst_flit(fill(1), 1));
  b.send(0, inst_flit(gemm(1, 1, 1), 2));
  b.send(0, inst_flit(unknown_op(), 3));
  b.send(0, inst_flit(drain(1), 4));
  b.send(0, inst_flit(drain(1), 5, true));
  ASSERT_TRUE(b.run_until_signals(5, 1000));
  const auto out = b.signals();
  const unsigned codes[] = {0, 0, 0, 0, 1}, args[] = {1, 2, 2, 3, 5};
  for (unsigned i = 0; i < 5; ++i) {
    EXPECT_EQ(signal_code(out[i].flit), codes[i]);
    EXPECT_EQ(signal_arg(out[i].flit), args[i]);
    EXPECT_EQ(out[i].flit.txn(), i + 1);
    EXPECT_EQ(out[i].flit.dst(), kAgent);
  }
}

TEST(Cluster9_2, RemoteDrainMarksEveryFlit) {
  for (const bool node : {false, true}) {
    Bench b;
    ClusterInst d = node ? drain_to_node(9, 0) : drain(9, false, 0x2000);
    d.dmesh = 3;
    d.dfin = 0x12;
    if (node) d.addr = 0x400;
    d.dflags = 1;
    d.dack_x = 1;
    d.dack_y = 2;
    b.send(0, inst_flit(d));
    b.run(100);
    unsigned flits = 0;
    for (const auto& s : b.far().seen) {
      if (s.flit.type() == FlitType::kCuSignal) continue;
      ++flits;
      EXPECT_EQ(s.flit.txn(), 0x12u);
      EXPECT_EQ(s.flit.rsvd(), 7u);
      EXPECT_EQ(s.flit.dst(), (node ? Coord{2, 3} : kMemory));
    }
    EXPECT_EQ(flits, 11u);
    if (node) {
      const auto all = b.outputs(FlitType::kCuData);
      EXPECT_EQ(all[0].flit.bits(232, 16), 0x20u);
      EXPECT_EQ(all[0].flit.bits(224, 8), 7u);
      EXPECT_EQ(all[0].flit.bits(208, 16), 0x0121u);
      EXPECT_EQ(all[9].flit.bits(232, 16), 0x28u);
      EXPECT_EQ(all[9].flit.bits(224, 8), 0u);
      EXPECT_FALSE(all[9].flit.last());
      EXPECT_TRUE(all[10].flit.last());
    } else {
      EXPECT_EQ(b.outputs(FlitType::kMemWrReq)[1].flit.bits(216, 40), 0x2100u);
    }
  }
}

}  // namespace
}  // namespace ktpu::test
