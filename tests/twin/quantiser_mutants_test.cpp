// SPDX-License-Identifier: Apache-2.0
// The quantiser's bench is seen to find faults.
#include "quantiser_mutants.inc"  // generated: classes, and KTPU_QUANTISER_MUTANTS(X) = X(name, what) ...

#include <gtest/gtest.h>

#include <cstdio>

#include "rtl_models/quantiser/quantiser_twin_impl.h"
#include "tests/twin/quantiser_campaign.h"

namespace ktpu::test {
namespace {

TEST(QuantiserMutants, AllFound) {
  const auto look = [](const char* name, const char* what, const std::string& found) {
    EXPECT_NE(found, "") << name << " was not found";
    std::printf("%-28s %s\n  %s\n", name, what, found.c_str());
  };
#define KTPU_MUTANT(name, what) \
  look(#name, what, check_quantiser<rtl::QuantiserTwinOf<Vmutant_##name>>(1, 3000));
  KTPU_QUANTISER_MUTANTS(KTPU_MUTANT)
#undef KTPU_MUTANT
}

}  // namespace
}  // namespace ktpu::test
