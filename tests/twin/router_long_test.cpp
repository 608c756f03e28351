// SPDX-License-Identifier: Apache-2.0
// The long form of the lock-step test: a million cycles a seed.
#include "tests/twin/single_router.h"

namespace ktpu::test {
namespace {

TEST(RouterTwinLong, Seed1) { run_single(1, 1000000, 32); }
TEST(RouterTwinLong, Seed2) { run_single(2, 1000000, 32); }
TEST(RouterTwinLong, Seed3) { run_single(3, 1000000, 32); }

}  // namespace
}  // namespace ktpu::test
