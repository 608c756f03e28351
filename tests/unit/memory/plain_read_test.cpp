// SPDX-License-Identifier: Apache-2.0
// memory.md section 4.4: plain reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/memory/bench.h"

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

}  // namespace
}  // namespace ktpu::memory::test
