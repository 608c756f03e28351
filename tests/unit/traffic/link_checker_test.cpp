// SPDX-License-Identifier: Apache-2.0
// fabric.md section 5: the checker is seen to find senders that break L1.
#include "tlm/traffic/link_checker.h"

#include <gtest/gtest.h>

namespace ktpu::traffic {
namespace {

struct Bench {
  sim::FlitLink link{"a>b", arch::kFlitBits};
  LinkChecker checker;
  sim::Cycle now = 10;
  Bench() { checker.watch(link); }
  void cycle(int flit, bool busy) {  // flit < 0: not valid
    if (flit < 0) {
      link.withdraw();
    } else {
      arch::Flit f;
      f.w[1] = static_cast<std::uint64_t>(flit);
      link.offer(f);
    }
    link.set_busy(busy);
    checker.on_cycle(now++);
  }
};

TEST(Fabric5_L1, HoldingUntilTakenIsRight) {
  Bench bench;
  for (const auto& [flit, busy] : std::vector<std::pair<int, bool>>{{-1, true},
                                                                    {1, true},
                                                                    {1, true},
                                                                    {1, false},
                                                                    {1, false},
                                                                    {2, false},
                                                                    {-1, false},
                                                                    {3, true},
                                                                    {3, false},
                                                                    {-1, true},
                                                                    {-1, false}})
    bench.cycle(flit, busy);
  EXPECT_EQ(bench.checker.violations(), 0u);
}

TEST(Fabric5_L1, WithdrawnFlitIsReported) {
  Bench bench;
  bench.cycle(1, true);
  bench.cycle(-1, false);
  ASSERT_EQ(bench.checker.violations(), 1u);
  EXPECT_EQ(bench.checker.first()[0].cycle, 11u);
  EXPECT_NE(bench.checker.first()[0].text.find("a>b"), std::string::npos);
  EXPECT_NE(bench.checker.first()[0].text.find("withdrawn in cycle 11"), std::string::npos);
}

TEST(Fabric5_L1, ChangedFlitIsReported) {
  Bench bench;
  bench.cycle(1, true);
  bench.cycle(2, false);
  bench.cycle(3, true);
  bench.cycle(3, true);
  bench.cycle(4, true);
  ASSERT_EQ(bench.checker.violations(), 2u);
  EXPECT_NE(bench.checker.first()[1].text.find("replaced in cycle 14"), std::string::npos);
}

}  // namespace
}  // namespace ktpu::traffic
