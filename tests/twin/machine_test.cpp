// SPDX-License-Identifier: Apache-2.0
// Whole machines as RTL, and in lock-step, against the models: routers, clusters, vector cores, memory agent,
// control agent, command engine.
#include "tests/system/run.h"
#include "tests/twin/machine_runs.h"

namespace ktpu::test {
namespace {

void expect_alike(const std::string& program, const char* machine, topo::Quirks quirks,
                  const topo::Overrides& sets = {}) {
  expect_three_alike(program + " on " + machine, example_program(program), topo::read_file(machine, sets),
                     quirks);
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
// What the host writes behind the machine's back into staging memory stands in the RTL, and is read from it.
TEST(MachineTwin, BackDoorIntoStagingMemory) {
  for (const char* placement : {"converged", "port"}) {
    topo::Machine machine =
        topo::read_file("staged", {fmt::format("meshes.0.staging_placement={}", placement)});
    topo::apply_impl(machine, "*=rtl");
    platform::Registry units;
    apps::register_units(units);
    platform::System system(machine, units);
    std::vector<std::uint8_t> bytes(100);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(3 * i + 1);
    const std::uint64_t address = 0x8000000000 + 0x1234;
    platform::write_memory(system.mesh(), address, bytes);
    EXPECT_EQ(platform::read_memory(system.mesh(), address, bytes.size()), bytes) << placement;
    EXPECT_EQ(platform::read_memory(system.mesh(), address + 100, 4), std::vector<std::uint8_t>(4))
        << placement;
    EXPECT_THROW(platform::read_memory(system.mesh(), 0x8000000000 + (2 << 20), 1), arch::UserError);
  }
}
TEST(MachineTwin, SumOverTheInterlink) {
  for (const topo::Quirks quirks : {topo::Quirks::kReference, topo::Quirks::kNone})
    expect_alike("matmul_peer_sum_quad", "quad", quirks);
}
TEST(MachineTwin, ManyReadsInFlight) {
  expect_alike("matmul_256x256x256_fused", "mesh8", topo::Quirks::kReference,
               {"meshes.0.agent.reads_in_flight=16"});
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
