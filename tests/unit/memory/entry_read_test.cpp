// SPDX-License-Identifier: Apache-2.0
// memory.md section 4.3: the entry read engine, alone and through the whole agent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/memory/bench.h"

namespace ktpu::memory::test {
namespace {

using testing::ElementsAre;

TEST(Memory_4_3, WorkedRawThroughAgent) {
  Bench bench;
  fill_words(bench.memory, 0, 16);
  bench.sender().send(20, read_request(raw_entries(0, 2, 4), kNode, 7));
  bench.run(200);
  EXPECT_EQ(bench.bus.ar[0].cycle, 34u);
  EXPECT_THAT(cycles_of(bench.bus.ar), ElementsAre(34, 34 + 24));
  EXPECT_THAT(cycles_of(bench.bus.r), ElementsAre(35, 36, 37, 38, 59, 60, 61, 62));
  EXPECT_THAT(bench.out_cycles(), ElementsAre(50, 51, 52, 53, 74, 75, 76, 77));
  for (unsigned i = 0; i < 8; ++i) {
    const Flit& flit = bench.out()[i].flit;
    EXPECT_EQ(flit.hdr(),
              arch::make_header(kNode, kPort, FlitType::kMemRdResp, 7 + i / 4, i % 4 == 3, i % 4));
    EXPECT_EQ(flit.w[0], 4 * i);
    EXPECT_EQ(flit.w[3], 4 * i + 3);
  }
}

// The same with a 512-bit bus: two DRAM beats an entry, the same flits.
TEST(Memory_4_3, WorkedRawBus512) {
  BenchConfig config;
  config.bus_bits = 512;
  Bench bench(config);
  bench.sender().send(20, read_request(raw_entries(0, 2, 4)));
  bench.run(200);
  EXPECT_THAT(cycles_of(bench.bus.ar), ElementsAre(34, 58));
  EXPECT_THAT(cycles_of(bench.bus.r), ElementsAre(35, 36, 59, 60));
  EXPECT_THAT(bench.out_cycles(), ElementsAre(50, 51, 52, 53, 74, 75, 76, 77));
}

TEST(Memory_4_3, WorkedQuantThroughAgent) {
  Bench bench;
  bench.sender().send(131, read_request(quant_entries(0x100, 2)));
  bench.run(300);
  EXPECT_THAT(bench.out_cycles(), ElementsAre(175, 176, 177, 178, 203, 204, 205, 206));
}

}  // namespace
}  // namespace ktpu::memory::test
