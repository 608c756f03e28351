// SPDX-License-Identifier: Apache-2.0
// Lock-step is seen to find faults: each RTL mutant of router_mutants.cmake must differ from the model
// somewhere in the short campaign.
#include "router_mutants.inc"  // generated: the Verilated classes, and KTPU_ROUTER_MUTANTS(X) = X(name, what) ...

#include <gtest/gtest.h>

#include "rtl_models/router/router_twin_impl.h"
#include "tests/twin/campaign.h"

namespace ktpu::test {
namespace {

struct Mutant {
  const char* name;
  const char* what;
  RouterFactory factory;
};

const std::vector<Mutant>& mutants() {
#define KTPU_MUTANT(name, what) {#name, what, lockstep_router<rtl::RouterTwinOf<Vmutant_##name>>},
  static const std::vector<Mutant> all{KTPU_ROUTER_MUTANTS(KTPU_MUTANT)};
#undef KTPU_MUTANT
  return all;
}

TEST(RouterMutants, TheSoundRouterPasses) {
  const std::uint64_t compared = run_campaign(lockstep_router<>);
  std::printf("%llu values compared, 0 mismatches\n", static_cast<unsigned long long>(compared));
  EXPECT_GT(compared, 100000u);
}

TEST(RouterMutants, AllFound) {
  std::size_t found = 0;
  for (const Mutant& mutant : mutants()) {
    std::string text;
    try {
      run_campaign(mutant.factory);
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
  EXPECT_GE(mutants().size(), 10u);
}

}  // namespace
}  // namespace ktpu::test
