// SPDX-License-Identifier: Apache-2.0
// print_resolved reads back to an equal machine; fingerprints follow the machine and nothing else.
#include "topologies/writer.h"

#include <random>

#include "tests/unit/topologies/helpers.h"

namespace ktpu::topo::testing {
namespace {

void expect_round_trip(const Machine& m) {
  const std::string text = print_resolved(m);
  Machine again;
  try {
    again = read_string(text, "printed");
  } catch (const arch::UserError& e) {
    FAIL() << e.what() << "\n" << text;
  }
  EXPECT_EQ(m, again) << text;
  EXPECT_EQ(text, print_resolved(again));
  EXPECT_EQ(fingerprint(m), fingerprint(again));
}

TEST(Writer, ShippedMachinesRoundTrip) {
  for (const std::string& name : shipped_names()) {
    SCOPED_TRACE(name);
    expect_round_trip(read_file(name));
  }
}

TEST(Writer, EveryKeyRoundTrips) {
  const std::string nodes = R"(    nodes:
      cluster@2,1: {tiles: 64, l1_a: 16, port: 1, adapter: none, impl: pins, quirks: none}
      router@1,2: {impl: rtl}
      traffic@3,2: {pattern: script, rate: 0, busy: {period: 8, duty: 3, offset: 5}}
    staging: built
    staging_placement: port
    interlink: idle
)";
  std::string text = with(kGood, "    agent:", nodes + "    agent:");
  text = with(text, "{kind: matmul_cluster, tiles: 256}",
              "{kind: matmul_cluster, tiles: 256, acc_mw: 16, recv_depth: 64, adapter: {lines: 64}}");
  text = with(text, "{kind: traffic}",
              "{kind: traffic, pattern: hotspot, hotspot: \"1,3\", rate: 0.1, hotspot_share: 0.3, busy: "
              "{runs: [4, 0, 7]}}");
  text = with(text, "[ .,   .,   .,   .   ]", "[ .,   src, nul, .   ]");
  text = with(text, "      vec:", "      nul: {kind: null}\n      vec:");
  text = with(text, "size_mib: 64}", "size_bytes: 65600, read_gaps: [1, 0, 3], write_response: 7}");
  text = with(text, "{staging_flits: 128, commands: 128}",
              "{staging_flits: 7, commands: 9, reads_in_flight: 16}");
  text = with(text, "{fifo_depth: 64}", "{fifo_depth: 64, fifo_latency: 1, fifo_extra: 0, impl: lockstep}");
  text = with(text, "{kind: command_engine}", "{script: {write_cycles: 5, read_cycles: 4, start_cycles: 0}}");
  expect_round_trip(read_string(text));
  expect_round_trip(read_string(with(kGood, "{staging_flits: 128, commands: 128}",
                                     "{control_agent: {impl: rtl}, command_engine: {impl: lockstep}}")));
  expect_round_trip(read_string(with(
      kGood, "{staging_flits: 128, commands: 128}",
      "{control_agent: {impl: {rtl: /x/a.sv, top: mine}}, command_engine: {impl: {lockstep: /x/e.so}}}")));
  expect_round_trip(read_string(with(text, "model: simple, bus_bits: 512",
                                     "model: banked, bus_bits: 256, banks: 8, bytes_per_cycle: 12.8")
                                    .replace(0, 0, ""),
                                "t",
                                {"meshes.0.dram={model: banked, bus_bits: 256, size_mib: 3, banks: 8, "
                                 "bytes_per_cycle: 12.8, row_hit: 1}"}));
}

// Random machines: any picture, any values. Prints its seed.
TEST(Writer, RandomMachinesRoundTrip) {
  const unsigned seed = 20240611;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  for (int round = 0; round < 100; ++round) {
    const unsigned columns = 1 + below(5), rows = 1 + below(5);
    std::vector<std::string> shown{"mem"};
    std::string grid;
    for (unsigned y = 0; y < rows + 2; ++y) {
      grid += "      - [";
      for (unsigned x = 0; x < columns + 2; ++x) {
        const bool corner = (x == 0 || x == columns + 1) && (y == 0 || y == rows + 1);
        std::string cell = corner ? "." : std::vector<std::string>{".", "a", "b", "v", "t"}[below(5)];
        if (x == 0 && y == 1) cell = "mem";
        shown.push_back(cell);
        grid += cell + ", ";
      }
      grid += "]\n";
    }
    const auto has = [&](const std::string& s) {
      return std::find(shown.begin(), shown.end(), s) != shown.end();
    };
    std::string text = "version: 1\nname: r\nclock_mhz: " + std::to_string(1 + below(1000)) +
                       ".25\nmeshes:\n  - grid:\n" + grid + "    units:\n      mem: {kind: memory_port}\n";
    const auto depth = [&] { return std::to_string(1u << below(10)); };
    if (has("a"))
      text += "      a: {kind: matmul_cluster, tiles: " + depth() + ", inst_depth: " + depth() + "}\n";
    if (has("b")) text += "      b: {kind: matmul_cluster, adapter: {lines: 64}, quirks: none, impl: rtl}\n";
    if (has("v")) text += "      v: {kind: vector_core, l1_words: " + std::to_string(1 + below(512)) + "}\n";
    if (has("t"))
      text += "      t: {kind: traffic, pattern: transpose, rate: 0." + std::to_string(below(1000)) +
              ", seed: " + std::to_string(random()) + "}\n";
    text += "    agent: {}\n    dram: {bus_bits: 256, size_mib: 1, first_read_beat: " +
            std::to_string(1 + below(99)) + "}\n";
    Machine m = read_string(text);
    for (Node& node : m.meshes[0].nodes) {
      node.impl = static_cast<Impl>(below(4));
      if (auto* traffic = std::get_if<Traffic>(&node.params)) traffic->busy.runs = {below(9), below(9)};
      if (auto* cluster = std::get_if<MatmulCluster>(&node.params)) cluster->l1_b = 2u << below(9);
    }
    for (Router& router : m.meshes[0].routers) router.impl = static_cast<Impl>(below(4));
    expect_round_trip(m);
    if (HasFailure()) return;
  }
}

TEST(Writer, FingerprintsAreStable) {
  // Known numbers: a change here changes the identity of every stored result and program.
  EXPECT_EQ(fingerprint(read_file("mesh1")), 0x570124e7078fc6feull);
  EXPECT_EQ(program_fingerprint(read_file("mesh1")), 0xc87eb7e172f9ae50ull);
}

TEST(Writer, FingerprintsFollowTheMachine) {
  const Machine m = read_string(kGood);
  Machine other = m;
  other.meshes[0].dram->simple.write_response = 2;
  EXPECT_NE(fingerprint(m), fingerprint(other));
  EXPECT_EQ(program_fingerprint(m), program_fingerprint(other));
  other = m;
  apply_impl(other, "router=rtl");
  EXPECT_NE(fingerprint(m), fingerprint(other));
  EXPECT_EQ(program_fingerprint(m), program_fingerprint(other));
  other = m;
  std::get<MatmulCluster>(other.meshes[0].nodes[2].params).tiles = 512;
  EXPECT_NE(fingerprint(m), fingerprint(other));
  EXPECT_NE(program_fingerprint(m), program_fingerprint(other));
}

TEST(Writer, SaysWhichPortServesWhom) {
  EXPECT_NE(print_resolved(read_string(kGood)).find("# memory port 1 at (0,2) serves: cluster@1,2\n"),
            std::string::npos);
}

}  // namespace
}  // namespace ktpu::topo::testing
