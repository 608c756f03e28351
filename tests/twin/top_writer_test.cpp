// SPDX-License-Identifier: Apache-2.0
// ktpu-rtlgen: what it writes is the same every time, lint-clean for every machine it takes, and refused in
// words for the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "arch/error.h"
#include "rtl_models/top/file_list.h"
#include "tests/system/process.h"
#include "tlm/sim/random.h"
#include "topologies/reader.h"

namespace ktpu::test {
namespace {

using testing::HasSubstr;

class TopWriter : public Workshop {
 protected:
  // Writes the top of `topology` and lints it.
  void expect_clean(const std::string& topology, bool copy = false) {
    const fs::path out = folder / "top" / fs::path(topology).stem();
    std::vector<std::string> arguments{"-t", topology, "-o", out.string()};
    if (copy) arguments.emplace_back("--copy");
    const Finished written = run("ktpu-rtlgen", arguments);
    ASSERT_EQ(written.status, 0) << topology << ": " << written.err;
    const std::string list = (out / (fs::path(topology).stem().string() + ".f")).string();
    const Finished lint = run(KTPU_VERILATOR, {"--lint-only", "-Wall", copy ? "-F" : "-f", list});
    EXPECT_EQ(lint.status, 0) << topology;
    EXPECT_EQ(lint.err, "") << topology;
  }
  std::string topology(const std::string& name, const std::string& text) const {
    spill(folder / (name + ".yaml"), text);
    return (folder / (name + ".yaml")).string();
  }
  void expect_refused(const std::string& name, const std::vector<std::string>& sets,
                      const std::vector<std::string>& words) const {
    std::vector<std::string> arguments{"-t", name, "-o", "refused"};
    for (const std::string& set : sets) arguments.insert(arguments.end(), {"--set", set});
    const Finished f = run("ktpu-rtlgen", arguments);
    EXPECT_EQ(f.status, 2) << name;
    EXPECT_EQ(f.out, "");
    for (const std::string& word : words) EXPECT_THAT(f.err, HasSubstr(word)) << name;
    EXPECT_FALSE(fs::exists(folder / "refused")) << name << ": files written";
  }
};

// A machine around one kind of endpoint, everything about it random but legal.
std::string random_topology(const std::string& name, const std::string& kind, std::uint64_t seed) {
  sim::Random random(seed);
  const auto power = [&](unsigned lo, unsigned hi) { return 1U << (lo + random.below(hi - lo + 1)); };
  const unsigned columns = 1 + random.below(3), rows = 1 + random.below(3);
  const auto word = [](bool yes, const char* text) { return yes ? text : "."; };
  std::string text = fmt::format("version: 1\nname: {}\nclock_mhz: 300\nmeshes:\n  - grid:\n", name);
  const bool memory = kind != "traffic" && kind != "\"null\"";
  for (unsigned y = 0; y < rows + 2; ++y) {
    text += "      - [";
    for (unsigned x = 0; x < columns + 2; ++x) {
      const bool inside = x >= 1 && x <= columns && y >= 1 && y <= rows;
      const bool corner = (x == 0 || x > columns) && (y == 0 || y > rows);
      std::string cell = ".";
      if (inside)
        cell = x == 1 && y == 1 ? "u" : word(random.below(2) == 0, "u");
      else if (!corner)
        cell = memory && x == 0 && y == 1 ? "m" : word(random.below(3) == 0, "u");
      text += fmt::format("{} {}", x == 0 ? "" : ",", cell);
    }
    text += " ]\n";
  }
  text += fmt::format("    router: {{fifo_depth: {}}}\n    units:\n", power(1, 10));
  std::string unit = fmt::format("kind: {}", kind);
  if (kind == "matmul_cluster")
    unit += fmt::format(", tiles: {}, l1_a: {}, l1_b: {}, inst_depth: {}, recv_depth: {}", power(2, 12),
                        power(2, 9), power(2, 9), power(4, 9), power(4, 9));
  if (kind == "vector_core")
    unit +=
        fmt::format(", l1_words: {}, inst_depth: {}, recv_depth: {}", power(5, 9), power(4, 9), power(4, 9));
  if (kind == "traffic") unit += ", pattern: script";
  if (memory) unit += random.below(2) == 0 ? ", quirks: none" : "";
  if (kind == "memory_port") {
    // A port at the one router's west, the others where the picture has cells; four at most.
    text = text.substr(0, text.find("  - grid:"));
    text +=
        "  - grid:\n      - [ ., ., ., . ]\n      - [ m, c, c, m ]\n      - [ m, c, c, . ]\n      - [ ., m, "
        "., . ]\n";
    text += fmt::format("    router: {{fifo_depth: {}}}\n    units:\n", power(1, 10));
    text += "      c: {kind: \"null\"}\n";
  } else {
    text += fmt::format("      u: {{{}}}\n", unit);
  }
  if (memory) {
    text += "      m: {kind: memory_port}\n";
    text += fmt::format("    agent: {{staging_flits: {}, commands: {}, reads_in_flight: {}}}\n",
                        1 + random.below(128), 1 + random.below(128),
                        random.below(2) == 0 ? 1 : 1 + random.below(64));
    text += fmt::format("    dram: {{model: simple, bus_bits: {}, base: 0, size_mib: 64, wrap: true}}\n",
                        random.below(2) == 0 ? 256 : 512);
    if (random.below(2) == 0) text += "    interlink: idle\n";
    if (random.below(2) == 0) text += "    staging: built\n";
    if (random.below(2) == 0 && text.ends_with("staging: built\n")) text += "    staging_placement: port\n";
    text += random.below(2) == 0 ? "host: {kind: command_engine}\n"
                                 : "host: {kind: script, script: {write_cycles: 3}}\n";
  }
  return text;
}

TEST_F(TopWriter, TheSameEveryTime) {
  for (const char* name : {"mesh8", "reference_small"}) {
    const rtl::Top first = rtl::write_top(topo::read_file(name)),
                   second = rtl::write_top(topo::read_file(name));
    EXPECT_EQ(first.text, second.text);
    EXPECT_EQ(first.module, std::string(name) + "_top");
    // What does not change the hardware does not change the text.
    EXPECT_EQ(rtl::write_top(topo::read_file(name, {"meshes.0.dram.first_read_beat=9"})).text, first.text);
    EXPECT_NE(rtl::write_top(topo::read_file(name, {"meshes.0.router.fifo_depth=16"})).text, first.text);
  }
}

// Sizes, places and quirks of the topology are in the text.
TEST_F(TopWriter, HoldsWhatTheTopologySays) {
  const rtl::Top top = rtl::write_top(
      topo::read_file("mesh8", {"meshes.0.units.mat.tiles=256", "meshes.0.units.mat.quirks=none",
                                "meshes.0.router.fifo_depth=64", "meshes.0.agent.commands=100"}));
  for (const char* text : {"module mesh8_top", ".MaxTiles (256)", ".tile_mask_i (8'd255)",
                           ".quirk_c1_i (1'd0)", ".fifo_depth_i (7'd64)", ".MaxCommands (100)",
                           ".pc_last_i (7'd99)", "num_ports: 3'd2, lanes_log2: 2'd1", "u_router_2_2",
                           "u_vector_3_2", "assign router_2_1_in_data[West] = router_1_1_out_data[East];",
                           ".in_data_i (router_2_2_out_data[South])", "output logic [511:0] dram_w_data_o"})
    EXPECT_THAT(top.text, HasSubstr(text));
  EXPECT_EQ(
      top.summary,
      "4 routers, 8 matmul clusters, 2 vector cores, 2 memory ports, 1 control agent, 1 command engine");
}

// Neighbours of the chain are joined, its ends are tied.
TEST_F(TopWriter, JoinsTheInterlinks) {
  const rtl::Top top = rtl::write_top(topo::read_file("quad"));
  for (const char* text :
       {"assign m1_link_in_valid[0] = m0_link_out_valid[1];",
        "assign m3_link_in_data[1] = m2_link_out_data[0];", "assign m0_link_in_valid[0] = 1'b0;",
        "links: 2'd3, interlink_used: 1'd1, interlink: 1'd1"})
    EXPECT_THAT(top.text, HasSubstr(text));
}

TEST_F(TopWriter, SourcesComeBeforeTheirUsers) {
  const rtl::SourceList list =
      rtl::sources_of({"router", "cluster", "agent", "memory", "command_engine", "vector"});
  const auto at = [&](const char* file) {
    return std::find(list.sources.begin(), list.sources.end(), file) - list.sources.begin();
  };
  EXPECT_EQ(at("ktpu_pkg.sv"), 0);
  EXPECT_LT(at("prim/ktpu_endpoint.sv"), at("cluster/ktpu_cluster.sv"));
  EXPECT_LT(at("vector/ktpu_vector_alu_pkg.sv"), at("vector/ktpu_vector_alu.sv"));
  EXPECT_LT(static_cast<std::size_t>(at("memory/ktpu_memory.sv")), list.sources.size());
  for (const std::string& file : list.sources) EXPECT_TRUE(fs::exists(rtl::rtl_folder() / file)) << file;
  for (const std::string& file : list.waivers) EXPECT_TRUE(fs::exists(rtl::rtl_folder() / file)) << file;
}

// Each waiver has its reason above it and its line in the table of rtl_models/README.md.
TEST_F(TopWriter, WaiversAreListedWithReasons) {
  std::vector<std::string> table;
  std::istringstream readme(slurp(rtl::rtl_folder() / "README.md"));
  for (std::string line; std::getline(readme, line);) table.push_back(line);
  const std::regex waiver(R"re(lint_off -rule (\w+) -file "\*/([^"]+)".*)re");
  unsigned found = 0;
  for (const fs::directory_entry& block : fs::directory_iterator(rtl::rtl_folder())) {
    std::istringstream file(slurp(block.path() / "lint_waiver.vlt"));
    bool reason = false;
    std::smatch match;
    for (std::string line; std::getline(file, line);) {
      if (!std::regex_match(line, match, waiver)) {
        reason = line.starts_with("//");
        continue;
      }
      ++found;
      EXPECT_TRUE(reason) << block.path() << ": " << line;
      const std::string rule = match[1], where = match[2];
      const std::string row = fmt::format(
          "| {} | `{}` |", rule == "SYNCASYNCNET" ? "all" : block.path().filename().string(), rule);
      EXPECT_TRUE(std::any_of(table.begin(), table.end(),
                              [&](const std::string& text) {
                                return text.starts_with(row) &&
                                       (rule == "SYNCASYNCNET" ||
                                        text.find("`" + where + "`") != std::string::npos);
                              }))
          << block.path() << ": " << line << " is not in the table: " << row;
    }
  }
  EXPECT_GT(found, 15u);
}

TEST_F(TopWriter, RefusesInWords) {
  expect_refused("cdc", {}, {"cdc.yaml:", "cluster@1,0", "no RTL of clock crossings"});
  expect_refused("mesh1", {"meshes.0.units.mat.acc_mw=12"},
                 {"mesh1.yaml:17:7: cluster@1,1", "14 bits, acc_mw is 12"});
  expect_refused("mesh1", {"meshes.0.router.fifo_latency=4"},
                 {"mesh 0", "fifo_latency and fifo_extra are 4 and 2"});
  expect_refused("staged", {}, {"staged.yaml:", "cluster@1,0", "no RTL of the staging adapter"});
  expect_refused("nosuch", {}, {"nosuch"});
  EXPECT_EQ(run("ktpu-rtlgen", {}).status, 2);
}

TEST_F(TopWriter, SaysWhatItCannotWrite) {
  spill(folder / "file", "");
  const Finished f = run("ktpu-rtlgen", {"-t", "mesh1", "-o", "file"});
  EXPECT_EQ(f.status, 2);
  EXPECT_THAT(f.err, HasSubstr("file: can't be made"));
}

TEST_F(TopWriter, LintMesh1) { expect_clean("mesh1"); }
TEST_F(TopWriter, LintReferenceSmall) { expect_clean("reference_small"); }
TEST_F(TopWriter, LintMesh8) { expect_clean("mesh8"); }
TEST_F(TopWriter, LintQuad) { expect_clean("quad"); }
TEST_F(TopWriter, LintNoc3x3) { expect_clean("noc3x3"); }
TEST_F(TopWriter, LintOfACopyThatWasMoved) {
  ASSERT_EQ(run("ktpu-rtlgen", {"-t", "mesh1", "-o", "one", "--copy"}).status, 0);
  fs::rename(folder / "one", folder / "two");
  const Finished lint = run(KTPU_VERILATOR, {"--lint-only", "-Wall", "-F", "two/mesh1.f"});
  EXPECT_EQ(lint.status, 0) << lint.err;
}

// One random machine a kind; the nightly run takes more of them.
class RandomTops : public TopWriter, public testing::WithParamInterface<const char*> {};
TEST_P(RandomTops, LintClean) {
  const char* many = std::getenv("KTPU_RANDOM_TOPS");
  const unsigned count = many == nullptr ? 1 : static_cast<unsigned>(std::atoi(many));
  for (unsigned seed = 1; seed <= count; ++seed) {
    const std::string name = fmt::format("random{}", seed), text = random_topology(name, GetParam(), seed);
    SCOPED_TRACE(text);
    expect_clean(topology(name, text));
  }
}
INSTANTIATE_TEST_SUITE_P(Kinds, RandomTops,
                         testing::Values("matmul_cluster", "vector_core", "memory_port", "traffic",
                                         "\"null\""));

}  // namespace
}  // namespace ktpu::test
