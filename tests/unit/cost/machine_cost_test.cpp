// SPDX-License-Identifier: Apache-2.0
// The numbers of a machine: by name, and from a description.
#include <gtest/gtest.h>

#include <set>

#include "apps/common/cost_machine.h"
#include "arch/encoding/latencies.h"
#include "arch/error.h"
#include "compiler/cost/fields.h"
#include "tests/unit/cost/small_machine.h"
#include "topologies/reader.h"

namespace ktpu::cost {
namespace {

TEST(CostFields, EveryNumberHasANameAndASource) {
  CostMachine machine = small_machine();
  std::set<std::string_view> names;
  for (const Field& f : fields()) {
    EXPECT_TRUE(names.insert(f.name).second) << f.name;
    EXPECT_FALSE(f.source.empty()) << f.name;
    EXPECT_FALSE(f.meaning.empty()) << f.name;
    const double before = field(machine, f.name);
    set_field(machine, f.name, before + 1);
    EXPECT_EQ(field(machine, f.name), before + 1) << f.name;
  }
  EXPECT_GE(names.size(), 90u);
}

TEST(CostFields, WrongOnesAreTold) {
  CostMachine machine = small_machine();
  EXPECT_THROW(set_field(machine, "vector.lane", 32), arch::UserError);
  EXPECT_THROW(set_field(machine, "vector.lanes", 1.5), arch::UserError);
  EXPECT_THROW(set_field(machine, "cluster.burst", -1), arch::UserError);
  EXPECT_NO_THROW(set_field(machine, "cluster.issues_per_cycle", 1.5));
}

// The same latencies the machine's models are built from.
TEST(CostFields, AgreeWithTheContract) {
  namespace l = arch::latency;
  const MeshCost mesh;
  const UnitCost unit;
  EXPECT_EQ(mesh.fabric.hop, l::kRouterHop);
  EXPECT_EQ(mesh.fabric.adapter, l::kAdapterUp);
  EXPECT_EQ(mesh.fabric.crossing.cycles(1, 1), l::kAsyncFifo);
  EXPECT_EQ(mesh.dispatch.first_flit, l::kKickToFlit);
  EXPECT_EQ(mesh.dispatch.flit, l::kDispatchPeriod);
  EXPECT_EQ(HostCost{}.engine_command, l::kEngineWrite);
  EXPECT_EQ(HostCost{}.engine_retry, l::kEnginePoll);
  EXPECT_EQ(mesh.port.queue, l::kMemQueueDepth);
  EXPECT_EQ(mesh.port.queue_margin, l::kMemQueueMargin);
  EXPECT_EQ(mesh.port.write_slots, l::kMemWriteSlots);
  EXPECT_EQ(mesh.port.read_address, l::kMemReadAddress);
  EXPECT_EQ(mesh.port.write_ready + mesh.port.write_address, l::kMemWriteAddress);
  EXPECT_EQ(mesh.path.grant + mesh.path.crossing.cycles(1, 1), l::kDramAddress);
  EXPECT_EQ(mesh.path.write_data, l::kDramWriteMux);
  EXPECT_EQ(mesh.path.write_response + mesh.path.crossing.cycles(1, 1), l::kDramWriteResponse);
  EXPECT_EQ(unit.cluster.visible, l::kFifo);
  EXPECT_EQ(unit.cluster.signal, l::kDoneToSignal);
  EXPECT_EQ(unit.cluster.burst, l::kDrainBurst);
  EXPECT_EQ(unit.cluster.drain_limit, l::kDrainLimit);
  EXPECT_EQ(unit.cluster.reuse, l::kReuseMin);
}

TEST(CostMachine, FromADescription) {
  const CostMachine m = apps::cost_machine(topo::read_file("reference_mesh8"));
  ASSERT_EQ(m.meshes.size(), 1u);
  EXPECT_EQ(m.meshes[0].units.size(), 10u);
  EXPECT_EQ(m.meshes[0].ports.size(), 2u);
  EXPECT_EQ(m.meshes[0].dram.bus_bits, 512u);
  EXPECT_FALSE(m.host.engine);
  for (const UnitCost& u : m.meshes[0].units) {
    EXPECT_TRUE(u.adapter);
    EXPECT_EQ(u.port, u.at.y <= 1 ? 0u : 1u);
  }
  EXPECT_TRUE(apps::cost_machine(topo::read_file("reference_6c4v")).host.engine);
}

TEST(CostMachine, ClocksOfTheirOwn) {
  const CostMachine m = apps::cost_machine(topo::read_file("cdc"));
  EXPECT_DOUBLE_EQ(m.meshes[0].dram.fabric_per_cycle, 300.0 / 400);
  for (const UnitCost& u : m.meshes[0].units) {
    EXPECT_TRUE(u.crossing);
    EXPECT_DOUBLE_EQ(u.fabric_per_cycle, u.kind == UnitKind::kCluster ? 300.0 / 500 : 300.0 / 350);
  }
  // One write clock, 2 to 3 of synchronisation, four to read.
  EXPECT_EQ(m.meshes[0].fabric.crossing.cycles(1, 0.6), 5);
  EXPECT_EQ(m.meshes[0].fabric.crossing.cycles(0.6, 1), 7);
}

}  // namespace
}  // namespace ktpu::cost
