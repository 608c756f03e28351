// SPDX-License-Identifier: Apache-2.0
// The generated top of mesh8, eight clusters and two vector cores, beside the models.
#include "top_mesh8.inc"  // generated: the Verilated class

#include <gtest/gtest.h>

#include <cstdio>

#include "tests/system/run.h"
#include "tests/twin/top_lockstep.h"

namespace ktpu::test {
namespace {

void run_example(const char* name, std::uint64_t handovers) {
  TopLockstep<Vmesh8_top> pair(topo::read_file("mesh8"));
  const platform::RunResult result = run_beside(pair, example_program(name), [](sim::Cycle, Vmesh8_top&) {});
  EXPECT_EQ(result.status, arch::ExitStatus::kOk) << result.message;
  pair.expect_equal_memories();
  EXPECT_GT(pair.dram_handovers(), handovers);
  std::printf(
      "%s: %llu cycles, %llu values compared, %llu of them handovers on the DRAM bus, 0 differences\n", name,
      static_cast<unsigned long long>(pair.cycles()), static_cast<unsigned long long>(pair.compared()),
      static_cast<unsigned long long>(pair.dram_handovers()));
}

TEST(TopMesh8, Matmul256) { run_example("matmul_256x256x256", 10'000); }
TEST(TopMesh8, VectorKernel) { run_example("vector_relu", 10); }

}  // namespace
}  // namespace ktpu::test
