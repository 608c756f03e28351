// SPDX-License-Identifier: Apache-2.0
// Cluster model and SystemVerilog cluster, every output wire of every cycle.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/twin/lockstep_cluster.h"

namespace ktpu::test {
namespace {

void print(const char* what, const Compared& c) {
  std::printf("%s: %llu cycles, %llu values compared, %llu flits, 0 mismatches\n", what,
              static_cast<unsigned long long>(c.cycles), static_cast<unsigned long long>(c.values),
              static_cast<unsigned long long>(c.flits));
}

// The shortest whole program: two fills, one sweep of one sub-tile, its drain.
TEST(ClusterTwin, FillFillGemmDrain) {
  Program p;
  p.seed = 1;
  p.params = default_params();
  p.script = {{0, inst_flit(fill(1, 0, 0x1000))},
              {0, inst_flit(fill(1, 1, 0x2000))},
              {0, inst_flit(gemm(1, 1, 1))},
              {0, inst_flit(drain(1, false, 0x3000), 0x41, true)}};
  const Compared c = run_lockstep(p, 400);
  EXPECT_EQ(c.flits, 2u + 2u + 4u);  // requests, the burst, completions
  print("thin path", c);
}

TEST(ClusterTwin, RandomPrograms) {
  Compared all;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Program p = random_program(seed);
    p.params.quirks = seed % 3 != 0;
    try {
      all += run_lockstep(p, 3000);
    } catch (const sim::LockstepError& error) {
      FAIL() << "seed " << seed << ": " << error.what();
    }
  }
  print("random programs", all);
  EXPECT_GT(all.flits, 10000u);
}

}  // namespace
}  // namespace ktpu::test
