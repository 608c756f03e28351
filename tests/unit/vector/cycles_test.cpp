// SPDX-License-Identifier: Apache-2.0
// vector.md section 12: what each instruction costs. Costs are from one execute cycle to the next: the rules'
// "next F" is three cycles before that.
#include "arch/encoding/payloads.h"
#include "tests/unit/vector/kernel_bench.h"

namespace ktpu::test {
namespace {

constexpr Cycle kToExecute = 3;

TEST(Vector_S12_1, TheFirstInstructionExecutesInCycle2) {
  KernelBench b;
  const auto result = b.run(Kernel().halt());
  EXPECT_EQ(b.at(0), 2u);
  EXPECT_EQ(result.arg, 5u);
  EXPECT_EQ(result.signalled, result.accepted + 15);
}

TEST(Vector_S12_3, ArithmeticByLength) {
  for (const unsigned vl : {1u, 16u, 17u, 64u, 100u, 128u}) {
    const Cycle n = (vl + 15) / 16;
    KernelBench b;
    b.run(Kernel().length(vl).op(VectorOpcode::kVadd, 2, 0, 1, 1).op(VectorOpcode::kVadd, 3, 0, 1, 1).halt());
    // b0 = E+1, next F = b0+n+1.
    EXPECT_EQ(b.cost(2), 1 + n + 1 + kToExecute) << vl;
  }
}

TEST(Vector_S12_3, ChainGroupsByDepth) {
  for (const unsigned vl : {16u, 128u})
    for (const VectorMode mode : {VectorMode::kD2, VectorMode::kD4}) {
      const Cycle n = vl / 16, depth = mode == VectorMode::kD2 ? 2 : 4;
      KernelBench b;
      Kernel k;
      k.length(vl).mode(mode);
      for (unsigned t = 0; t < depth; ++t) k.stage(VectorOpcode::kVadd, 2, t == 0 ? kV : kC, 0);
      b.run(k.seti(1, 0).halt());
      // A = E+1+4(D-1), next F = b0+nD+1.
      EXPECT_EQ(b.cost(3), 1 + 4 * (depth - 1) + n * depth + 1 + kToExecute);
    }
}

// A dependent instruction's first beat is 18 cycles behind its producer's last: period 25 instead of 13.
TEST(Vector_S12_4, DependentInstructionsWait) {
  KernelBench b;
  b.run(Kernel()
            .length(128)
            .op(VectorOpcode::kVadd, 2, 0, 1, 1)
            .op(VectorOpcode::kVadd, 3, 2, 1, 1)
            .op(VectorOpcode::kVadd, 4, 3, 1, 1)
            .op(VectorOpcode::kVadd, 5, 0, 1, 1)
            .halt());
  EXPECT_EQ(b.cost(2), 13u);
  EXPECT_EQ(b.cost(3), 25u);
  EXPECT_EQ(b.cost(4), 25u);
}

// The fields of unused slots and of scalars count as vector registers.
TEST(Vector_S12_4, FalseDependences) {
  for (const unsigned slot : {0u, 1u, 2u}) {
    KernelBench b;
    VectorWord w = Kernel::arithmetic(VectorOpcode::kVmov, 3, 0, 0, 0);
    (slot == 0 ? w.va : slot == 1 ? w.vb : w.vc) = 2;
    (slot == 0 ? w.sa : slot == 1 ? w.sb : w.sc) = kS;
    b.run(Kernel().length(128).op(VectorOpcode::kVadd, 2, 0, 1, 1).add(w).halt());
    EXPECT_EQ(b.cost(3), 25u) << "slot " << slot;
  }
  KernelBench b;
  b.run(Kernel().length(128).op(VectorOpcode::kVadd, 2, 0, 1, 1).op(VectorOpcode::kVadd, 2, 0, 1, 1).halt());
  EXPECT_EQ(b.cost(3), 25u) << "the destination, too";
}

TEST(Vector_S12_3, ScalarInstructions) {
  KernelBench b;
  b.run(Kernel()
            .seti(0, 32)
            .setvl(0)
            .mode(VectorMode::kD2)
            .loop(0, 1)
            .seti(1, 1)
            .reduce(ReduceKind::kAny, 2, 0)
            .halt());
  EXPECT_EQ(b.cost(0), 3 + kToExecute) << "VSETI";
  EXPECT_EQ(b.cost(1), 1 + kToExecute) << "VSETVL";
  EXPECT_EQ(b.cost(2), 1 + kToExecute) << "VSETMODE, pipe empty";
  EXPECT_EQ(b.cost(3), 1 + kToExecute) << "VLOOP";
}

TEST(Vector_S12_3, SetModeWaitsForThePipe) {
  KernelBench b;
  b.run(Kernel().length(16).op(VectorOpcode::kVadd, 2, 0, 1, 1).mode(VectorMode::kD4).seti(1, 0).halt());
  // The beat is in E+1 of the addition; the pipe is empty 79 cycles later, the mode changes then.
  const Cycle beat = b.at(2) + 1;
  EXPECT_EQ(b.at(4), beat + 79 + 1 + kToExecute);
}

TEST(Vector_S12_3, WholeChunkMoves) {
  for (const unsigned vl : {16u, 100u, 128u}) {
    const Cycle n = (vl + 15) / 16;
    KernelBench b;
    b.walk({1, 0, 1, 64});
    b.run(Kernel()
              .length(vl)
              .load(0, 1)
              .load(1, 1, 2)
              .store(0, 1)
              .store(0, 1, 2)
              .convert(2, 0, 2)
              .convert(3, 0, 1)
              .spread(4, 0)
              .raw(0xB00C2000)  // VBCAST S6 = v1[0]
              .raw(0xB8040600)  // VSHUF v2 = v0 by S3
              .halt());
    EXPECT_EQ(b.cost(2), 2 + 4 * n + kToExecute) << "VLD FP16";
    EXPECT_EQ(b.cost(3), 2 + 8 * n + kToExecute) << "VLD FP32";
    EXPECT_EQ(b.cost(4), 2 + 3 * n + kToExecute) << "VST FP16";
    EXPECT_EQ(b.cost(5), 2 + 4 * n + kToExecute) << "VST FP32";
    EXPECT_EQ(b.cost(6), 2 + 3 * n + kToExecute) << "VCVT";
    EXPECT_EQ(b.cost(7), 2 + 3 * n + kToExecute);
    EXPECT_EQ(b.cost(8), 2 + 3 * n + kToExecute) << "VBCAST to lanes";
    EXPECT_EQ(b.cost(9), 5 + kToExecute) << "VBCAST to a scalar";
    EXPECT_EQ(b.cost(10), 2 + 3 * n + kToExecute) << "VSHUF";
  }
}

// From F: q+145 cycles; a VSETMODE directly behind takes 17 (12.7).
TEST(Vector_S12_7, Reductions) {
  for (const unsigned vl : {16u, 64u, 128u})
    for (const ReduceKind kind : {ReduceKind::kSum, ReduceKind::kMax, ReduceKind::kMin, ReduceKind::kSumsq,
                                  ReduceKind::kDot, ReduceKind::kExpsum}) {
      const Cycle q = vl / 16 * (kind >= ReduceKind::kSumsq ? 2 : 1);
      KernelBench b;
      b.run(Kernel().length(vl).mode(VectorMode::kTree).reduce(kind, 1, 0, 2).mode(VectorMode::kFlat).halt());
      EXPECT_EQ(b.cost(3), q + 145);
      EXPECT_EQ(b.cost(4), 17u);
    }
}

TEST(Vector_S12_7, WholeKernels) {
  const auto prelude = [] {
    return Kernel().seti(0, 128).setvl(0).mode(VectorMode::kFlat).fill(0, 0).bar().load(0, 1).load(1, 2);
  };
  const auto bench = [](KernelBench& b, unsigned fill, unsigned drain) {
    b.walk({0, 0x1000, 32, fill});
    b.walk({1, 0, 1, 8});
    b.walk({2, 8, 1, 8});
    b.walk({3, 32, 1, 64});
    b.walk({4, 0x4000, 32, drain});
  };
  {
    KernelBench b;
    bench(b, 32, 64);
    EXPECT_EQ(b.run(prelude().drain(4, 0).halt()).arg, 410u);
  }
  {
    KernelBench b;
    bench(b, 32, 64);
    EXPECT_EQ(b.run(prelude().store(0, 3, 2).drain(4, 0).halt()).arg, 447u);
  }
  {
    KernelBench b;
    bench(b, 32, 64);
    EXPECT_EQ(
        b.run(prelude().op(VectorOpcode::kVmov, 5, 0).convert(6, 5, 1).store(6, 3).drain(4, 0).halt()).arg,
        555u);
  }
  {
    KernelBench b;
    bench(b, 16, 24);
    EXPECT_EQ(b.run(prelude().op(VectorOpcode::kVadd, 2, 0, 1, 1).store(2, 3).drain(4, 0).halt()).arg, 358u);
    EXPECT_EQ(b.at(7), 157u) << "VADD";
    // The store waits in its execute cycle until the pipe is empty, 79 cycles behind beat 165.
    EXPECT_EQ(b.at(9) - kToExecute, 244u + 2 + 3 * 8) << "next F of VST";
    EXPECT_EQ(b.at(9) + 6, 279u) << "the drain reads its first word";
  }
}

TEST(Vector_S12_5, FillsAndBarriers) {
  for (const unsigned words : {1u, 4u, 32u, 256u}) {
    KernelBench b;
    b.walk({0, 0x1000, 32, words});
    b.run(Kernel().fill(0, 0).bar().seti(1, 0).halt());
    // Next F = W+5+3 total; requests decided in W+6+3k are on the link three cycles later, answered in r =
    // i+7.
    EXPECT_EQ(b.cost(0), 5 + 3 * words + kToExecute);
    const Cycle last_answer = b.at(0) + 6 + 3 * (words - 1) + 7;
    EXPECT_EQ(b.at(2), last_answer + 6 + kToExecute) << "r+6, then to execute";
  }
}

TEST(Vector_S12_3, DrainsToMemory) {
  for (const unsigned words : {1u, 2u, 64u}) {
    KernelBench b;
    b.walk({0, 0x1000, 32, words});
    const auto before = b.rig().sent().size();
    const auto result = b.run(Kernel().drain(0, 3).seti(1, 0).halt());
    EXPECT_EQ(b.cost(0), 7 + 3 * words + kToExecute);
    std::vector<Cycle> requests, data;
    for (std::size_t i = before; i < b.rig().sent().size(); ++i) {
      const auto& e = b.rig().sent()[i];
      if (e.flit.type() == arch::FlitType::kMemWrReq) requests.push_back(e.cycle - result.accepted - 5);
      if (e.flit.type() == arch::FlitType::kMemWrData) data.push_back(e.cycle - result.accepted - 5);
    }
    ASSERT_EQ(requests.size(), words);
    for (unsigned k = 0; k < words; ++k) {
      EXPECT_EQ(requests[k], b.at(0) + 11 + 3 * k);
      EXPECT_EQ(data[k], b.at(0) + 12 + 3 * k);
    }
  }
}

TEST(Vector_S12_3, DrainsToANode) {
  for (const unsigned words : {1u, 2u, 5u}) {
    KernelBench b;
    b.walk({1, 7, 0, words});
    const auto result = b.run(Kernel().raw(0xF3266040).seti(1, 0).halt());
    EXPECT_EQ(b.cost(0), (words == 1 ? 10 : 8 + 3 * words) + kToExecute);
    std::vector<Cycle> flits;
    for (const auto& e : b.rig().sent())
      if (e.flit.type() == arch::FlitType::kCuData) flits.push_back(e.cycle - result.accepted - 5);
    ASSERT_EQ(flits.size(), words + 1);
    EXPECT_EQ(flits[0], b.at(0) + 11);
    for (unsigned k = 0; k < words; ++k) EXPECT_EQ(flits[k + 1], b.at(0) + 12 + 3 * k);
  }
}

// DATA_RECEIVED is on the link L+3 cycles behind the last data flit (12.5).
TEST(Vector_S12_5, AcknowledgesABurst) {
  KernelBench b;
  const Cycle at = 50;
  arch::CuDataDesc desc;
  desc.offset = 10;
  desc.len = 1;
  desc.flags = arch::kCuDataSignal;
  const arch::Coord node{3, 3}, peer{2, 2};
  b.rig().offer(at, arch::make_flit(arch::make_header(node, peer, arch::FlitType::kCuData, 9, false), desc));
  arch::Flit data = arch::make_flit(node, peer, arch::FlitType::kCuData, 9, false);
  data.w[0] = 0x1234;
  b.rig().offer(at + 1, data);
  b.rig().offer(at + 2, data);
  b.rig().settle(1000);
  ASSERT_EQ(b.rig().sent().size(), 1u);
  const auto& signal = b.rig().sent()[0];
  EXPECT_EQ(signal.cycle, at + 2 + 3 + 3);
  EXPECT_EQ(signal.flit.dst(), peer);
  EXPECT_EQ(signal.flit.txn(), 0u);
  EXPECT_EQ(arch::unpack<arch::Signal>(signal.flit).code, 3u);
  EXPECT_EQ(b.core().l1(10)[0], 0x1234u);
  EXPECT_EQ(b.core().l1(11)[0], 0x1234u);
}

TEST(Vector_S12_6, FaultsLeaveTwelveBehindTheirCycle) {
  KernelBench b;
  b.walk({0, 0, 32, 257});
  const auto fill = b.run(Kernel().fill(0, 0).halt());
  EXPECT_EQ(fill.arg, 5u) << "F_LEN, raised in W+5";
  EXPECT_EQ(fill.signalled, fill.accepted + (2 + 5) + 12);
}

}  // namespace
}  // namespace ktpu::test
