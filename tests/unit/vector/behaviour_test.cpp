// SPDX-License-Identifier: Apache-2.0
// vector.md sections 4, 5, 7, 8, 9, 10 and 13: what instructions do, whatever they cost.
#include "arch/encoding/payloads.h"
#include "arch/encoding/vector_inst.h"
#include "arch/error.h"
#include "arch/formats/lane_alu.h"
#include "tests/unit/vector/kernel_bench.h"

namespace ktpu::test {
namespace {

std::uint32_t number(unsigned v) {
  std::uint32_t r = 0;
  for (unsigned i = 0; i < v; ++i) r = arch::lane_op(VectorOpcode::kVadd, r, 0, kOne, true);
  return r;
}

TEST(Vector_S4, WholeChunksMoveAndArithmeticStopsAtTheLength) {
  KernelBench b;
  integers(b, 2);
  b.run(Kernel().fill(0, 0).bar().length(20).load(1, 1).op(VectorOpcode::kVmov, 2, 1).spread(3, 0).halt());
  EXPECT_EQ(b.core().element(1, 31), number(31)) << "VLD fills both chunks";
  EXPECT_EQ(b.core().element(2, 19), number(19));
  EXPECT_EQ(b.core().element(2, 20), 0u) << "the tail keeps its value";
  EXPECT_EQ(b.core().element(3, 31), 20u) << "VBCAST writes whole chunks: raw S0";
  EXPECT_EQ(b.core().element(3, 32), 0u);
}

TEST(Vector_S5_1, AWalkStaysAtItsEndAndNegativeStridesCount) {
  KernelBench b;
  integers(b, 4);
  b.walk({2, 1, -1, 2});
  b.run(Kernel().fill(0, 0).bar().length(64).load(1, 2).halt());
  EXPECT_EQ(b.core().element(1, 0), number(16));
  EXPECT_EQ(b.core().element(1, 16), number(0));
  EXPECT_EQ(b.core().element(1, 32), number(0)) << "past its two words the walk repeats the last";
  EXPECT_EQ(b.core().element(1, 48), number(0));
}

TEST(Vector_S5_1, FourDimensionsCarryInOrder) {
  KernelBench b;
  for (unsigned i = 0; i < 512; ++i) b.rig().memory[0x1000 / 32 + i] = {i, 0, 0, 0};
  const std::int64_t strides[4] = {32, 320, -64, 1024};
  const unsigned bounds[4] = {2, 3, 2, 2};
  b.rig().write_descriptor(0, 0, 0x1100);
  for (unsigned d = 0; d < 4; ++d)
    b.rig().write_descriptor(0, d + 1, (static_cast<std::uint64_t>(strides[d]) & 0x3FFFF) << 16 | bounds[d]);
  b.run(Kernel().fill(0, 5).bar().halt());
  unsigned k = 0;
  for (unsigned i3 = 0; i3 < 2; ++i3)
    for (unsigned i2 = 0; i2 < 2; ++i2)
      for (unsigned i1 = 0; i1 < 3; ++i1)
        for (unsigned i0 = 0; i0 < 2; ++i0, ++k) {
          const std::int64_t address =
              0x1100 + 32 * i0 + 320 * i1 - 64 * static_cast<std::int64_t>(i2) + 1024 * i3;
          EXPECT_EQ(b.core().l1(5 + k)[0], static_cast<std::uint64_t>(address - 0x1000) / 32) << k;
        }
}

TEST(Vector_S5_3, FillsWrapInL1AndTagsCarryTheNinthBit) {
  KernelBench b;
  for (unsigned i = 0; i < 256; ++i) b.rig().memory[0x1000 / 32 + i] = {i + 1, 0, 0, 0};
  b.walk({0, 0x1000, 32, 256});
  b.run(Kernel().fill(0, 400).bar().halt());
  for (unsigned i = 0; i < 256; ++i) EXPECT_EQ(b.core().l1(400 + i)[0], i + 1) << i;
}

TEST(Vector_S1, ASmallerL1WrapsAndRejects) {
  auto params = check::VectorRig::recorded_params();
  params.l1_words = 64;
  check::VectorRig rig(params);
  rig.memory[0x1000 / 32] = {7, 0, 0, 0};
  rig.write_imem(0, Kernel().fill(0, 70).bar().halt().words);
  rig.write_descriptor(0, 0, 0x1000);
  EXPECT_EQ(rig.run(0).code, 0u);
  EXPECT_EQ(rig.core().l1(6)[0], 7u);
  params.l1_words = 48;
  EXPECT_THROW(check::VectorRig{params}, arch::UserError);
}

TEST(Vector_S5_5, ADrainToANodeSendsItsRecord) {
  KernelBench b;
  b.rig().memory[0x1000 / 32] = {0xAB, 0, 0, 0};
  b.walk({0, 0x1000, 32, 1});
  arch::VectorPeer peer;
  peer.offset = 0x123;
  peer.ack_x = 4;
  peer.ack_y = 5;
  peer.mesh = 2;
  peer.final_node = 0x67;
  std::uint64_t base[2] = {0, 0};
  arch::pack_payload(base, peer);
  b.walk({1, base[0], 0, 1});
  b.run(Kernel().fill(0, 64).bar().raw(0xF3266040).halt());
  std::vector<arch::Flit> sent;
  for (const auto& e : b.rig().sent())
    if (e.flit.type() == arch::FlitType::kCuData) sent.push_back(e.flit);
  ASSERT_EQ(sent.size(), 2u);
  for (const arch::Flit& f : sent) {
    EXPECT_EQ(f.dst(), (arch::Coord{3, 3}));
    EXPECT_EQ(f.txn(), 0x67u);
    EXPECT_EQ(f.rsvd(), 4u | 2u);
  }
  EXPECT_FALSE(sent[0].last());
  EXPECT_TRUE(sent[1].last());
  const auto desc = arch::unpack<arch::CuDataDesc>(sent[0]);
  EXPECT_EQ(desc.offset, 0x123u);
  EXPECT_EQ(desc.len, 0u);
  EXPECT_EQ(desc.flags, 1u);
  EXPECT_EQ(desc.ack(), (arch::Coord{4, 5}));
  EXPECT_EQ(sent[1].w[0], 0xABu);
}

TEST(Vector_S7, ChainsRoundAtEveryStageAndWriteTheLast) {
  for (const VectorMode mode : {VectorMode::kD2, VectorMode::kD4}) {
    KernelBench b;
    integers(b, 8);
    Kernel k;
    k.fill(0, 0).bar().length(128).load(1, 1).mode(mode);
    k.stage(VectorOpcode::kVmul, 9, kV, 1, kK, 1);
    const unsigned depth = mode == VectorMode::kD2 ? 2 : 4;
    for (unsigned t = 1; t < depth; ++t) k.stage(VectorOpcode::kVadd, 8 + t, kC, 0, kK, 0, kK, 1);
    b.run(k.halt());
    for (unsigned e = 0; e < 128; ++e) {
      EXPECT_EQ(b.core().element(8 + depth - 1, e), number(e + depth - 1)) << e;
      if (depth == 4) {
        EXPECT_EQ(b.core().element(9, e), 0u);
      }
    }
  }
}

TEST(Vector_S7, AComparisonInsideAChainFeedsOneOrZero) {
  KernelBench b;
  integers(b, 1);
  b.run(Kernel()
            .fill(0, 0)
            .bar()
            .length(16)
            .load(1, 1)
            .seti(2, number(5))
            .mode(VectorMode::kD2)
            .stage(VectorOpcode::kVcmpgt, 9, kV, 1, kS, 2)
            .stage(VectorOpcode::kVadd, 3, kC, 0, kK, 0, kK, 1)
            .halt());
  for (unsigned e = 0; e < 16; ++e) EXPECT_EQ(b.core().element(3, e), e > 5 ? kTwo : kOne);
}

TEST(Vector_S7, PredicatesMaskTheWrite) {
  for (const unsigned pm : {1u, 2u, 3u}) {
    KernelBench b;
    integers(b, 2);
    b.run(Kernel()
              .fill(0, 0)
              .bar()
              .length(32)
              .load(1, 1)
              .seti(2, number(7))
              .spread(4, 2)
              .compare(VectorOpcode::kVcmplt, 1, 1, 4)
              .mode(VectorMode::kFlat)  // waits until the predicate is written
              .masked(VectorOpcode::kVmov, 5, 1, 1, pm)
              .halt());
    for (unsigned e = 0; e < 32; ++e)
      EXPECT_EQ(b.core().element(5, e), (e < 7) == (pm == 1) ? number(e) : 0) << e;
  }
}

TEST(Vector_S8, AnyAndAllLookAtTheBitsBelowTheLength) {
  for (const unsigned limit : {0u, 7u, 20u, 40u}) {
    KernelBench b;
    integers(b, 2);
    b.run(Kernel()
              .fill(0, 0)
              .bar()
              .length(20)
              .load(1, 1)
              .seti(2, number(limit))
              .spread(4, 2)
              .compare(VectorOpcode::kVcmplt, 1, 1, 4)
              .mode(VectorMode::kFlat)
              .reduce(ReduceKind::kAny, 5, 0, 0, 1)
              .reduce(ReduceKind::kAll, 6, 0, 0, 1)
              .halt());
    EXPECT_EQ(b.core().scalar(5), limit > 0 ? kOne : 0);
    EXPECT_EQ(b.core().scalar(6), limit >= 20 ? kOne : 0);
  }
}

TEST(Vector_S8, SumsqMultipliesItsTwoSources) {
  KernelBench b;
  integers(b, 1);
  b.run(Kernel()
            .fill(0, 0)
            .bar()
            .length(16)
            .load(1, 1)
            .seti(2, kTwo)
            .spread(4, 2)
            .mode(VectorMode::kTree)
            .reduce(ReduceKind::kSumsq, 5, 1, 4)
            .reduce(ReduceKind::kSumsq, 6, 1, 1)
            .halt());
  EXPECT_EQ(b.core().scalar(5), number(240));
  EXPECT_EQ(b.core().scalar(6), number(1240));
}

TEST(Vector_S10, LoopsRunAtLeastOnce) {
  for (const unsigned count : {0u, 1u, 2u, 7u}) {
    KernelBench b;
    const auto result = b.run(Kernel()
                                  .length(16)
                                  .seti(1, count)
                                  .seti(2, kOne)
                                  .spread(3, 2)
                                  .loop(1, 1)
                                  .op(VectorOpcode::kVadd, 4, 4, 4, 3)
                                  .halt());
    EXPECT_EQ(result.code, 0u);
    EXPECT_EQ(b.core().element(4, 0), number(std::max(count, 1u)));
  }
}

TEST(Vector_S10, AVsetiCountsTwoWordsOfABody) {
  KernelBench b;
  b.run(Kernel().seti(1, 3).loop(1, 2).seti(2, 77).halt());
  EXPECT_EQ(b.executed(), 2 + 3 + 1u);
  EXPECT_EQ(b.core().scalar(2), 77u);
}

TEST(Vector_S13, EveryFault) {
  struct Row {
    const char* name;
    Kernel kernel;
    unsigned code;
  };
  const Row rows[] = {
      {"F_DTYPE, VLD", Kernel().load(0, 0, 3).halt(), 1},
      {"F_DTYPE, VST", Kernel().store(0, 0, 0).halt(), 1},
      {"F_DTYPE, VCVT", Kernel().convert(0, 0, 7).halt(), 1},
      {"F_VSRC in a slot the opcode ignores",
       Kernel()
           .mode(VectorMode::kD2)
           .stage(VectorOpcode::kVmov, 0, kV, 0)
           .stage(VectorOpcode::kVmov, 0, kC, 0, kV)
           .halt(),
       2},
      {"F_CHAIN, FLAT", Kernel().stage(VectorOpcode::kVmov, 0, kV, 0, kC).halt(), 3},
      {"F_CHAIN, head", Kernel().mode(VectorMode::kD4).stage(VectorOpcode::kVmov, 0, kC, 0).halt(), 3},
      {"F_OPCODE", Kernel().length(16).reduce(ReduceKind::kSum, 1, 0).halt(), 4},
      {"F_LOOP", Kernel().seti(1, 2).loop(1, 3).loop(1, 1).halt(), 6},
      {"F_VL, 0", Kernel().length(0).halt(), 7},
      {"F_VL, 129", Kernel().length(129).halt(), 7},
      {"F_REDVL comes before the mode", Kernel().length(20).reduce(ReduceKind::kSum, 1, 0).halt(), 8},
  };
  for (const Row& row : rows) {
    KernelBench b;
    const auto result = b.run(row.kernel);
    EXPECT_EQ(result.code, 4u) << row.name;
    EXPECT_EQ(result.arg, row.code) << row.name;
    EXPECT_EQ(b.run(Kernel().length(128).mode(VectorMode::kFlat).halt()).code, 0u)
        << "the next RUN clears it";
  }
}

TEST(Vector_S1, WhatSurvivesFromRunToRun) {
  KernelBench b;
  b.run(Kernel().length(48).mode(VectorMode::kD2).setk(0x428000).seti(3, 9).halt());
  b.run(Kernel().stage(VectorOpcode::kVmov, 9, kK, 3).stage(VectorOpcode::kVmov, 2, kC, 0).halt());
  EXPECT_EQ(b.core().element(2, 47), 0x428000u) << "VL, VMODE and K3";
  EXPECT_EQ(b.core().element(2, 48), 0u);
  EXPECT_EQ(b.core().scalar(3), 9u);
}

TEST(Vector_S2_4, PeerWordsTakeTheWritePortFirst) {
  KernelBench with, without;
  for (KernelBench* b : {&with, &without}) b->walk({1, 100, 1, 8});
  const Kernel kernel = Kernel().length(128).store(0, 1).halt();
  const auto quiet = without.run(kernel);
  with.rig().write_imem(0, kernel.words);
  with.rig().settle(10'000);
  const arch::Coord node{3, 3}, peer{2, 2};
  const Cycle at = with.rig().now() + 200;
  arch::VectorInst start;
  start.op = static_cast<std::uint32_t>(arch::VectorOp::kRun);
  with.rig().offer(
      at, arch::make_flit(arch::make_header(node, {0, 0}, arch::FlitType::kCuInst, 0, false), start));
  arch::CuDataDesc desc;
  desc.len = 39;
  with.rig().offer(at + 1,
                   arch::make_flit(arch::make_header(node, peer, arch::FlitType::kCuData, 0, false), desc));
  for (unsigned i = 0; i < 40; ++i)
    with.rig().offer(at + 2 + i, arch::make_flit(node, peer, arch::FlitType::kCuData, 0, false));
  with.rig().settle(10'000);
  const auto held = arch::unpack<arch::Signal>(with.rig().sent().back().flit);
  EXPECT_EQ(quiet.code, 0u);
  EXPECT_EQ(held.code, 0u);
  EXPECT_GT(held.arg, quiet.arg) << "some write cycles fell on landing cycles";
  EXPECT_LE(held.arg, quiet.arg + 40);
}

}  // namespace
}  // namespace ktpu::test
