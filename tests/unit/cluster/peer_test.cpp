// SPDX-License-Identifier: Apache-2.0
// cluster.md sections 9.3 and 9.4: CU_DATA streams.
#include "tests/unit/cluster/bench.h"

namespace ktpu::test {
namespace {

using cluster::AccOp;
using cluster::BusyFlag;
using V = std::vector<Cycle>;

void stream(Bench& b, Cycle from, unsigned buf, unsigned offset, unsigned granules, bool ack = true,
            Coord ack_to = kAgent) {
  b.send(from, data_descriptor(buf, offset, granules - 1, ack, {1, 1}, ack_to));
  for (unsigned i = 0; i < granules; ++i) b.send(from, data_flit(100 + offset + i, i + 1 == granules));
}
V commands(const Bench& b, AccOp op, bool lost = false) {
  V list;
  for (const auto& c : b.record.commands)
    if (c.op == op && c.lost == lost) list.push_back(c.cycle - Bench::kOrigin);
  return list;
}

TEST(Cluster9_3, SustainedPeerRateIsOneIn3) {
  Bench b;
  stream(b, 0, 2, 0, 32);
  b.run(120);
  EXPECT_EQ(commands(b, AccOp::kAddPeer), range(7, 7 + 3 * 15, 3));
  for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(b.record.commands[i].tile, i);
}

TEST(Cluster9_3, PeerValueIsAddedToTheTile) {
  Bench b;
  arch::SubTile start, peer;
  for (unsigned l = 0; l < 16; ++l) {
    start.lane[l] = 0x0FC000 + l;
    peer.lane[l] = 0x104000 + 17 * l;
  }
  b.unit().preload_tile(5, start);
  const auto granules = arch::pack_granules(peer, 14);
  b.send(0, data_descriptor(2, 10, 1));
  b.send(0, data_flit(granules[0]));
  b.send(0, data_flit(granules[1], true));
  b.run(40);
  for (unsigned l = 0; l < 16; ++l)
    EXPECT_EQ(b.unit().tile(5).lane[l], arch::acc_add(start.lane[l], peer.lane[l], 14));
  EXPECT_TRUE(b.record.misuse.empty());
}

TEST(Cluster9_3, OddGranuleCountLeavesTheLastHalfUnused) {
  Bench b;
  stream(b, 0, 2, 4, 3);
  b.run(40);
  EXPECT_EQ(commands(b, AccOp::kAddPeer).size(), 1u);
  EXPECT_EQ(b.signals().size(), 1u);
}

TEST(Cluster9_3, OperandWordsGoWhereTheGranuleSays) {
  for (const unsigned buf : {0u, 1u}) {
    Bench b;
    const arch::Side side = buf ? arch::Side::kB : arch::Side::kA;
    // Granule 4*300 is word 0 of entry 300, in bank 1.
    b.send(0, data_descriptor(buf, 1200, 3));
    arch::OperandEntry expected;
    for (unsigned w = 0; w < 4; ++w) {
      const Flit f = data_flit(0x123456789ABCDEF0ull * (w + 1), w == 3);
      arch::store_operand_word(side, w, f.w.data(), expected);
      b.send(0, f);
    }
    b.run(40);
    EXPECT_EQ(b.unit().l1(side, 300), expected);
  }
}

TEST(Cluster9_3, AcknowledgeGoesToTheAckNodeOrTheSource) {
  Bench b;
  stream(b, 0, 0, 0, 4, true, {3, 2});
  stream(b, 0, 0, 0, 4, true, {0, 0});
  stream(b, 0, 1, 0, 4, false);
  b.run(60);
  const auto acks = b.signals();
  ASSERT_EQ(acks.size(), 2u);
  EXPECT_EQ(acks[0].flit.dst(), (Coord{3, 2}));
  EXPECT_EQ(acks[1].flit.dst(), (Coord{1, 1}));
  for (const auto& a : acks) {
    EXPECT_EQ(signal_code(a.flit), 3u);
    EXPECT_EQ(signal_arg(a.flit), 0u);
    EXPECT_EQ(a.flit.txn(), 2u);
    EXPECT_EQ(a.flit.src(), kCluster);
    EXPECT_TRUE(a.flit.last());
  }
}

TEST(Cluster9_3, RejectedStreamsAreCountedOutAndReportedOnce) {
  struct Row {
    unsigned buf, offset, granules;
    bool ok;
  };
  for (const Row& r :
       {Row{0, 2044, 4, true}, Row{0, 2045, 4, false}, Row{1, 2044, 4, true}, Row{1, 2047, 2, false},
        Row{2, 8190, 2, true}, Row{2, 8190, 3, false}, Row{2, 3, 2, false}, Row{3, 0, 4, false},
        Row{255, 0, 1, false}, Row{0, 65535, 4, false}}) {
    SCOPED_TRACE(fmt::format("buffer {} offset {} granules {}", r.buf, r.offset, r.granules));
    Bench b;
    stream(b, 0, r.buf, r.offset, r.granules);
    stream(b, 0, r.buf, r.offset, r.granules);
    b.send(60, inst_flit(unknown_op(), 7, true));
    b.send(60, inst_flit(fill(1), 8));
    b.send(90, inst_flit(fill(1), 8));
    for (unsigned w = 0; w < 4; ++w) b.send(90, response(0, w));
    b.run(150);
    const auto out = b.signals();
    ASSERT_EQ(out.size(), 4u);
    EXPECT_EQ(signal_code(out[0].flit), 3u);  // acknowledged all the same
    EXPECT_EQ(signal_code(out[1].flit), 3u);
    EXPECT_EQ(signal_code(out[2].flit), r.ok ? 1u : 4u);
    EXPECT_EQ(signal_arg(out[2].flit), r.ok ? 7u : 0u);
    EXPECT_EQ(signal_code(out[3].flit), 0u);  // the flag was cleared
    EXPECT_EQ(signal_arg(out[3].flit), 1u);
    if (!r.ok) {
      EXPECT_EQ(b.record.l1_write.size(), 1u);
      EXPECT_TRUE(b.record.commands.empty());
    }
  }
}

TEST(Cluster9_4, OpenStreamHoldsGemmAndDrain) {
  // Descriptor taken in 3; the last data flit far later.
  for (const bool is_gemm : {true, false}) {
    Bench b;
    b.send(0, data_descriptor(2, 0, 1));
    b.send(2, inst_flit(is_gemm ? gemm(2, 3, 1) : drain(1)));
    b.send(30, data_flit(1));
    b.send(31, data_flit(2, true));
    b.run(120);
    // Taken in 34; pending in 35, issued in 35, peer_open low from 37, start test passes in 37.
    const V peer = commands(b, AccOp::kAddPeer);
    ASSERT_EQ(peer, V{36});
    if (is_gemm) {
      EXPECT_EQ(Bench::relative(b.record.gemm_start), V{38});
    } else {
      EXPECT_EQ(Bench::relative(b.record.drain_start), V{36 + 12 + 1});  // gemm_busy through 47
    }
  }
}

TEST(Cluster9_4, ARejectedBuffer2StreamHoldsThemToo) {
  for (const unsigned buf : {2u, 3u}) {
    Bench b;
    b.send(0, data_descriptor(buf, 1, 1));  // odd start
    b.send(2, inst_flit(gemm(2, 3, 1)));
    b.send(30, data_flit(1));
    b.send(31, data_flit(2, true));
    b.run(120);
    // Taken in 34, stream state low from 35, peer_open from 36.
    EXPECT_EQ(Bench::relative(b.record.gemm_start), V{buf == 2 ? 37u : 7u});
  }
}

TEST(Cluster9_4, SecondStreamWaitsForTheFirstOnesLastAdd) {
  Bench b;
  stream(b, 0, 2, 0, 2, false);
  stream(b, 0, 2, 2, 2, false);
  b.run(80);
  const V peer = commands(b, AccOp::kAddPeer);
  // Command 7 keeps gemm_busy through 18: gate from 20, issued in 20, command in 21.
  EXPECT_EQ(peer, (V{7, 21}));
}

TEST(Cluster9_4, ResultsOnTheirWayOutHoldAPeerStream) {
  Bench b;
  b.far().busy = [](Cycle c) { return c < Bench::at(200); };
  b.send(0, inst_flit(gemm(5, 8, 1, true, true)));
  stream(b, 60, 2, 0, 2, false);
  b.run(300);
  const V peer = commands(b, AccOp::kAddPeer);
  ASSERT_EQ(peer.size(), 1u);
  EXPECT_EQ(peer[0], b.edge(BusyFlag::kDrain, false) + 1);
}

// The unknown op makes room for the descriptor: GEMM visible in 6, test passes in 7, start pulse in 8.
TEST(Cluster9_4, HoleTwoCyclesBeforeTheStart) {
  for (const Cycle accepted : {2u, 3u, 4u}) {
    for (const bool quirks : {true, false}) {
      SCOPED_TRACE(fmt::format("descriptor accepted in {}, quirks {}", accepted, quirks));
      cluster::ClusterParams p = default_params();
      p.quirks = quirks;
      Bench b(p);
      b.send(0, inst_flit(unknown_op()));
      b.send(1, inst_flit(gemm(3, 4, 2)));
      stream(b, accepted, 2, 100, 40, false);
      b.run(250);
      ASSERT_EQ(b.record.gemm_start.size(), 1u);
      const Cycle start = b.record.gemm_start[0] - Bench::kOrigin;
      const bool hole = quirks && accepted == 3;
      EXPECT_EQ(b.record.quirk.size(), hole ? 1u : 0u);
      EXPECT_EQ(b.unit().quirk_hits().size(), hole ? 1u : 0u);
      const V lost_loads = commands(b, AccOp::kLoad, true), lost_adds = commands(b, AccOp::kAdd, true);
      if (hole) {
        EXPECT_EQ(start, 8u);
        // Peer commands in 10, 13, ...; sweep commands in 29..52.
        EXPECT_EQ(commands(b, AccOp::kAddPeer), range(10, 10 + 3 * 19, 3));
        EXPECT_EQ(lost_loads, (V{31, 34, 37, 40}));
        EXPECT_EQ(lost_adds, (V{43, 46, 49, 52}));
      } else {
        EXPECT_TRUE(lost_loads.empty());
        EXPECT_TRUE(lost_adds.empty());
        EXPECT_EQ(commands(b, AccOp::kAddPeer).size(), 20u);
        // Before: the sweep waits for the stream. After: the stream waits for the sweep.
        if (accepted < 4) {
          EXPECT_GT(start, commands(b, AccOp::kAddPeer).back());
        }
        if (accepted == 4) {
          EXPECT_GT(commands(b, AccOp::kAddPeer).front(), b.edge(BusyFlag::kGemm, false));
        }
      }
    }
  }
}

}  // namespace
}  // namespace ktpu::test
