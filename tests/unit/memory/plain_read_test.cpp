// SPDX-License-Identifier: Apache-2.0
// memory.md section 4.4: plain reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/memory/bench.h"
#include "tests/unit/memory/port_bench.h"

namespace ktpu::memory::test {
namespace {

using testing::ElementsAre;

TEST(Memory_4_4, WorkedSingleWordRun) {
  Bench bench;
  for (unsigned i = 0; i < 3; ++i)
    bench.sender().send(1047, read_request(plain_read(0x40, 1), kNode, 0x11 + i));
  bench.run(1300);
  EXPECT_EQ(bench.bus.ar[0].cycle, 1061u);
  EXPECT_EQ(bench.bus.r[0].cycle, 1062u);
  EXPECT_THAT(bench.out_cycles(), ElementsAre(1072, 1094, 1116));
}

TEST(Memory_4_4, FormulasThroughAgent) {
  for (const unsigned d : {1u, 3u, 25u}) {
    for (const unsigned n : {1u, 2u, 4u, 8u, 16u, 256u}) {
      BenchConfig config;
      config.dram.first_read_beat = d;
      Bench bench(config);
      fill_words(bench.memory, 0, 512);
      bench.sender().send(10, read_request(plain_read(0, n), kNode, 0xAB));
      bench.sender().send(11, read_request(plain_read(32 * 256, n), kNode, 0xAC));
      bench.run(1200);
      ASSERT_EQ(bench.out().size(), 2 * n);
      for (unsigned j = 0; j < n; ++j) {
        const Seen& seen = bench.out()[j];
        EXPECT_EQ(seen.cycle, 10 + 24 + d + j);
        EXPECT_EQ(seen.flit.hdr(),
                  arch::make_header(kNode, kPort, FlitType::kMemRdResp, 0xAB, j + 1 == n, 0));
        EXPECT_EQ(seen.flit.w[1], 4 * j + 1);
      }
      EXPECT_EQ(bench.out()[n].cycle - bench.out()[0].cycle, 20 + d + n);
      EXPECT_EQ(bench.out()[n].flit.w[0], 4u * 256);
    }
  }
}

TEST(Memory_4_4, BeatWaitsForOutput) {
  PortBench bench;
  bench.out_busy = [](Cycle now) { return now < 50 || now % 3 != 0; };
  bench.send(10, read_request(plain_read(0, 5)));
  bench.run(100);
  ASSERT_EQ(bench.out.size(), 5u);
  for (unsigned i = 0; i < 5; ++i) {
    EXPECT_EQ(bench.out[i].cycle, 51 + 3 * i);
    EXPECT_EQ(bench.out[i].flit.w[0], 4 * i);
  }
}

TEST(Memory_4_4, AloneAddressAndBeat) {
  PortBench bench;
  bench.send(10, read_request(plain_read(0, 2)));
  bench.beat_cycles = {20, 25};
  bench.run(50);
  EXPECT_THAT(bench.ar_valid, ElementsAre(14));
  EXPECT_THAT(bench.out_shown, ElementsAre(22, 27));  // taken at 21 and 26, behind the skid
}

// One read queue: a plain read waits for the whole entry run before it, and the reverse.
TEST(Memory_4_4, WaitsForEntryRunAndBack) {
  PortBench bench;
  bench.send(10, read_request(raw_entries(0, 2, 4), kNode, 1));
  bench.send(11, read_request(plain_read(0, 3), kNode, 50));
  bench.send(12, read_request(raw_entries(0, 1, 1), kNode, 99));
  bench.run(100);
  ASSERT_EQ(bench.ar_valid.size(), 4u);
  EXPECT_EQ(bench.ar_valid[2], bench.out_shown[7] + 1);
  EXPECT_EQ(bench.ar_valid[3], bench.out_shown[10] + 1);
}

// It beats a ready write when both want the state machine; the write follows when it is done.
TEST(Memory_4_4, BeatsReadyWrite) {
  PortBench bench;
  bench.send(10, write_request(0x100, 1));
  bench.send(11, write_data(1, true));
  bench.send(14,
             read_request(plain_read(0, 1)));  // at its queue's head in 17, the slot at the ready FIFO's too
  bench.run(60);
  EXPECT_THAT(bench.ar_valid, ElementsAre(18));
  ASSERT_EQ(bench.aw_valid.size(), 1u);
  EXPECT_EQ(bench.aw_valid[0], bench.out_shown[0] + 1);
}

TEST(Memory_4_4, WaitsForRunningWrite) {
  Bench bench;
  bench.sender().send(10, write_request(0x100, 1));
  bench.sender().send(11, write_data(1, true));
  bench.sender().send(15, read_request(plain_read(0x100, 1)));
  bench.run(150);
  ASSERT_EQ(bench.out().size(), 2u);
  const Cycle ack = 11 + 7 + 24 + 1;
  EXPECT_EQ(bench.out()[0].cycle, ack);
  EXPECT_EQ(bench.out()[1].cycle, ack + 1 + 20 + 1);  // its address is valid in ack + 1
  EXPECT_EQ(bench.out()[1].flit.w[0], 4u);
}

}  // namespace
}  // namespace ktpu::memory::test
