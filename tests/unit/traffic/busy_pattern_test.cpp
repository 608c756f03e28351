// SPDX-License-Identifier: Apache-2.0
#include "tlm/traffic/busy_pattern.h"

#include <gtest/gtest.h>

#include "tlm/sim/random.h"

namespace ktpu::traffic {
namespace {

// next_change() against busy() cycle by cycle.
void expect_consistent(BusyPattern pattern, sim::Cycle until) {
  for (sim::Cycle c = 0; c < until; ++c) {
    const bool now = pattern.busy(c);
    const sim::Cycle change = pattern.next_change(c);
    ASSERT_GT(change, c);
    for (sim::Cycle k = c; k < std::min(change, until); ++k) ASSERT_EQ(pattern.busy(k), now) << c << " " << k;
    if (change < until) {
      ASSERT_NE(pattern.busy(change), now) << c << " " << change;
    }
  }
}

// noc.jsonl: busy in cycle c when ((c + offset) mod period) < duty.
TEST(BusyPattern, PeriodicIsTheRuleOfTheVectors) {
  for (std::uint32_t period = 0; period <= 7; ++period)
    for (std::uint32_t duty = 0; duty <= 8; ++duty)
      for (std::uint64_t offset = 0; offset < 16; ++offset) {
        BusyPattern pattern = BusyPattern::periodic(period, duty, offset);
        for (sim::Cycle c = 0; c < 40; ++c)
          ASSERT_EQ(pattern.busy(c), period != 0 && (c + offset) % period < duty)
              << period << " " << duty << " " << offset << " " << c;
        expect_consistent(pattern, 40);
      }
}

// The end of vectors/programs/README.md: free, busy, free, ... from cycle 0, starting over when used up.
TEST(BusyPattern, RunsStartFreeAndRepeat) {
  const std::uint64_t seed = 11;
  SCOPED_TRACE(seed);
  sim::Random random(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint32_t> runs(random.below(6));
    for (auto& run : runs) run = random.below(4);
    std::vector<bool> period;
    for (std::size_t k = 0; k < runs.size(); ++k) period.insert(period.end(), runs[k], k % 2 == 1);
    BusyPattern pattern = BusyPattern::runs(runs);
    for (sim::Cycle c = 0; c < 60; ++c)
      ASSERT_EQ(pattern.busy(c), !period.empty() && period[c % period.size()]) << round << " " << c;
    expect_consistent(pattern, 60);
  }
}

TEST(BusyPattern, NeverAndAlwaysNeedNoCycle) {
  EXPECT_EQ(BusyPattern().next_change(5), sim::kNever);
  EXPECT_EQ(BusyPattern::runs({}).next_change(5), sim::kNever);
  EXPECT_EQ(BusyPattern::runs({7}).next_change(5), sim::kNever);
  EXPECT_EQ(BusyPattern::periodic(4, 4).next_change(5), sim::kNever);
  EXPECT_TRUE(BusyPattern::periodic(4, 4).busy(1000000007));
  EXPECT_TRUE(BusyPattern::runs({0, 3}).busy(5));
}

TEST(BusyPattern, MayBeAskedInAnyOrder) {
  BusyPattern pattern = BusyPattern::runs({3, 2});
  EXPECT_TRUE(pattern.busy(1'000'000'003));
  EXPECT_FALSE(pattern.busy(0));
  EXPECT_TRUE(pattern.busy(9));
  EXPECT_TRUE(pattern.busy(3));
}

}  // namespace
}  // namespace ktpu::traffic
