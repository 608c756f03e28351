// SPDX-License-Identifier: Apache-2.0
// The shipped machines are what the vectors' READMEs say (user-reports.md 4).
#include <fstream>
#include <map>
#include <sstream>

#include "tests/unit/topologies/helpers.h"

namespace ktpu::topo::testing {
namespace {

const std::string kFolder = std::string(KTPU_SOURCE_DIR) + "/topologies/";

std::map<std::string, unsigned> ports_of(const Machine& m) {
  std::map<std::string, unsigned> ports;
  for (const Node& node : m.meshes[0].nodes)
    if (node.port) ports[node_id(m, m.meshes[0], node)] = *node.port;
  return ports;
}

TEST(Shipped, AllReadAndSayWhereNorthIs) {
  const std::vector<std::string> names = shipped_names({kFolder});
  EXPECT_EQ(names,
            (std::vector<std::string>{"cdc", "mesh1", "mesh8", "noc14x14", "noc3x3", "noc8x8", "quad",
                                      "reference_6c4v", "reference_mesh8", "reference_small", "staged"}));
  for (const std::string& name : names) {
    EXPECT_EQ(read_file(name, {}, {kFolder}).name, name);
    std::ifstream in(kFolder + name + ".yaml");
    std::stringstream text;
    text << in.rdbuf();
    EXPECT_NE(text.str().find("# Compass: "), std::string::npos) << name;
  }
}

TEST(Shipped, Mesh1) {
  const Machine m = read_file(kFolder + "mesh1.yaml");
  const Mesh& mesh = m.meshes[0];
  EXPECT_EQ(mesh.hi, (Coord{1, 1}));
  EXPECT_EQ(ports_of(m), (std::map<std::string, unsigned>{{"cluster@1,1", 0}}));
  EXPECT_EQ(mesh.ports, (std::vector<Coord>{{0, 1}}));
  EXPECT_EQ(mesh.nodes.size(), 2u);
  EXPECT_EQ(m.host.kind, HostKind::kCommandEngine);
  EXPECT_EQ(mesh.dram->base, 0u);  // orchestrator.md section 10: operands from address 0
}

TEST(Shipped, ReferenceSmall) {  // vectors/rtl/README.md, Conditions
  const Machine m = read_file(kFolder + "reference_small.yaml");
  const Mesh& mesh = m.meshes[0];
  EXPECT_EQ(mesh.hi, (Coord{2, 2}));  // CAPS 0x0000_0002_0104_0120
  EXPECT_EQ(mesh.routers, (std::vector<Router>{{{1, 1}}, {{2, 1}}}));
  EXPECT_EQ(mesh.ports, (std::vector<Coord>{{0, 1}}));
  EXPECT_EQ(ports_of(m), (std::map<std::string, unsigned>{{"cluster@2,1", 0}, {"vector@1,0", 0}}));
  EXPECT_EQ(mesh.node_at({2, 1})->side, Side::kLocal);
  EXPECT_EQ(mesh.node_at({1, 0})->side, Side::kNorth);
  EXPECT_EQ(mesh.node_at({1, 1})->get<Traffic>()->pattern, Pattern::kScript);
  EXPECT_EQ(mesh.dram->bus_bits, 256u);
  EXPECT_EQ(mesh.dram->simple, DramSimple{});
  EXPECT_TRUE(mesh.dram->wrap);
  EXPECT_EQ(mesh.dram->size_bytes, 8u << 20);
  EXPECT_EQ(mesh.router.fifo_depth, 512u);
  EXPECT_EQ(mesh.requesters(), 3u);
  EXPECT_EQ(*mesh.node_at({2, 1})->get<MatmulCluster>(), MatmulCluster{});
  EXPECT_EQ(*mesh.node_at({1, 0})->get<VectorCore>(), VectorCore{});
  for (const Node& node : mesh.nodes) EXPECT_FALSE(node.adapter.has_value());
  EXPECT_EQ(m.host.kind, HostKind::kScript);
  EXPECT_EQ(m.host.script, (ScriptHost{3, 3, 40}));
}

const std::map<std::string, unsigned> kMesh8Ports{
    {"cluster@1,0", 0}, {"cluster@2,0", 0}, {"cluster@1,1", 0}, {"cluster@2,1", 0}, {"vector@3,1", 0},
    {"cluster@1,2", 1}, {"cluster@2,2", 1}, {"cluster@1,3", 1}, {"cluster@2,3", 1}, {"vector@3,2", 1}};

TEST(Shipped, Staged) {  // design.md section 5: staging and adapters on
  const Machine m = read_file(kFolder + "staged.yaml");
  const Mesh& mesh = m.meshes[0];
  EXPECT_EQ(mesh.staging, Presence::kBuilt);
  EXPECT_EQ(mesh.staging_placement, StagingPlacement::kConverged);
  for (const Node& node : mesh.nodes) EXPECT_EQ(node.adapter.has_value(), uses_memory_port(node.kind()));
}

TEST(Shipped, ReferenceMesh8) {  // vectors/rtl/README.md, cycles_mesh8
  const Machine m = read_file(kFolder + "reference_mesh8.yaml");
  const Mesh& mesh = m.meshes[0];
  EXPECT_EQ(ports_of(m), kMesh8Ports);
  EXPECT_EQ(mesh.ports, (std::vector<Coord>{{0, 1}, {0, 2}}));
  EXPECT_EQ(mesh.requesters(), 5u);
  EXPECT_EQ(mesh.dram->bus_bits, 512u);
  EXPECT_TRUE(mesh.dram->wrap);
  for (const Node& node : mesh.nodes) EXPECT_EQ(node.adapter.has_value(), uses_memory_port(node.kind()));
  EXPECT_EQ(m.host.kind, HostKind::kScript);
}

TEST(Shipped, Reference6c4v) {  // compiler.md section 2, "sim 6+4"
  const Machine m = read_file(kFolder + "reference_6c4v.yaml");
  const Mesh& mesh = m.meshes[0];
  EXPECT_EQ(mesh.hi, (Coord{2, 3}));
  EXPECT_EQ(mesh.routers.size(), 6u);
  EXPECT_EQ(ports_of(m), (std::map<std::string, unsigned>{{"cluster@1,1", 0},
                                                          {"cluster@2,1", 0},
                                                          {"cluster@1,2", 1},
                                                          {"cluster@2,2", 1},
                                                          {"cluster@1,3", 1},
                                                          {"cluster@2,3", 1},
                                                          {"vector@1,0", 0},
                                                          {"vector@2,0", 0},
                                                          {"vector@1,4", 1},
                                                          {"vector@2,4", 1}}));
  EXPECT_EQ(mesh.ports, (std::vector<Coord>{{0, 1}, {0, 2}}));
  EXPECT_EQ(*mesh.node_at({1, 1})->get<MatmulCluster>(), MatmulCluster{});
  EXPECT_EQ(*mesh.node_at({1, 0})->get<VectorCore>(), VectorCore{});
  EXPECT_EQ(mesh.dram->bus_bits, 512u);
  EXPECT_EQ(mesh.dram->base, 0x80000000u);
  EXPECT_EQ(mesh.dram->simple, DramSimple{});
  EXPECT_EQ(*mesh.agent, Agent{});
  for (const Node& node : mesh.nodes) EXPECT_FALSE(node.adapter.has_value());
  EXPECT_EQ(m.host.kind, HostKind::kCommandEngine);
}

TEST(Shipped, Mesh8) {
  const Machine m = read_file(kFolder + "mesh8.yaml");
  EXPECT_EQ(ports_of(m), kMesh8Ports);
  EXPECT_EQ(m.meshes[0].dram->bus_bits, 512u);
  EXPECT_EQ(m.meshes[0].dram->base, 0x80000000u);
  EXPECT_EQ(m.meshes[0].dram->size_bytes, 1u << 30);
  EXPECT_EQ(m.meshes[0].requesters(), 4u);
  for (const Node& node : m.meshes[0].nodes) EXPECT_FALSE(node.adapter.has_value());
}

TEST(Shipped, Quad) {
  const Machine m = read_file(kFolder + "quad.yaml");
  const Machine single = read_file(kFolder + "mesh1.yaml");
  const Mesh& one = single.meshes[0];
  ASSERT_EQ(m.meshes.size(), 4u);
  for (unsigned i = 0; i < 4; ++i) {
    const Mesh& mesh = m.meshes[i];
    EXPECT_EQ(mesh.id, i);
    EXPECT_EQ(mesh.interlink, Presence::kBuilt);
    EXPECT_EQ(mesh.requesters(), 4u);
    EXPECT_EQ(mesh.nodes.size(), 3u);
    EXPECT_EQ(mesh.node_at({1, 0})->kind(), Kind::kVectorCore);
    EXPECT_EQ(mesh.node_at({1, 1})->params, one.node_at({1, 1})->params);
    EXPECT_EQ(mesh.ports, one.ports);
    EXPECT_EQ(mesh.router, one.router);
    EXPECT_EQ(mesh.dram, one.dram);
    EXPECT_EQ(mesh.agent, one.agent);
  }
  EXPECT_EQ(m.host.kind, HostKind::kCommandEngine);
}

TEST(Shipped, Noc) {
  const Machine m3 = read_file(kFolder + "noc3x3.yaml");
  EXPECT_EQ(m3.meshes[0].nodes.size(), 21u);
  EXPECT_EQ(m3.meshes[0].router.fifo_depth, 32u);
  EXPECT_FALSE(m3.meshes[0].agent || m3.meshes[0].dram);
  EXPECT_EQ(m3.host.kind, HostKind::kNone);
  EXPECT_EQ(read_file(kFolder + "noc8x8.yaml").meshes[0].nodes.size(), 64u);
  EXPECT_EQ(read_file(kFolder + "noc14x14.yaml").meshes[0].nodes.size(), 196u);
}

}  // namespace
}  // namespace ktpu::topo::testing
