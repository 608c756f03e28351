// SPDX-License-Identifier: Apache-2.0
// The endpoint base (fabric.md sections 8 to 10), seen through a cluster whose instructions have unknown
// opcodes.
#include "tests/unit/cluster/bench.h"

namespace ktpu::test {
namespace {

using V = std::vector<Cycle>;

Flit ctrl(unsigned index, unsigned txn = 1) {
  Flit f = arch::make_flit(kCluster, {0, 0}, FlitType::kCuCtrl, txn, true);
  f.set(arch::Layout<arch::Ctrl>::fields[1].field, index);
  return f;
}
std::uint64_t value(const Flit& f) { return f.bits(176, 64); }

TEST(Fabric8_1, InstructionAndCompletionTimes) {
  Bench b;
  b.send(0, inst_flit(unknown_op(), 0x40));
  b.send(0, inst_flit(unknown_op(), 0x41, true));
  b.run(40);
  EXPECT_EQ(Bench::relative(b.record.issue), (V{4, 7}));  // visible in 3, then one after exec_done
  EXPECT_EQ(Bench::relative(b.record.retire), (V{5, 8}));
  const auto out = b.signals();
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].cycle, 9u);
  EXPECT_EQ(out[1].cycle, 12u);
  // fabric.md section 15, rows 13 and 14, for node (2,1) and argument 0.
  EXPECT_EQ(arch::to_hex(out[0].flit),
            "012164080000000000000000000000000000000000000000000000000000000000000000");
  EXPECT_EQ(arch::to_hex(out[1].flit),
            "012164180100000041000000000000000000000000000000000000000000000000000000");
}

TEST(Fabric7_2, InputsAreBusyInCycles0To4) {
  Bench b;
  b.far().send(0, inst_flit(unknown_op()));
  b.run(0);
  EXPECT_EQ(b.far().accepted, V{5});
}

TEST(Fabric10, ControlRepliesTwoCyclesLater) {
  Bench b;
  b.send(0, ctrl(0, 1));
  b.send(10, ctrl(1, 2));
  b.send(20, ctrl(3, 3));
  b.send(30, ctrl(4, 4));
  b.run(60);
  const auto out = b.outputs(FlitType::kCuCtrl);
  ASSERT_EQ(out.size(), 4u);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(out[i].cycle, 10 * i + 2);
  EXPECT_EQ(arch::to_hex(out[0].flit),
            "002170180200"
            "4d47042020000000"
            "00000000000000000000000000000000000000000000");
  EXPECT_EQ(value(out[1].flit), 0x0000020000000000u);  // idle, 512 free
  EXPECT_EQ(value(out[2].flit), 0u);
  EXPECT_EQ(value(out[3].flit), 0u);
  EXPECT_EQ(out[3].flit.txn(), 4u);
}

TEST(Fabric10_3, ASecondPendingRequestIsLost) {
  for (const Cycle gap : {1u, 2u}) {
    Bench b;
    b.send(0, ctrl(0, 1));
    b.send(gap, ctrl(0, 2));
    b.run(30);
    // The reply leaves its register in cycle 1: a request in 1 is lost, one in 2 is answered.
    EXPECT_EQ(b.output_cycles(FlitType::kCuCtrl), (gap == 1 ? V{2} : V{2, 4}));
  }
}

TEST(Fabric8_1, StatusIsSampledInTheCycleOfTheRequest) {
  // Instruction accepted in 0: counted from 1, visible (busy) from 3, popped in 5, so free again from 6.
  const std::map<Cycle, std::uint64_t> expected{{1, 0x000001FF}, {2, 0x000001FF}, {3, 0x800001FF},
                                                {5, 0x800001FF}, {6, 0x00000200}, {7, 0x00000200},
                                                {8, 0x80000200}, {9, 0x00000200}};
  for (const auto& [cycle, status] : expected) {
    Bench b;
    b.send(0, inst_flit(unknown_op()));
    b.send(cycle, ctrl(1));
    b.run(40);
    EXPECT_EQ(value(b.outputs(FlitType::kCuCtrl).at(0).flit), status << 32) << cycle;
  }
}

TEST(Fabric8_1, Counters) {
  Bench b;
  b.send(0, inst_flit(unknown_op()));
  b.send(20, ctrl(2));
  b.send(30, inst_flit(gemm(1, 1, 1)));
  b.send(200, ctrl(3));
  b.send(210, inst_flit(fill(1)));
  for (unsigned w = 0; w < 4; ++w) b.send(220, response(0, w));
  b.send(260, ctrl(3));
  b.run(300);
  const auto out = b.outputs(FlitType::kCuCtrl);
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(value(out[0].flit), 1ull << 32 | 4);  // busy in 3, 4, 5 and 8
  EXPECT_EQ(value(out[1].flit), 32ull << 32);     // cycles_cluster: gemm_busy 32
  // FILL state from 214 until word 3, taken in 226, was counted: 214..227.
  EXPECT_EQ(value(out[2].flit), 32ull << 32 | 14);
}

