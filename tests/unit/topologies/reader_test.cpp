// SPDX-License-Identifier: Apache-2.0
// Every error path of the reader with its exact place and text (design.md section 5, user-reports.md 1-8).
#include "tests/unit/topologies/helpers.h"
#include "topologies/writer.h"

namespace ktpu::topo::testing {
namespace {
std::string good_with(const std::string& from, const std::string& to) { return with(kGood, from, to); }

TEST(Reader, GoodMachine) {
  const Machine m = read_string(kGood);
  EXPECT_EQ(m.name, "good");
  ASSERT_EQ(m.clocks.size(), 1u);
  EXPECT_EQ(m.clocks[0], (Clock{"fabric", 300}));
  ASSERT_EQ(m.meshes.size(), 1u);
  const Mesh& mesh = m.meshes[0];
  EXPECT_EQ(mesh.lo, (Coord{1, 1}));
  EXPECT_EQ(mesh.hi, (Coord{2, 2}));
  EXPECT_EQ(mesh.router, (RouterConfig{64, 3, 2}));
  EXPECT_EQ(mesh.routers.size(), 4u);
  ASSERT_EQ(mesh.nodes.size(), 7u);
  EXPECT_EQ(mesh.ports, (std::vector<Coord>{{0, 1}, {0, 2}}));
  EXPECT_EQ(mesh.requesters(), 4u);
  EXPECT_EQ(m.host.kind, HostKind::kCommandEngine);
  const Node* vec = mesh.node_at({1, 0});
  ASSERT_NE(vec, nullptr);
  EXPECT_EQ(vec->kind(), Kind::kVectorCore);
  EXPECT_EQ(vec->side, Side::kNorth);
  EXPECT_EQ(vec->router, (Coord{1, 1}));
  EXPECT_EQ(vec->port, 0u);
  EXPECT_EQ(vec->place.text(), "topology:13:7");
  EXPECT_EQ(mesh.node_at({1, 1})->get<MatmulCluster>()->tiles, 256u);
  EXPECT_EQ(mesh.node_at({1, 2})->port, 1u);
  EXPECT_EQ(mesh.node_at({3, 2})->side, Side::kEast);
  EXPECT_FALSE(mesh.node_at({3, 2})->port.has_value());
  EXPECT_EQ(mesh.node_at({2, 2}), nullptr);
  EXPECT_NE(mesh.router_at({2, 2}), nullptr);
  EXPECT_EQ(mesh.router_at({3, 2}), nullptr);
}

// --- user-reports.md
// ------------------------------------------------------------------------------------------

TEST(UserReports, R1NodeOfAnotherSectionIsGone) {
  expect_error(
      good_with("    agent:", "    nodes:\n      @@cluster@2,2: {impl: rtl}\n    agent:"),
      "meshes.0.nodes: there is no node 'cluster@2,2' in the picture; did you mean 'cluster@2,1'?; valid: "
      "vector@1,0, memory@0,1, cluster@1,1, cluster@2,1, memory@0,2, cluster@1,2, traffic@3,2, router@1,1, "
      "router@2,1, router@1,2, router@2,2");
  expect_error(good_with("{kind: matmul_cluster, tiles: 256}", "{kind: matmul_cluster, port: @@2}"),
               "meshes.0.units.mat.port: there is no memory port 2; allowed: 0..1");
  expect_error(good_with("{kind: traffic}", "{kind: traffic, pattern: hotspot, hotspot: @@\"9,1\"}"),
               "meshes.0.units.src.hotspot: no traffic node at (9,1)");
}

TEST(UserReports, R2RequiredKeyMissingOrMisspelt) {
  expect_error(
      good_with("bus_bits: 512", "@@bus_bit: 512"),
      "meshes.0.dram: unknown key 'bus_bit'; did you mean 'bus_bits'?; allowed: model, bus_bits, base, "
      "size_mib, size_bytes, clock, wrap, first_read_beat, read_gaps, first_write_beat, write_gaps, "
      "write_response");
  expect_error(good_with("{model: simple, bus_bits: 512, ", "@@{model: simple, "),
               "meshes.0.dram: required key 'bus_bits' is missing");
  expect_error("@@name: x\nclock_mhz: 300\nmeshes: []\n", "required key 'version' is missing");
  expect_error("@@version: 1\nclock_mhz: 300\nmeshes: []\n", "required key 'name' is missing");
  expect_error("@@version: 1\nname: x\nclock_mhz: 300\n", "required key 'meshes' is missing");
  expect_error(good_with("version: 1\nname: good\nclock_mhz: 300", "@@version: 1\nname: good"),
               "required key 'clock_mhz' is missing (or give 'clocks')");
  expect_error(good_with("{kind: memory_port}", "@@{impl: model}"),
               "meshes.0.units.mem: required key 'kind' is missing; allowed: matmul_cluster, vector_core, "
               "memory_port, traffic, null");
  expect_error(good_with("{kind: memory_port}", "{@@knid: memory_port}"),
               "meshes.0.units.mem: unknown key 'knid'; did you mean 'kind'?");
}

TEST(UserReports, R3SettingsThatMustAgree) {
  expect_error(good_with("size_mib: 64}", "size_mib: 64, size_bytes: @@1024}"),
               "meshes.0.dram: give either size_mib or size_bytes, not both");
  expect_error(good_with("clock_mhz: 300", "clock_mhz: 300\nclocks: @@{fabric: 300}"),
               "clocks: give either clocks or clock_mhz, not both");
  expect_error(good_with("      - [ mem, mat, .,   src ]", "      - @@[ mem, mat, .,   src, . ]"),
               "meshes.0.grid.2: 5 cells, but the first row has 4; all rows are equally long");
  expect_error(
      good_with("size_mib: 64}", "size_mib: 64, wrap: true}") /* base is a multiple: fine */ + "@@x: 1\n",
      "unknown key 'x'; allowed: version, name, clock_mhz, clocks, quirks, meshes, host");
  expect_error(
      good_with("base: 0x80000000, size_mib: 64}", "base: @@0x80000000, size_mib: 48, wrap: true}"),
      "meshes.0.dram.base: wrap takes addresses modulo 0x3000000 bytes, so base 0x80000000 must be a "
      "multiple of that (0 is one)");
  expect_error(good_with("{kind: traffic}", "{kind: traffic, busy: {period: 4, duty: @@5}}"),
               "meshes.0.units.src.busy.duty: 5 busy cycles in a period of 4; allowed: 0..4");
  expect_error(good_with("{kind: traffic}", "{kind: traffic, busy: {period: 4, duty: 1, runs: @@[1, 2]}}"),
               "meshes.0.units.src.busy: give either runs or period, duty and offset, not both");
}

TEST(UserReports, R6MisspeltEnumeration) {
  expect_error(good_with("kind: vector_core", "kind: @@vector_cor"),
               "meshes.0.units.vec.kind: 'vector_cor' is not allowed; allowed: matmul_cluster, vector_core, "
               "memory_port, controller, pe, traffic, null; did you mean 'vector_core'?");
  expect_error(good_with("model: simple", "model: @@ddr4"),
               "meshes.0.dram.model: 'ddr4' is not allowed; allowed: simple, banked");
  expect_error(
      good_with("{kind: command_engine}", "{kind: @@comand_engine}"),
      "host.kind: 'comand_engine' is not allowed; allowed: none, command_engine, script, external, firmware; "
      "did you mean 'command_engine'?");
  expect_error(
      good_with("{kind: vector_core}", "{kind: vector_core, impl: @@RTL}"),
      "meshes.0.units.vec.impl: 'RTL' is not allowed; allowed: model, rtl, lockstep, pins; did you mean "
      "'rtl'?");
  expect_error(good_with("size_mib: 64}", "size_mib: 64, wrap: @@yes}"),
               "meshes.0.dram.wrap: 'yes' is not allowed; allowed: true, false");
}

TEST(Reader, StagingMemoryAndItsPlace) {
  const auto mesh = [](const std::string& keys) {
    return read_string(with(kGood, "    agent:", keys + "    agent:")).meshes.front();
  };
  EXPECT_EQ(mesh("").staging, Presence::kAbsent);
  EXPECT_EQ(mesh("    staging: built\n").staging, Presence::kBuilt);
  EXPECT_EQ(mesh("    staging: built\n").staging_placement, StagingPlacement::kConverged);
  EXPECT_EQ(mesh("    staging: built\n    staging_placement: port\n").staging_placement,
            StagingPlacement::kPort);
  expect_error(
      good_with("    agent:", "    staging: idle\n    @@staging_placement: port\n    agent:"),
      "meshes.0.staging_placement: there is no staging memory to place; it needs staging: built, and "
      "staging is idle");
}

TEST(UserReports, R8WhatThisVersionDoesNotHaveIsNamed) {
  expect_error(
      good_with("kind: traffic", "kind: @@controller"),
      "meshes.0.units.src.kind: 'controller' is not supported by this version; supported: matmul_cluster, "
      "vector_core, memory_port, traffic, null");
  expect_error(
      good_with("{kind: command_engine}", "{kind: @@firmware}"),
      "host.kind: 'firmware' is not supported by this version; supported: none, command_engine, script, "
      "external");
}

// --- top level
// ------------------------------------------------------------------------------------------------

TEST(Reader, TopLevel) {
  EXPECT_EQ(error_of(""), "t.yaml:1:1: the file is empty; a topology starts with version: 1");
  EXPECT_EQ(error_of("# only words\n"), "t.yaml:1:1: the file is empty; a topology starts with version: 1");
  EXPECT_EQ(error_of("~"), "t.yaml:1:1: the file is empty; a topology starts with version: 1");
  expect_error("@@[1, 2]\n", "a list where a map of keys is needed");
  expect_error("@@word\n", "'word' where a map of keys is needed");
  expect_error(good_with("version: 1", "version: @@2"), "version: '2' is out of range; allowed: 1");
  expect_error(good_with("name: good", "name: @@a/b"),
               "name: 'a/b' is no name; allowed: 1..64 letters, digits, '_', '-', '.'");
  expect_error(good_with("name: good", "name: @@[good]"), "name: a list where a word is needed");
  expect_error(good_with("name: good", "@@name:"), "name: the key has no value");
  expect_error(good_with("name: good", "name: good\n@@name: better"),
               "key 'name' is given twice; the first is in line 2");
  expect_error("version: 1\nname: x\nclock_mhz: 300\nmeshes: @@[]\n", "meshes: 0 meshes; allowed: 1..4");
  expect_error("version: 1\nname: x\nclock_mhz: 300\nmeshes: @@{}\n",
               "meshes: a map where a list of meshes is needed");
  expect_error(
      good_with("host: {kind: command_engine}", "host: @@{}"),
      "host: required key 'kind' is missing; allowed: none, command_engine, script, external, firmware");
  expect_error(good_with("{kind: command_engine}", "{kind: command_engine, @@script: {}}"),
               "host: key 'script' has a meaning only with kind: script");
  expect_error(good_with("{kind: command_engine}", "{script: {write_cycles: @@0}}"),
               "host.script.write_cycles: '0' is out of range; allowed: 3..1000000 (cycles)");
}

TEST(Reader, Clocks) {
  EXPECT_EQ(read_string(good_with("clock_mhz: 300", "clock_mhz: 312.5")).clocks[0].mhz, 312.5);
  EXPECT_EQ(read_string(good_with("clock_mhz: 300", "clocks: {fabric: 200}")).clocks[0].mhz, 200);
  for (const char* bad : {".nan", "nan", "-nan", "+1", "1e"})
    expect_error(
        good_with("clock_mhz: 300", std::string("clock_mhz: @@") + bad),
        "clock_mhz: '" + std::string(bad) + "' " +
            (std::string(bad).ends_with("nan") && bad[0] != '.' ? "is not finite" : "is not a number") +
            "; allowed: 0.001..100000 (MHz)");
  for (const char* bad : {"inf", "-inf", "0", "-1", "1e99", "1e9999"})
    EXPECT_TRUE(error_of(good_with("clock_mhz: 300", std::string("clock_mhz: ") + bad))
                    .starts_with("t.yaml:3:12: clock_mhz: '" + std::string(bad) + "' is "))
        << bad;
  expect_error(
      good_with("clock_mhz: 300", "clock_mhz: @@\"300\""),
      "clock_mhz: the quoted text '300' is text; write the number without quotes; allowed: 0.001..100000 "
      "(MHz)");
  expect_error(good_with("clock_mhz: 300", "clocks: @@{cluster: 300}"),
               "clocks: required key 'fabric' is missing");
  expect_error(good_with("clock_mhz: 300", "clocks: {fabric: 300, @@slow: 100}"),
               "clocks: clock 'slow' is defined but no unit and no DRAM has it");
  expect_error(good_with("clock_mhz: 300", "clocks: {@@slow: 100, fabric: 300}"),
               "clocks: clock 'slow' is defined but no unit and no DRAM has it");
  expect_error(good_with("clock_mhz: 300", "clocks: @@300"),
               "clocks: '300' where a map of name: MHz is needed");
  expect_error(
      good_with("{kind: vector_core}", "{kind: vector_core, clock: @@fabrik}"),
      "meshes.0.units.vec.clock: there is no clock 'fabrik'; did you mean 'fabric'?; defined: fabric");
  expect_error(good_with("size_mib: 64", "size_mib: 64, clock: @@fabrik"),
               "meshes.0.dram.clock: there is no clock 'fabrik'; did you mean 'fabric'?; defined: fabric");
}

// --- grid
// -----------------------------------------------------------------------------------------------------

TEST(Reader, GridShape) {
  expect_error(good_with("      - [ .,   vec, .,   .   ]", "      - [ .,   vec, .,   @@mat ]"),
               "meshes.0.grid.0.3: 'mat' in a corner: the four corners touch no router and are '.'");
  expect_error(good_with("      - [ .,   vec, .,   .   ]", "      - [ .,   vec, @@x,   .   ]"),
               "meshes.0.grid.0.2: 'x' in the outer ring: it says that a router is missing; an empty edge "
               "slot is '.'");
  expect_error(
      good_with("      - [ .,   vec, .,   .   ]", "      - [ .,   vec, @@~,   .   ]"),
      "meshes.0.grid.0.2: '~' in a cell; allowed: a symbol of 'units', '.' (nothing), or inside the ring "
      "'x' (no router)");
  expect_error(
      good_with("      - [ .,   vec, .,   .   ]", "      - [ .,   vec, @@3d,   .   ]"),
      "meshes.0.grid.0.2: '3d' in a cell; allowed: a symbol of 'units', '.' (nothing), or inside the ring "
      "'x' (no router)");
  expect_error(
      good_with("      - [ .,   vec, .,   .   ]", "      - [ .,   @@vek, .,   .   ]"),
      "meshes.0.grid.0.1: symbol 'vek' is not defined in 'units'; did you mean 'vec'?; defined: mat, mem, "
      "src, vec");
  expect_error(good_with("      - [ .,   vec, .,   .   ]", "      - @@row"),
               "meshes.0.grid.0: 'row' where a list of cells is needed");
  const std::string head = "version: 1\nname: x\nclock_mhz: 300\nmeshes:\n  - grid: ";
  expect_error(head + "@@[[., .], [., .]]\n",
               "meshes.0.grid: 2 rows; allowed: 3..16 (1..14 routers and one edge slot "
               "at each end)");
  expect_error(head + "[@@[., .], [., .], [., .]]\n",
               "meshes.0.grid.0: 2 cells; allowed: 3..16 (1..14 routers and one "
               "edge slot at each end)");
  expect_error(head + "@@word\n", "meshes.0.grid: 'word' where a list of rows is needed");
  expect_error(head + "@@[[., ., .], [., ., .], [., ., .]]\n",
               "meshes.0.grid: no endpoint at all: every cell is empty");
  expect_error(head + "@@[[., ., .], [., x, .], [., ., .]]\n", "meshes.0.grid: no router at all");
  expect_error(head + "[[., ., .], [., @@mat, .], [., ., .]]\n",
               "meshes.0.grid.1.1: symbol 'mat' is not defined in 'units'; defined: none");
  expect_error(good_with("      vec: {kind: vector_core}",
                         "      vec: {kind: vector_core}\n      @@old: {kind: null}"),
               "meshes.0.units: unit 'old' is defined, but the picture does not show it");
  expect_error(
      good_with("      vec: {kind: vector_core}", "      vec: {kind: vector_core}\n      @@x: {kind: null}"),
      "meshes.0.units: 'x' is no symbol; allowed: a letter or '_', then letters, digits and '_', but not x "
      "alone");
}

std::string square(unsigned n) {
  std::string text =
      "version: 1\nname: x\nclock_mhz: 300\nmeshes:\n  - units: {t: {kind: null}}\n    grid:\n";
  for (unsigned y = 0; y < n + 2; ++y) {
    text += "      - [";
    for (unsigned x = 0; x < n + 2; ++x) text += x > 0 && x <= n && y > 0 && y <= n ? "t, " : "., ";
    text += "]\n";
  }
  return text;
}

TEST(Reader, GridLimits) {  // fabric.md section 4
  EXPECT_EQ(read_string(square(1)).meshes[0].nodes.size(), 1u);
  EXPECT_EQ(read_string(square(14)).meshes[0].nodes.size(), 196u);
  EXPECT_EQ(
      error_of(square(15)),
      "t.yaml:7:7: meshes.0.grid: 17 rows; allowed: 3..16 (1..14 routers and one edge slot at each end)");
}

TEST(Reader, MissingRouters) {  // fabric.md section 6.1, last sentences
  const Machine m =
      read_string(with(with(kGood, "      - [ mem, mat, .,   src ]", "      - [ .,   x,   x,   .   ]"),
                       "      src: {kind: traffic}\n", ""));
  const Mesh& mesh = m.meshes[0];
  EXPECT_EQ(mesh.hi, (Coord{2, 2}));
  EXPECT_EQ(mesh.routers, (std::vector<Router>{{{1, 1}}, {{2, 1}}}));
  EXPECT_EQ(mesh.router_at({1, 2}), nullptr);
  expect_error(good_with("      - [ mem, mat, .,   src ]", "      - [ mem, mat, x,   @@src ]"),
               "meshes.0.grid.2.3: 'src' hangs on router (2,2), which the picture leaves out");
  // X first, then Y: a hole in the middle of a square is on the way from (1,1) to (2,3).
  const std::string ring =
      "version: 1\nname: x\nclock_mhz: 300\nmeshes:\n  - units: {t: {kind: null}}\n    grid: @@[[., ., ., ., "
      ".], [., t, "
      "t, t, .], [., t, x, t, .], [., t, t, t, .], [., ., ., ., .]]\n";
  expect_error(
      ring, "meshes.0.grid: flits from (1,1) to (2,3) go through router (2,2), which the picture leaves out");
}

// --- memory
// ---------------------------------------------------------------------------------------------------

TEST(Reader, MemoryPorts) {
  expect_error(good_with("    agent: {staging_flits: 128, commands: 128}\n", "") == ""
                   ? ""
                   : with(with(kGood, "    agent: {staging_flits: 128, commands: 128}\n", ""),
                          "  - grid:", "  - @@grid:"),
               "meshes.0: required key 'agent' is missing: the picture has a memory port at (0,1)");
  expect_error(
      with(with(kGood, "    dram: {model: simple, bus_bits: 512, base: 0x80000000, size_mib: 64}\n", ""),
           "  - grid:", "  - @@grid:"),
      "meshes.0: required key 'dram' is missing: the picture has a memory port at (0,1)");
  const std::string none = with(with(with(kGood, "[ mem, mat, mat, .   ]", "[ .,   mat, mat, .   ]"),
                                     "[ mem, mat, .,   src ]", "[ .,   mat, .,   src ]"),
                                "      mem: {kind: memory_port}\n", "");
  expect_error(with(none, "    agent:", "    @@agent:"),
               "meshes.0.agent: it is reached through a memory port, but the picture has none");
  const std::string bare =
      with(with(none, "    agent: {staging_flits: 128, commands: 128}\n", ""),
           "    dram: {model: simple, bus_bits: 512, base: 0x80000000, size_mib: 64}\n", "");
  expect_error(with(bare, "      vec:", "      @@vec:"),
               "meshes.0.units.vec: a vector_core needs a memory port, but the picture has none");
  expect_error(with(with(kGood, "[ .,   vec, .,   .   ]", "[ .,   mem, mem, .   ]"), "[ .,   .,   .,   .   ]",
                    "[ .,   @@mem, .,   .   ]"),
               "meshes.0.grid.3.1: more than 4 memory ports in a mesh");
  const std::string noc =
      "version: 1\nname: x\nclock_mhz: 300\nmeshes:\n  - units: {t: {kind: null}}\n    grid: [[., ., "
      ".], [., t, .], [., ., .]]\nhost: @@{kind: command_engine}\n";
  expect_error(noc,
               "host: host kind 'command_engine' drives a control agent, but no mesh has the key 'agent'");
}

TEST(Reader,
     PortBinding) {  // fabric.md section 4: clamped distance, a tie goes to the first port in row-major order
  const Machine m = read_string(
      "version: 1\nname: x\nclock_mhz: 300\nmeshes:\n  - units: {c: {kind: matmul_cluster}, m: {kind: "
      "memory_port}}\n"
      "    agent: {}\n    dram: {bus_bits: 256, size_mib: 1}\n    grid:\n"
      "      - [., c, c, c, .]\n"
      "      - [m, c, c, c, m]\n"
      "      - [c, c, c, c, c]\n"
      "      - [m, c, c, c, .]\n"
      "      - [., c, c, c, .]\n");
  const Mesh& mesh = m.meshes[0];
  EXPECT_EQ(mesh.ports, (std::vector<Coord>{{0, 1}, {4, 1}, {0, 3}}));
  const auto port = [&](unsigned x, unsigned y) {
    return *mesh.node_at({static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y)})->port;
  };
  EXPECT_EQ(port(1, 0), 0u);
  EXPECT_EQ(port(2, 0), 0u);  // one column from either: a tie
  EXPECT_EQ(port(3, 0), 1u);
  EXPECT_EQ(port(0, 2), 0u);  // (1,2) lies between ports 0 and 2: a tie
  EXPECT_EQ(port(2, 2), 0u);  // three-way tie
  EXPECT_EQ(port(3, 2), 1u);
  EXPECT_EQ(port(4, 2), 1u);
  EXPECT_EQ(port(2, 3), 2u);
  EXPECT_EQ(port(3, 3), 1u);  // (3,1) and (1,3) are both 2 away: the first in row-major order
  EXPECT_EQ(port(1, 4), 2u);
}

TEST(Reader, Dram) {
  const auto dram = [](const std::string& keys) {
    return with(kGood, "{model: simple, bus_bits: 512, base: 0x80000000, size_mib: 64}", keys);
  };
  expect_error(dram("@@{bus_bits: 256}"),
               "meshes.0.dram: required key 'size_mib' is missing (or size_bytes)");
  expect_error(
      dram("{bus_bits: @@300, size_mib: 1}"),
      "meshes.0.dram.bus_bits: '300' is not a power of two; allowed: a power of two, 256..512 (bits)");
  expect_error(
      dram("{bus_bits: 512, size_bytes: @@96}"),
      "meshes.0.dram.size_bytes: 96 bytes are no whole number of 512-bit beats; allowed: multiples of 64");
  expect_error(dram("{bus_bits: 512, size_mib: 1, base: @@0x20}"),
               "meshes.0.dram.base: 0x20 is not on a 512-bit beat; allowed: multiples of 64");
  expect_error(
      dram("{bus_bits: 512, size_mib: @@65536, base: 0x40}"),
      "meshes.0.dram.size_mib: base 0x40 + 0x1000000000 bytes ends beyond the 0x1000000000 bytes of a mesh "
      "(memory.md 3)");
  expect_error(dram("{bus_bits: 512, size_mib: @@65537}"),
               "meshes.0.dram.size_mib: '65537' is out of range; allowed: 1..65536 (MiB)");
  expect_error(
      dram("{bus_bits: 512, size_mib: 1, read_gaps: @@3}"),
      "meshes.0.dram.read_gaps: '3' where a list of whole numbers is needed, each 0..1000000 (cycles)");
  expect_error(dram("{bus_bits: 512, size_mib: 1, read_gaps: [1, @@-2]}"),
               "meshes.0.dram.read_gaps.1: '-2' is negative or not a number; allowed: 0..1000000 (cycles)");
  expect_error(dram("{bus_bits: 512, size_mib: 1, @@banks: 4}"),
               "meshes.0.dram: key 'banks' has a meaning only with model: banked");
  expect_error(dram("{model: banked, bus_bits: 512, size_mib: 1, @@read_gaps: []}"),
               "meshes.0.dram: key 'read_gaps' has a meaning only with model: simple");
  expect_error(dram("{model: banked, bus_bits: 512, size_mib: 1, row_closed: @@90}"),
               "meshes.0.dram: row_hit 20 <= row_closed 90 <= row_conflict 48 must hold");
  const Machine m =
      read_string(dram("{bus_bits: 256, base: 0, size_bytes: 96, first_read_beat: 7, read_gaps: [0, 2], "
                       "first_write_beat: 3, write_gaps: [5], write_response: 9}"));
  EXPECT_EQ(m.meshes[0].dram->simple, (DramSimple{7, {0, 2}, 3, {5}, 9}));
  EXPECT_EQ(m.meshes[0].dram->size_bytes, 96u);
  EXPECT_EQ(m.meshes[0].dram->bus_bits, 256u);
}

// --- values
// ---------------------------------------------------------------------------------------------------

TEST(Reader, WholeNumbers) {
  const auto depth = [](const std::string& value) {
    return with(kGood, "fifo_depth: 64", "fifo_depth: " + value);
  };
  const std::string allowed = "; allowed: a power of two, 1..65536 (flits)";
  const std::string path = "meshes.0.router.fifo_depth: ";
  expect_error(depth("@@0"), path + "'0' is out of range" + allowed);
  expect_error(depth("@@48"), path + "'48' is not a power of two" + allowed);
  expect_error(depth("@@131072"), path + "'131072' is out of range" + allowed);
  expect_error(depth("@@4294967360"), path + "'4294967360' is out of range" + allowed);  // 2^32 + 64
  expect_error(depth("@@18446744073709551680"),
               path + "'18446744073709551680' is out of range" + allowed);  // 2^64 + 64
  expect_error(depth("@@-64"), path + "'-64' is negative or not a number" + allowed);
  expect_error(depth("@@1e2"), path + "'1e2' is not a whole number" + allowed);
  expect_error(depth("@@1e99"), path + "'1e99' is not a whole number" + allowed);
  expect_error(depth("@@64.0"), path + "'64.0' is not a whole number" + allowed);
  expect_error(depth("@@.nan"), path + "'.nan' is not a whole number" + allowed);
  expect_error(depth("@@0x"), path + "'0x' is not a whole number" + allowed);
  expect_error(depth("@@0xG"), path + "'0xG' is not a whole number" + allowed);
  expect_error(depth("@@064"), path + "'064' has a leading zero" + allowed);
  expect_error(depth("@@\"64\""),
               path + "the quoted text '64' is text; write the number without quotes" + allowed);
  expect_error(depth("@@[64]"),
               path + "a list where a whole number, a power of two, 1..65536 (flits), is needed");
  expect_error(depth("@@{a: 1}"),
               path + "a map where a whole number, a power of two, 1..65536 (flits), is needed");
  EXPECT_EQ(read_string(depth("0x80")).meshes[0].router.fifo_depth, 128u);
  EXPECT_EQ(read_string(depth("1")).meshes[0].router.fifo_depth, 1u);
}

TEST(Reader, UnitKeys) {
  const auto mat = [](const std::string& keys) { return with(kGood, "tiles: 256", keys); };
  expect_error(
      mat("tiles: @@100"),
      "meshes.0.units.mat.tiles: '100' is not a power of two; allowed: a power of two, 1..65536 (sub-tiles)");
  expect_error(mat("l1_a: @@1024"),
               "meshes.0.units.mat.l1_a: '1024' is out of range; allowed: a power of two, 2..512 (entries)");
  expect_error(mat("acc_mw: @@8"), "meshes.0.units.mat.acc_mw: '8' is out of range; allowed: 9..24 (bits)");
  expect_error(
      mat("adapter: {lines: @@100}"),
      "meshes.0.units.mat.adapter.lines: '100' is not a power of two; allowed: a power of two, 16..16777216 "
      "(lines)");
  expect_error(mat("adapter: @@yes"), "meshes.0.units.mat.adapter: 'yes' where a map of keys is needed");
  expect_error(mat("port: @@4"), "meshes.0.units.mat.port: '4' is out of range; allowed: 0..3");
  expect_error(mat("@@l1_words: 4"),
               "meshes.0.units.mat: unknown key 'l1_words'; allowed: kind, impl, quirks, port, "
               "adapter, clock, crossing, tiles, l1_a, l1_b, acc_mw, inst_depth, recv_depth");
  expect_error(with(kGood, "{kind: traffic}", "{kind: traffic, port: @@0}"),
               "meshes.0.units.src.port: a traffic binds to no memory port");
  expect_error(with(kGood, "{kind: traffic}", "{kind: traffic, adapter: @@{lines: 16}}"),
               "meshes.0.units.src.adapter: a traffic has no staging adapter: it makes no memory requests");
  expect_error(with(kGood, "{kind: vector_core}", "@@vector_core"),
               "meshes.0.units.vec: 'vector_core' where a map of keys is needed");
  const Machine m = read_string(mat("port: 1, impl: lockstep, quirks: none, adapter: {lines: 64}"));
  for (const Coord at : {Coord{1, 1}, Coord{2, 1}, Coord{1, 2}}) {
    const Node* node = m.meshes[0].node_at(at);
    EXPECT_EQ(node->port, 1u);
    EXPECT_EQ(node->impl, Impl::kLockstep);
    EXPECT_EQ(node->quirks, Quirks::kNone);
    EXPECT_EQ(node->adapter->lines, 64u);
  }
}
TEST(Reader, ClocksAndCrossings) {
  const std::string two = good_with("clock_mhz: 300", "clocks: {fabric: 300, fast: 500}");
  const Machine m = read_string(with(two, "{kind: vector_core}", "{kind: vector_core, clock: fast}"));
  unsigned crossings = 0;
  for (const Node& node : m.meshes[0].nodes) {
    EXPECT_EQ(node.clock != 0, node.kind() == Kind::kVectorCore);
    EXPECT_EQ(node.crossing.has_value(), node.kind() == Kind::kVectorCore);  // always between clocks
    crossings += node.crossing.has_value();
  }
  EXPECT_NE(crossings, 0u);
  EXPECT_EQ(m.clocks[1].hertz(), 500'000'000u);
  EXPECT_EQ(read_string(print_resolved(m)), m);
  // On the fabric's clock one may be asked for.
  const Machine same =
      read_string(good_with("{kind: vector_core}", "{kind: vector_core, crossing: {depth: 32}}"));
  EXPECT_EQ(read_string(print_resolved(same)), same);
  EXPECT_NE(print_resolved(same).find("crossing: {depth: 32}"), std::string::npos);
  EXPECT_EQ(print_resolved(read_string(kGood)).find("crossing"), std::string::npos);
  EXPECT_EQ(program_fingerprint(m), program_fingerprint(read_string(kGood)));  // clocks are no one's need
  EXPECT_EQ(program_fingerprint(same), program_fingerprint(m));

  expect_error(
      with(two, "{kind: vector_core}", "{kind: vector_core, clock: fast, crossing: @@none}"),
      "meshes.0.units.vec.crossing: a unit on the clock 'fast' reaches the fabric through a crossing; none "
      "is for units on the clock 'fabric'");
  expect_error(with(two, "{kind: memory_port}", "{kind: memory_port, clock: @@fast}"),
               "meshes.0.units.mem.clock: a memory port is part of the memory agent, which runs at the clock "
               "'fabric'");
  expect_error(
      good_with("{kind: vector_core}", "{kind: vector_core, crossing: {depth: @@8}}"),
      "meshes.0.units.vec.crossing.depth: '8' is out of range; allowed: a power of two, 16..65536 (flits)");
}
TEST(Reader, QuirksDefault) {
  const Machine m = read_string(with(with(kGood, "name: good", "name: good\nquirks: none"),
                                     "{kind: vector_core}", "{kind: vector_core, quirks: reference}"));
  EXPECT_EQ(m.meshes[0].node_at({1, 1})->quirks, Quirks::kNone);
  EXPECT_EQ(m.meshes[0].node_at({1, 0})->quirks, Quirks::kReference);
}
TEST(Reader, Traffic) {
  const auto src = [](const std::string& keys) {
    return with(with(kGood, "{kind: traffic}", "{kind: traffic" + keys + "}"), "[ .,   .,   .,   .   ]",
                "[ .,   src, .,   .   ]");
  };
  expect_error(src(", pattern: uniform, rate: @@1.5"),
               "meshes.0.units.src.rate: '1.5' is out of range; allowed: 0..1 (flits per node and cycle)");
  expect_error(
      src(", pattern: @@random"),
      "meshes.0.units.src.pattern: 'random' is not allowed; allowed: script, uniform, hotspot, transpose");
  expect_error(
      src(", rate: @@0.5"),
      "meshes.0.units.src.pattern: pattern script sends what the script says; rate and flits belong to the "
      "other patterns");
  EXPECT_TRUE(error_of(src(", pattern: hotspot")).ends_with("required key 'hotspot' is missing"));
  expect_error(
      src(", pattern: hotspot, hotspot: @@12"),
      "meshes.0.units.src.hotspot: '12' is no coordinate; allowed: \"x,y\", column and row, each 0..15");
  expect_error(src(", pattern: hotspot, hotspot: @@\"1,16\""),
               "meshes.0.units.src.hotspot: the quoted text '1,16' is no coordinate; allowed: \"x,y\", "
               "column and row, "
               "each 0..15");
  expect_error(src(", @@hotspot: \"3,2\""),
               "meshes.0.units.src: key 'hotspot' has a meaning only with pattern: hotspot");
  expect_error(
      with(with(kGood, "{kind: traffic}", "{kind: traffic, pattern: uniform}"), "      src:", "      @@src:"),
      "meshes.0.units.src: pattern uniform needs a second traffic node to send to");
  const Machine m =
      read_string(src(", pattern: hotspot, rate: 0.25, seed: 0xFFFFFFFFFFFFFFFF, flits: 9, hotspot: "
                      "\"1,3\", hotspot_share: 0.5, busy: {period: 8, duty: 2, offset: 5}"));
  Traffic want{Pattern::kHotspot, 0.25, ~0ull, 9, Coord{1, 3}, 0.5, {8, 2, 5, {}}};
  EXPECT_EQ(*m.meshes[0].node_at({3, 2})->get<Traffic>(), want);
}
TEST(Reader, NodeKeys) {
  const auto nodes = [](const std::string& keys) {
    return with(kGood, "    agent:", "    nodes: " + keys + "\n    agent:");
  };
  const Machine m =
      read_string(nodes("{\"cluster@2,1\": {tiles: 64, impl: rtl}, \"router@1,2\": {impl: lockstep}, "
                        "\"vector@1,0\": {port: 1}}"));
  const Mesh& mesh = m.meshes[0];
  EXPECT_EQ(mesh.node_at({2, 1})->get<MatmulCluster>()->tiles, 64u);
  EXPECT_EQ(mesh.node_at({2, 1})->impl, Impl::kRtl);
  EXPECT_EQ(mesh.node_at({1, 1})->get<MatmulCluster>()->tiles, 256u);
  EXPECT_EQ(mesh.node_at({1, 1})->impl, Impl::kModel);
  EXPECT_EQ(mesh.node_at({1, 0})->port, 1u);
  EXPECT_EQ(mesh.router_at({1, 2})->impl, Impl::kLockstep);
  EXPECT_EQ(mesh.router_at({1, 1})->impl, Impl::kModel);
  expect_error(
      nodes("{\"cluster@2,1\": {@@kind: null}}"),
      "meshes.0.nodes.cluster@2,1: a node's kind comes from the picture; draw another symbol there instead");
  expect_error(nodes("{\"router@1,1\": {@@fifo_depth: 4}}"),
               "meshes.0.nodes.router@1,1: unknown key 'fifo_depth'; allowed: impl");
  expect_error(
      nodes("{@@\"vector@2,1\": {}}").replace(0, 0, ""),
      "meshes.0.nodes: there is no node 'vector@2,1' in the "
      "picture; did you mean 'vector@1,0'?; valid: vector@1,0, memory@0,1, cluster@1,1, cluster@2,1, "
      "memory@0,2, cluster@1,2, traffic@3,2, router@1,1, router@2,1, router@1,2, router@2,2");
  expect_error(nodes("@@[1]"), "meshes.0.nodes: a list where a map of node id: keys is needed");
}
TEST(Reader, SeveralMeshes) {
  const std::string one = "  - units: {t: {kind: null}}\n    grid: [[., ., .], [., t, .], [., ., .]]\n";
  const std::string head = "version: 1\nname: x\nclock_mhz: 300\nmeshes:\n";
  const Machine m =
      read_string(head +
                  "  - id: 1\n    units: {t: {kind: null}}\n    grid: [[., ., .], [., t, .], [., ., "
                  ".]]\n  - id: 0\n    units: {t: {kind: null}}\n    grid: [[., t, .], [., ., .], "
                  "[., ., .]]\n");
  ASSERT_EQ(m.meshes.size(), 2u);
  EXPECT_EQ(m.meshes[0].id, 0u);
  EXPECT_NE(m.meshes[0].node_at({1, 0}), nullptr);
  EXPECT_EQ(node_id(m, m.meshes[1], m.meshes[1].nodes[0]), "m1.null@1,1");
  expect_error(
      head + one + "  - @@id: 0\n    units: {t: {kind: null}}\n    grid: [[., ., .], [., t, .], [., ., .]]\n",
      "meshes.1: mesh id 0 is taken by meshes.0; ids are unique");
  EXPECT_EQ(error_of(head + one + one + one + one + one), "t.yaml:5:3: meshes: 5 meshes; allowed: 1..4");
}

// memory.md section 11: the chain 0 - 1 - 3 - 2.
TEST(Reader, Interlinks) {
  const auto machine = [](const std::vector<std::pair<unsigned, std::string>>& meshes) {
    std::string text = "version: 1\nname: x\nclock_mhz: 300\nmeshes:\n";
    for (const auto& [id, interlink] : meshes)
      text += "  - id: " + std::to_string(id) +
              "\n    units: {m: {kind: memory_port}}\n    grid: [[., ., .], [m, ., .], [., ., .]]\n"
              "    agent: {}\n    dram: {bus_bits: 512, size_mib: 1}\n    interlink: " +
              interlink + "\n";
    return text;
  };
  for (const std::vector<unsigned>& ids :
       std::vector<std::vector<unsigned>>{{0, 1}, {3, 1}, {2, 3}, {0, 1, 3, 2}, {2, 1, 3}}) {
    std::vector<std::pair<unsigned, std::string>> meshes;
    for (const unsigned id : ids) meshes.emplace_back(id, "built");
    for (const Mesh& mesh : read_string(machine(meshes)).meshes) EXPECT_EQ(mesh.interlink, Presence::kBuilt);
  }
  EXPECT_EQ(read_string(machine({{0, "built"}, {1, "built"}, {2, "idle"}})).meshes[2].interlink,
            Presence::kIdle);
  expect_error(
      machine({{1, "@@built"}}),
      "meshes.0.interlink: mesh 1 has no neighbour with an interlink in the chain 0 - 1 - 3 - 2; allowed "
      "alone: absent, idle");
  expect_error(machine({{2, "idle"}, {0, "@@built"}, {1, "absent"}}),
               "meshes.1.interlink: mesh 0 has no neighbour with an interlink in the chain 0 - 1 - 3 - 2; "
               "allowed alone: absent, idle");
  expect_error(machine({{0, "@@built"}, {1, "idle"}, {3, "built"}}),
               "meshes.0.interlink: mesh 0 and mesh 3 are to be linked, but mesh 1 between them in the chain "
               "0 - 1 - 3 "
               "- 2 has no interlink");
  expect_error(machine({{2, "@@built"}, {1, "built"}}),
               "meshes.0.interlink: mesh 2 and mesh 1 are to be linked, but mesh 3 between them in the chain "
               "0 - 1 - 3 - 2 has no interlink");
}

}  // namespace
}  // namespace ktpu::topo::testing
