// SPDX-License-Identifier: Apache-2.0
// cluster.md section 13: the checked instances and the closed forms.
#include "tests/unit/cluster/bench.h"

namespace ktpu::test {
namespace {

using cluster::AccOp;
using cluster::BusyFlag;
using V = std::vector<Cycle>;

V commands(const Bench& b) { return Bench::relative(b.record.command_cycles()); }
V commands(const Bench& b, AccOp op) {
  V list;
  for (const auto& c : b.record.commands)
    if (c.op == op) list.push_back(c.cycle - Bench::kOrigin);
  return list;
}
// Descriptors of bursts: flits whose `last` bit is 0 right after a `last` or at the start.
V descriptors(const Bench& b, bool node) {
  V list;
  if (!node) return b.output_cycles(FlitType::kMemWrReq);
  bool open = false;
  for (const auto& o : b.outputs(FlitType::kCuData)) {
    if (!open) list.push_back(o.cycle);
    open = !o.flit.last();
  }
  return list;
}

TEST(Cluster13_4, UnknownOp) {
  Bench b;
  b.send(0, inst_flit(unknown_op()));
  b.run(30);
  EXPECT_EQ(Bench::relative(b.record.issue), V{4});
  EXPECT_EQ(Bench::relative(b.record.retire), V{5});
  EXPECT_EQ(b.output_cycles(FlitType::kCuSignal), V{9});
}

TEST(Cluster13_4, Fill2) {
  Bench b;
  b.send(0, inst_flit(fill(2)));
  for (unsigned i = 0; i < 8; ++i) b.send(7 + i, response(i / 4, i % 4));
  b.run(60);
  EXPECT_EQ(b.output_cycles(FlitType::kMemRdReq), V{6});
  EXPECT_EQ(Bench::relative(b.record.l1_write), (V{14, 18}));
  EXPECT_EQ(Bench::relative(b.record.retire), V{20});
  EXPECT_EQ(b.output_cycles(FlitType::kCuSignal), V{24});
}

TEST(Cluster13_4, Gemm2x3) {
  Bench b;
  b.send(0, inst_flit(gemm(2, 3, 2)));
  b.run(80);
  EXPECT_EQ(Bench::relative(b.record.gemm_start), V{5});
  EXPECT_EQ(Bench::relative(b.record.retire), V{8});
  EXPECT_EQ(b.output_cycles(FlitType::kCuSignal), V{12});
  EXPECT_EQ(commands(b), range(26, 37));
  EXPECT_EQ(b.edge(BusyFlag::kSweep, true), 6u);
  EXPECT_EQ(b.edge(BusyFlag::kSweep, false), 38u);
  EXPECT_EQ(b.edge(BusyFlag::kGemm, true), 6u);
  EXPECT_EQ(b.edge(BusyFlag::kGemm, false), 49u);
}

TEST(Cluster13_4, Gemm1x1Paced) {
  Bench b;
  b.send(0, inst_flit(gemm(1, 1, 3)));
  b.run(80);
  EXPECT_EQ(commands(b), (V{26, 31, 36}));
  EXPECT_EQ(b.edge(BusyFlag::kGemm, false), 48u);
}

TEST(Cluster13_4, GemmThenDrainLast) {
  Bench b;
  b.send(0, inst_flit(gemm(2, 5, 1)));
  b.send(1, inst_flit(drain(10), 0x41, true));
  b.run(140);
  EXPECT_EQ(Bench::relative(b.record.issue), (V{4, 10}));
  EXPECT_EQ(Bench::relative(b.record.drain_start), V{48});  // the test passes in 47
  EXPECT_EQ(commands(b, AccOp::kEmit), range(50, 59));
  EXPECT_EQ(b.output_cycles(FlitType::kMemWrReq), (V{72, 82}));
  V data = range(73, 80);
  data.insert(data.end(), {83, 84});
  EXPECT_EQ(b.output_cycles(FlitType::kMemWrData), data);
  EXPECT_EQ(Bench::relative(b.record.retire), (V{8, 86}));
  ASSERT_EQ(b.output_cycles(FlitType::kCuSignal), (V{12, 90}));
  EXPECT_EQ(signal_code(b.signals()[1].flit), 1u);
  EXPECT_EQ(signal_arg(b.signals()[1].flit), 0x41u);
}

TEST(Cluster13_4, Drain10) {
  Bench b;
  b.send(0, inst_flit(drain(10)));
  b.run(80);
  EXPECT_EQ(commands(b), range(7, 16));
  EXPECT_EQ(Bench::relative(b.record.push), range(15, 24));
  EXPECT_EQ(b.output_cycles(FlitType::kMemWrReq), (V{29, 39}));
  EXPECT_EQ(Bench::relative(b.record.retire), V{43});
  EXPECT_EQ(b.output_cycles(FlitType::kCuSignal), V{47});
}

TEST(Cluster13_4, Drain64) {
  Bench b;
  b.send(0, inst_flit(drain(64)));
  b.run(150);
  EXPECT_EQ(b.output_cycles(FlitType::kMemWrReq), range(29, 99, 10));
  EXPECT_EQ(Bench::relative(b.record.retire), V{109});
}

TEST(Cluster13_4, SendDrain5) {
  Bench b;
  b.send(0, inst_flit(drain_to_node(5, 2)));
  b.run(80);
  EXPECT_EQ(commands(b, AccOp::kSend), range(7, 15, 2));
  EXPECT_EQ(descriptors(b, true), (V{28, 38}));
  EXPECT_EQ(Bench::relative(b.record.retire), V{42});
}

TEST(Cluster13_4, FusedDrain9) {
  Bench b;
  b.send(0, inst_flit(gemm(3, 3, 2, false, true)));
  b.send(1, inst_flit(drain(9, true)));
  b.run(120);
  EXPECT_EQ(commands(b, AccOp::kAddEmit), range(35, 43));
  EXPECT_EQ(Bench::relative(b.record.push), range(43, 51));
  EXPECT_EQ(b.output_cycles(FlitType::kMemWrReq), (V{57, 67}));
  EXPECT_EQ(Bench::relative(b.record.retire), (V{8, 70}));
}

TEST(Cluster13_4, SweepAfterSweep) {
  Bench wide;
  wide.send(0, inst_flit(gemm(2, 3, 1)));
  wide.send(1, inst_flit(gemm(2, 3, 1, true)));
  wide.run(120);
  V expected = range(26, 31);
  for (const Cycle c : range(54, 59)) expected.push_back(c);
  EXPECT_EQ(commands(wide), expected);

  Bench narrow;
  narrow.send(0, inst_flit(gemm(2, 2, 1)));
  narrow.send(1, inst_flit(gemm(2, 2, 1, true)));
  narrow.run(120);
  expected = range(26, 29);
  for (const Cycle c : range(63, 66)) expected.push_back(c);
  EXPECT_EQ(commands(narrow), expected);
}

TEST(Cluster13_4, EmittingSweep256) {
  Bench b;
  b.send(0, inst_flit(gemm(16, 16, 2, false, true)));
  b.send(1, inst_flit(drain(256, true)));
  unsigned peak = 0;
  for (Cycle c = 0; c < 700; ++c) {
    b.run(c);
    peak = std::max(peak, b.unit().results_outstanding());
  }
  EXPECT_EQ(peak, 72u);
  EXPECT_EQ(commands(b, AccOp::kAddEmit).front(), 262u + 20);
  EXPECT_EQ(b.output_cycles(FlitType::kMemWrReq), range(304, 304 + 310, 10));
  EXPECT_EQ(Bench::relative(b.record.retire), (V{8, 624}));
}

TEST(Cluster13_4, PeerStream4) {
  Bench b;
  b.send(0, data_descriptor(2, 0, 3));
  for (unsigned i = 0; i < 4; ++i) b.send(1 + i, data_flit(i, i == 3));
  b.run(60);
  EXPECT_EQ(commands(b, AccOp::kAddPeer), (V{7, 10}));
  EXPECT_EQ(b.output_cycles(FlitType::kCuSignal), V{10});
}

TEST(Cluster13_4, OperandStream8) {
  Bench b;
  b.send(0, data_descriptor(0, 0, 7));
  for (unsigned i = 0; i < 8; ++i) b.send(1 + i, data_flit(i, i == 7));
  b.run(60);
  EXPECT_EQ(Bench::relative(b.record.l1_write), (V{8, 12}));
  EXPECT_EQ(b.output_cycles(FlitType::kCuSignal), V{13});
}

TEST(Cluster13_3, FillRequestBehindACompletionIsOneCycleLater) {
  Bench b;
  b.send(0, inst_flit(unknown_op()));
  b.send(1, inst_flit(fill(1)));  // visible in 6
  b.run(40);
  EXPECT_EQ(b.output_cycles(FlitType::kCuSignal), V{9});
  EXPECT_EQ(b.output_cycles(FlitType::kMemRdReq), V{10});
}

// fabric.md section 15, rows 1 to 3.
TEST(Cluster5_1, RequestFlits) {
  ClusterInst quantised_b = fill(32, 1, 0x2000), shared = fill(8, 0, 0x12345680);
  shared.preq = 1;
  shared.eoff = 0x10;
  shared.npeer = 1;
  shared.peer0 = Coord{2, 1}.node_byte();
  const std::pair<ClusterInst, const char*> rows[] = {
      {fill(32), "011100080000000000035020000000000000000000000000000000000000000000000000"},
      {quantised_b, "011100080000002000037020000000000000000000000000000000000000000000000000"},
      {shared, "011101080012345680034008000012400000000000000000000000000000000000000000"}};
  for (const auto& [inst, hex] : rows) {
    cluster::ClusterParams p = default_params();
    p.at = {1, 1};
    Bench b(p);
    b.send(0, inst_flit(inst));
    b.run(20);
    ASSERT_EQ(b.outputs(FlitType::kMemRdReq).size(), 1u);
    EXPECT_EQ(arch::to_hex(b.outputs(FlitType::kMemRdReq)[0].flit), hex);
  }
}

// Explicit DRAIN, all modes: start test passes in s = 4.
TEST(Cluster13_4, ExplicitDrainClosedForm) {
  std::vector<unsigned> counts;
  for (unsigned n = 1; n <= 33; ++n) counts.push_back(n);
  for (unsigned n : {40, 47, 48, 63, 64}) counts.push_back(n);
  for (unsigned mode = 0; mode < 3; ++mode)
    for (const unsigned n : counts) {
      Bench b;
      b.send(0, inst_flit(mode == 0 ? drain(n) : drain_to_node(n, mode == 1 ? 0 : 2)));
      b.run(400);
      const unsigned s = 4, k = mode == 2, granules = mode == 2 ? 2 * n : n, bursts = (granules + 7) / 8,
                     rest = granules - 8 * (bursts - 1);
      V expected;
      for (unsigned i = 0; i < bursts; ++i)
        expected.push_back(granules >= 8 ? s + 25 - k + 10 * i : s + 17 - k + granules);
      EXPECT_EQ(descriptors(b, mode != 0), expected) << "mode " << mode << " n " << n;
      const Cycle done = bursts >= 2 ? s + 27 - k + 10 * (bursts - 1) + rest : s + 19 - k + 2 * granules;
      EXPECT_EQ(Bench::relative(b.record.retire), V{done}) << "mode " << mode << " n " << n;
    }
}

TEST(Cluster13_4, EmittingSweepClosedForm) {
  const unsigned shapes[][3] = {{1, 1, 2}, {1, 2, 3}, {2, 2, 2}, {1, 5, 2},
                                {3, 2, 2}, {2, 4, 2}, {3, 3, 1}, {4, 4, 3}};
  for (const auto& [gm, gn, nk] : shapes) {
    Bench b;
    b.send(0, inst_flit(gemm(gm, gn, nk, nk == 1, true)));
    b.send(1, inst_flit(drain(gm * gn, true)));
    b.run(600);
    const V emits = commands(b, AccOp::kAddEmit);
    ASSERT_EQ(emits.size(), gm * gn);
    const V heads = b.output_cycles(FlitType::kMemWrReq);
    if (gm * gn >= 8) {
      for (std::size_t i = 0; i < heads.size(); ++i) EXPECT_EQ(heads[i], emits.front() - 20 + 42 + 10 * i);
    } else {
      EXPECT_EQ(heads, V{emits.back() - 20 + 36});
    }
    EXPECT_EQ(Bench::relative(b.record.retire).back(), b.output_cycles(FlitType::kMemWrData).back() + 2);
  }
}

// Section 8, with 0 acting as 1.
TEST(Cluster8, Pacing) {
  struct Row {
    unsigned gm, gn, nk, period;
  };
  for (const Row& r :
       {Row{1, 1, 1, 1}, Row{2, 2, 1, 1}, Row{1, 1, 4, 5}, Row{0, 0, 4, 5}, Row{1, 2, 4, 3}, Row{2, 1, 4, 3},
        Row{1, 3, 2, 2}, Row{2, 2, 4, 2}, Row{4, 1, 3, 2}, Row{1, 5, 4, 1}, Row{3, 3, 3, 1}}) {
    Bench b;
    b.send(0, inst_flit(gemm(r.gm, r.gn, r.nk)));
    b.run(200);
    const unsigned n = std::max(r.gm, 1u) * std::max(r.gn, 1u) * r.nk;
    EXPECT_EQ(commands(b), range(26, 26 + Cycle{r.period} * (n - 1), r.period))
        << r.gm << "x" << r.gn << " nk " << r.nk;
  }
}

}  // namespace
}  // namespace ktpu::test
