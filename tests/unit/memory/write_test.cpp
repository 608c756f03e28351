// SPDX-License-Identifier: Apache-2.0
// memory.md section 4.5: writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/memory/bench.h"

namespace ktpu::memory::test {
namespace {

using testing::ElementsAre;

TEST(Memory_4_5, WorkedTwoWords) {
  BenchConfig config;
  config.bus_bits = 512;
  Bench bench(config);
  bench.sender().send(272, write_request(0x4000, 2, kNode, 2));
  bench.sender().send(273, write_data(1, false));
  bench.sender().send(274, write_data(2, true));
  bench.run(400);
  EXPECT_THAT(cycles_of(bench.bus.aw), ElementsAre(291));
  EXPECT_THAT(cycles_of(bench.bus.w), ElementsAre(296));
  EXPECT_THAT(cycles_of(bench.bus.b), ElementsAre(297));
  EXPECT_THAT(bench.out_cycles(), ElementsAre(307));
  EXPECT_EQ(arch::to_hex(bench.out()[0].flit).substr(0, 8), "11013028");
}

}  // namespace
}  // namespace ktpu::memory::test
