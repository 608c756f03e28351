// SPDX-License-Identifier: Apache-2.0
// Lock-step is seen to find faults: each RTL mutant of cluster_mutants.cmake must differ from the model
// somewhere in a short campaign.
#include "cluster_mutants.inc"  // generated: the Verilated classes, and KTPU_CLUSTER_MUTANTS(X) = X(name, what) ...

#include <gtest/gtest.h>

#include <cstdio>

#include "rtl_models/cluster/cluster_twin_impl.h"
#include "tests/twin/lockstep_cluster.h"

namespace ktpu::test {
namespace {

template <class Twin>
void run_campaign() {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) run_lockstep<Twin>(accumulator_program(seed), 2400);
  for (std::uint64_t seed = 1; seed <= 40; ++seed) run_lockstep<Twin>(shared_fill_program(seed), 600);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) run_lockstep<Twin>(hole_program(seed), 1500);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Program p = hole_program(seed);
    p.params.quirks = false;
    run_lockstep<Twin>(p, 1500);
  }
  for (std::uint64_t seed = 1; seed <= 150; ++seed) run_lockstep<Twin>(wild_program(seed), 6000, true);
  for (std::uint64_t seed = 1; seed <= 60; ++seed) run_lockstep<Twin>(random_program(seed), 3000);
}

struct Mutant {
  const char* name;
  const char* what;
  void (*campaign)();
};

const std::vector<Mutant>& mutants() {
#define KTPU_MUTANT(name, what) {#name, what, run_campaign<rtl::ClusterTwinOf<Vmutant_##name>>},
  static const std::vector<Mutant> all{KTPU_CLUSTER_MUTANTS(KTPU_MUTANT)};
#undef KTPU_MUTANT
  return all;
}

TEST(ClusterMutants, AllFound) {
  std::size_t found = 0;
  for (const Mutant& mutant : mutants()) {
    std::string text;
    try {
      mutant.campaign();
    } catch (const sim::LockstepError& error) {
      text = error.what();
      EXPECT_EQ(error.status(), arch::ExitStatus::kLockstepMismatch);
    }
    found += !text.empty();
    EXPECT_FALSE(text.empty()) << mutant.name << " was not found";
    std::printf("%-24s %s\n%-24s %s\n", mutant.name, mutant.what, text.empty() ? "  NOT FOUND" : "  found",
                text.c_str());
  }
  std::printf("%zu of %zu mutants found\n", found, mutants().size());
  EXPECT_GE(mutants().size(), 20u);
}

}  // namespace
}  // namespace ktpu::test
