// SPDX-License-Identifier: Apache-2.0
// Nightly: every block for two million cycles in lock-step from each of three seeds, ten thousand transfers
// and more on every port in each direction, no difference. scripts/rtl_coverage.sh runs the same campaigns
// for line coverage.
#include <gtest/gtest.h>

#include "apps/common/register_units.h"
#include "apps/ktpu-cosim/campaign.h"

namespace ktpu::cosim {
namespace {

class CosimLong : public testing::TestWithParam<std::string> {};

TEST_P(CosimLong, MillionsOfCyclesFromThreeSeeds) {
  platform::Registry registry;
  apps::register_units(registry);
  for (const std::uint64_t seed : {1u, 10001u, 20001u}) {
    Campaign campaign;
    campaign.block = GetParam();
    campaign.cycles = 2'000'000;
    campaign.seed = seed;
    campaign.quiet = true;
    campaign.least = 10'000;
    const Totals totals = run_campaign(campaign, registry);
    EXPECT_EQ(totals.status, arch::ExitStatus::kOk) << "seed " << seed;
    EXPECT_GE(totals.cycles, campaign.cycles);
    EXPECT_GE(totals.least(), campaign.least);
  }
}

INSTANTIATE_TEST_SUITE_P(All, CosimLong, testing::ValuesIn(block_words()),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace ktpu::cosim
