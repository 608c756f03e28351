// SPDX-License-Identifier: Apache-2.0
// Whole machines as RTL, and in lock-step, against the models: routers, clusters, vector cores, memory agent,
// control agent, command engine.
#include "tests/system/run.h"
#include "tests/twin/machine_runs.h"

namespace ktpu::test {
namespace {

void expect_alike(const std::string& program, const char* machine, topo::Quirks quirks) {
  expect_three_alike(program + " on " + machine, example_program(program), topo::read_file(machine), quirks);
}

TEST(MachineTwin, MatmulByCommandList) {
  for (const topo::Quirks quirks : {topo::Quirks::kReference, topo::Quirks::kNone})
    expect_alike("matmul_32x32x128", "mesh1", quirks);
}
TEST(MachineTwin, MatmulByHostSteps) {
  expect_alike("matmul_32x32x128_round", "mesh1", topo::Quirks::kReference);
}
TEST(MachineTwin, MatmulByAScriptHost) {
  expect_alike("matmul_32x32x128_small", "reference_small", topo::Quirks::kReference);
}
// The host writes quantised operands through its window into staging memory.
TEST(MachineTwin, OperandsInStagingMemory) {
  expect_alike("matmul_32x32x128_staged", "staged", topo::Quirks::kReference);
}
TEST(MachineTwin, MoverAndPadding) {
  for (const topo::Quirks quirks : {topo::Quirks::kReference, topo::Quirks::kNone})
    expect_alike("move_small", "reference_small", quirks);
}
TEST(MachineTwin, VectorKernel) {
  for (const topo::Quirks quirks : {topo::Quirks::kReference, topo::Quirks::kNone})
    expect_alike("vector_relu", "mesh8", quirks);
}
TEST(MachineTwin, EightClusters) { expect_alike("matmul_256x256x256", "mesh8", topo::Quirks::kReference); }

}  // namespace
}  // namespace ktpu::test