TEST(Fabric8_1, CompletionsGoBeforeRepliesBeforeTheUnit) {
  Bench b;
  b.far().busy = [](Cycle c) { return c < Bench::at(60); };
  b.send(0, inst_flit(drain(1)));          // its descriptor fills the output register and waits
  b.send(30, inst_flit(unknown_op(), 9));  // behind the DRAIN, which cannot retire
  b.send(40, ctrl(0));
  b.run(120);
  std::vector<FlitType> order;
  for (const auto& s : b.far().seen) order.push_back(s.flit.type());
  EXPECT_EQ(order, (std::vector<FlitType>{FlitType::kMemWrReq, FlitType::kCuCtrl, FlitType::kMemWrData,
                                          FlitType::kCuSignal, FlitType::kCuSignal}));
}

TEST(Fabric8_1, FifosHoldTwoMoreThanTheirDepth) {
  cluster::ClusterParams p = default_params();
  p.inst_depth = 4;
  Bench b(p);
  b.send(0, inst_flit(fill(1)));  // never answered: holds the sequencer, leaves the FIFO
  for (unsigned i = 0; i < 10; ++i) b.send(10, inst_flit(unknown_op()));
  b.send(30, response(0, 0));
  b.run(200);
  EXPECT_EQ(b.far().accepted.size(), 1u + 6);
  EXPECT_EQ(b.far().unsent(), 5u);  // the response cannot get in behind them: the unit waits for ever

  Bench counted(p);
  counted.send(0, inst_flit(fill(1)));
  for (unsigned i = 0; i < 5; ++i) counted.send(10, inst_flit(unknown_op()));
  counted.send(30, ctrl(1));
  counted.run(60);
  EXPECT_EQ(value(counted.outputs(FlitType::kCuCtrl).at(0).flit), 0x8000FFFFull << 32);  // wraps below 0
}

TEST(Fabric8_1, AFullCompletionQueueStopsTheIssue) {
  Bench b;
  b.far().busy = [](Cycle c) { return c < Bench::at(300); };
  for (unsigned i = 0; i < 40; ++i) b.send(0, inst_flit(unknown_op(), i));
  b.run(299);
  EXPECT_EQ(b.record.retire.size(), 16u + 2 + 1);  // the queue and the output register
  b.run(700);
  const auto out = b.signals();
  ASSERT_EQ(out.size(), 40u);
  for (unsigned i = 0; i < 40; ++i) EXPECT_EQ(out[i].flit.txn(), i);
}

TEST(Fabric8_2, WriteAcknowledgesPassABusyFace) {
  cluster::ClusterParams p = default_params();
  p.recv_depth = 4;
  Bench b(p);
  for (unsigned i = 0; i < 6; ++i) b.send(0, response(i, 0));  // no FILL: fills the FIFO
  for (unsigned i = 0; i < 3; ++i)
    b.send(20, arch::make_flit(kCluster, kMemory, FlitType::kMemWrAck, 2, true));
  b.send(40, inst_flit(unknown_op()));
  b.run(100);
  EXPECT_EQ(b.far().accepted.size(), 9u);  // all but the instruction
  EXPECT_EQ(b.far().accepted[6], Bench::at(20));
  EXPECT_EQ(b.far().accepted[8], Bench::at(22));
}

TEST(Fabric8_2, UnknownTypesAreDropped) {
  Bench b;
  for (const unsigned type : {0u, 1u, 4u, 6u, 9u, 14u, 15u})
    b.send(0, arch::make_flit(kCluster, kMemory, static_cast<FlitType>(type), 0, true));
  b.send(10, inst_flit(unknown_op()));
  b.run(60);
  EXPECT_EQ(b.signals().size(), 1u);
  EXPECT_TRUE(b.unit().idle(b.engine().now()));
  EXPECT_TRUE(b.unit().waits(b.engine().now()).empty());
}

TEST(Fabric14, ResetMidWayLeavesACleanUnit) {
  Bench b;
  b.send(0, inst_flit(gemm(4, 4, 4, false, true)));
  b.send(0, inst_flit(drain(16, true)));
  b.send(30, data_descriptor(2, 0, 3));
  b.run(120);
  b.engine().reset();
  const Cycle origin = b.engine().now() - Bench::kOrigin + 20;
  b.record = Record{};
  b.far().seen.clear();
  b.send(origin, inst_flit(gemm(2, 3, 2)));
  b.run(origin + 80);
  EXPECT_EQ(b.record.gemm_start, V{Bench::at(origin + 5)});
  EXPECT_EQ(b.record.edge(cluster::BusyFlag::kGemm, false), Bench::at(origin + 49));
  EXPECT_EQ(b.far().seen.size(), 1u);
}

}  // namespace
}  // namespace ktpu::test
