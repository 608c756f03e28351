// SPDX-License-Identifier: Apache-2.0
// How far the cost model is from the simulator: over every recorded compiled kernel and whole program.
// KTPU_VECTORS names the recorded files; KTPU_COST_TABLE=1 prints every row.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/cost/measured.h"

namespace ktpu::cost_test {
namespace {

constexpr double kMedian = 0.20;
constexpr std::size_t kPairs = 200;
constexpr double kApart = 0.10;
constexpr double kRanked = 0.95;
constexpr std::uint64_t kSeed = 20260731;

const std::vector<Measured>& rows() {
  static const std::vector<Measured> all = [] {
    std::vector<Measured> measured;
    const char* folder = std::getenv("KTPU_VECTORS");
    const std::string root = folder != nullptr ? folder : KTPU_SOURCE_DIR "/../shared/vectors";
    if (!std::filesystem::exists(root)) return measured;
    for (const auto& cases : {live_cases(root + "/compiler/live"), program_cases(root + "/programs")})
      for (const Case& c : cases) measured.push_back(measure(c));
    if (std::getenv("KTPU_COST_TABLE") != nullptr) fmt::print("{}", error_table(measured));
    double model = 0, run = 0;
    for (const Measured& m : measured) {
      model += m.model_seconds;
      run += m.run_seconds;
    }
    fmt::print("{} programs: modelled in {:.3f} s, run in {:.3f} s\n", measured.size(), model, run);
    return measured;
  }();
  return all;
}

class Accuracy : public ::testing::Test {
 protected:
  void SetUp() override {
    if (rows().empty()) GTEST_SKIP() << "no recorded files; set KTPU_VECTORS";
  }
};

TEST_F(Accuracy, MedianErrorIsSmall) {
  for (const std::string set : {"live", "programs", ""}) {
    const double median = median_error(rows(), set);
    fmt::print("median |error| of {}: {:.3f} %\n", set.empty() ? "all" : set, 100 * median);
    EXPECT_LE(median, kMedian) << set;
  }
  fmt::print("the worst ten\n{}", worst(rows(), 10));
}

TEST_F(Accuracy, FamiliesAreRanked) {
  const Ranking r = rank(rows(), kPairs, kApart, kSeed);
  fmt::print("seed {}: {} of {} pairs ranked rightly (of {} possible)\n", r.seed, r.right, r.pairs,
             r.possible);
  for (const std::string& wrong : r.wrong) fmt::print("  {}\n", wrong);
  ASSERT_GE(r.pairs, kPairs);
  EXPECT_GE(static_cast<double>(r.right), kRanked * static_cast<double>(r.pairs));
}

}  // namespace
}  // namespace ktpu::cost_test
