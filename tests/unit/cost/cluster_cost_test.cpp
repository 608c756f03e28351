// SPDX-License-Identifier: Apache-2.0
// The cluster's queue against the checked instances of cluster.md section 13.4: instructions accepted in
// cycle 0, 1, .. by an idle unit.
#include <gtest/gtest.h>

#include "compiler/cost/cluster.h"
#include "tests/unit/cost/stub_mesh.h"

namespace ktpu::cost {
namespace {

using arch::ClusterInst;
using arch::ClusterOp;

constexpr Cycles kSignal = 4;  // exec_done to the completion on the output

struct Rig {
  Ledger ledger;
  StubMesh mesh;
  UnitCost cost;
  Cluster unit{0, cost, ledger, mesh};

  void accept(Cycles t, const ClusterInst& inst) {
    arch::Flit flit;
    arch::pack(flit, inst);
    unit.instruction(ledger.after({}, t, Cause::kHost), flit);
  }
  void run() { mesh.run(unit); }
  Cycles done(std::size_t i) const { return mesh.signals.at(i) - kSignal; }
  // Descriptors of the bursts on the output.
  std::vector<Cycles> descriptors() const {
    std::vector<Cycles> all;
    for (const auto& w : mesh.writes) all.push_back(w.last_flit - w.words);
    for (const auto& [burst, t] : mesh.bursts) all.push_back(t - burst.flits);
    return all;
  }
};

ClusterInst inst(ClusterOp op) {
  ClusterInst i;
  i.op = static_cast<std::uint32_t>(op);
  return i;
}
ClusterInst gemm(unsigned gm, unsigned gn, unsigned nk, bool acc = false) {
  ClusterInst i = inst(ClusterOp::kGemm);
  i.gm = gm;
  i.gn = gn;
  i.nk = nk;
  i.acc = acc;
  return i;
}
ClusterInst drain(unsigned n) {
  ClusterInst i = inst(ClusterOp::kDrain);
  i.n = n;
  i.addr = 0x4000;
  return i;
}

TEST(ClusterCost, UnknownInstruction) {
  Rig r;
  r.accept(0, ClusterInst{});
  r.run();
  EXPECT_EQ(r.done(0), 5);
}

TEST(ClusterCost, Fill) {
  Rig r;
  ClusterInst i = inst(ClusterOp::kFill);
  i.n = 2;
  r.accept(0, i);
  r.run();
  ASSERT_EQ(r.mesh.requests.size(), 1u);
  EXPECT_EQ(r.mesh.requests[0].t, 6);
  EXPECT_EQ(r.mesh.requests[0].message.count, 2);
  r.unit.data(r.ledger.after({}, 14, Cause::kPort), 2);
  EXPECT_EQ(r.done(0), 20);
}

TEST(ClusterCost, RequestBehindACompletionIsACycleLater) {
  Rig r;
  r.accept(0, ClusterInst{});
  ClusterInst i = inst(ClusterOp::kFill);
  r.accept(0, i);
  r.run();
  EXPECT_EQ(r.mesh.requests.at(0).t, r.done(0) + 1 + 4);
}

TEST(ClusterCost, OnlyTheLowestNodeOfAGroupAsks) {
  UnitCost cost;
  cost.at = {2, 1};
  for (const std::uint32_t peer : {0x11u, 0x22u}) {
    Ledger ledger;
    StubMesh mesh;
    Cluster unit(0, cost, ledger, mesh);
    ClusterInst i = inst(ClusterOp::kFill);
    i.npeer = 1;
    i.peer0 = peer;
    arch::Flit flit;
    arch::pack(flit, i);
    unit.instruction({}, flit);
    mesh.run(unit);
    EXPECT_EQ(mesh.requests.size(), peer == 0x22 ? 1u : 0u);
  }
}

TEST(ClusterCost, GemmRetiresWhenItsSweepStarts) {
  Rig r;
  r.accept(0, gemm(2, 3, 2));
  r.run();
  EXPECT_EQ(r.done(0), 8);
}

// 2x3 nk 1, then again: first issues 6 and 34 (commands 26 and 54, 20 later).
TEST(ClusterCost, WideSweepWaitsForTheCascade) {
  Rig r;
  r.accept(0, gemm(2, 3, 1));
  r.accept(0, gemm(2, 3, 1, true));
  r.run();
  EXPECT_EQ(r.done(1), 34 + 2);  // exec_done is two after the first issue
}

// 2x2 nk 1, then again: first issues 6 and 43.
TEST(ClusterCost, NarrowSweepWaitsForTheAccumulator) {
  Rig r;
  r.accept(0, gemm(2, 2, 1));
  r.accept(0, gemm(2, 2, 1, true));
  r.run();
  EXPECT_EQ(r.done(1), 43 + 2);
}

TEST(ClusterCost, DrainBehindASweep) {
  Rig r;
  r.accept(0, gemm(2, 5, 1));
  r.accept(1, drain(10));
  r.run();
  EXPECT_EQ(r.descriptors(), (std::vector<Cycles>{72, 82}));
  EXPECT_EQ(r.done(1), 86);
  EXPECT_EQ(r.mesh.writes[1], (StubMesh::Write{0x4100, 2, 84}));
}

TEST(ClusterCost, DrainOfReadyTiles) {
  Rig r;
  r.accept(0, drain(10));
  r.run();
  EXPECT_EQ(r.descriptors(), (std::vector<Cycles>{29, 39}));
  EXPECT_EQ(r.done(0), 43);
  Rig long_one;
  long_one.accept(0, drain(64));
  long_one.run();
  EXPECT_EQ(long_one.descriptors().back(), 99);
  EXPECT_EQ(long_one.done(0), 109);
}

TEST(ClusterCost, RawTilesToANode) {
  Rig r;
  ClusterInst i = drain(5);
  i.dnode = 1;
  i.dbuf = 2;
  r.accept(0, i);
  r.run();
  EXPECT_EQ(r.descriptors(), (std::vector<Cycles>{28, 38}));
  EXPECT_EQ(r.done(0), 42);
}

TEST(ClusterCost, EmittedResults) {
  Rig r;
  ClusterInst i = gemm(3, 3, 2);
  i.emit = 1;
  r.accept(0, i);
  ClusterInst d = drain(9);
  d.fuse = 1;
  r.accept(1, d);
  r.run();
  EXPECT_EQ(r.descriptors(), (std::vector<Cycles>{57, 67}));
  EXPECT_EQ(r.done(1), 70);

  Rig large;
  i = gemm(16, 16, 2);
  i.emit = 1;
  large.accept(0, i);
  d = drain(256);
  d.fuse = 1;
  large.accept(1, d);
  large.run();
  EXPECT_EQ(large.descriptors().front(), 304);
  EXPECT_EQ(large.descriptors().back(), 304 + 310);
  EXPECT_EQ(large.done(1), 624);
}

TEST(ClusterCost, PeerBurstIsAcknowledged) {
  for (const auto& [buffer, granules, first, ack] : {std::tuple{2, 4, 0, 10}, std::tuple{0, 8, 0, 13}}) {
    Rig r;
    PeerBurst burst;
    burst.buffer = static_cast<std::uint8_t>(buffer);
    burst.flits = static_cast<std::uint16_t>(granules);
    burst.signal = true;
    const Cycles last = first + granules;
    r.unit.burst(r.ledger.after({}, last, Cause::kNetwork), burst);
    // An odd granule of a sum is taken two cycles after the one before; the burst here arrives at full speed.
    EXPECT_LE(std::abs(r.mesh.signals.at(0) - ack), 1) << buffer;
  }
}

TEST(ClusterForms, PacingOfFewTiles) {
  const ClusterCost c;
  EXPECT_EQ(sweep_form(c, 1, 1, 3).period, 5);
  EXPECT_EQ(sweep_form(c, 1, 2, 2).period, 3);
  EXPECT_EQ(sweep_form(c, 3, 1, 2).period, 2);
  EXPECT_EQ(sweep_form(c, 2, 2, 2).period, 2);
  EXPECT_EQ(sweep_form(c, 1, 5, 2).period, 1);
  EXPECT_EQ(sweep_form(c, 1, 1, 1).period, 1);
  EXPECT_EQ(sweep_form(c, 0, 0, 0).steps, 1);
  EXPECT_EQ(sweep_form(c, 4, 8, 16).length(), 4 * 8 * 16 - 1);
}

// A sweep of twice the speed: half the length, and still the tile's own distance.
TEST(ClusterForms, FasterSweep) {
  ClusterCost c;
  c.issues_per_cycle = 2;
  EXPECT_EQ(sweep_form(c, 8, 8, 4).length(), 128);
  EXPECT_EQ(sweep_form(c, 1, 1, 3).period, 5);
}

TEST(ClusterForms, SustainedWriteBackIsEightGranulesInTenCycles) {
  const ClusterCost c;
  const DrainForm form = explicit_drain(c, 800, false);
  EXPECT_EQ(form.bursts.size(), 100u);
  EXPECT_EQ(form.bursts[99].last_flit - form.bursts[0].last_flit, 990);
}

}  // namespace
}  // namespace ktpu::cost
