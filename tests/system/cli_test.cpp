// SPDX-License-Identifier: Apache-2.0
// ktpu-sim as a process: every flag, and what a run gives.
#include "tests/system/cli.h"

#include <nlohmann/json.hpp>

namespace ktpu::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// --- User report 25: every flag once.

TEST_F(Cli, UserReport25EveryFlagWorks) {
  const std::vector<std::vector<std::string>> lines{
      {"-t", "mesh1", worked},
      {"--topology", "mesh1.yaml", worked},
      {"-t", std::string(KTPU_SOURCE_DIR) + "/topologies/mesh1.yaml", worked},
      {"-t", "mesh1", worked, "--set", "meshes.0.dram.first_read_beat=9"},
      {"-t", "mesh1", worked, "--set", "meshes.0.dram.first_read_beat=9", "--set", "clock_mhz=200"},
      {"-t", "mesh1", worked, "--impl", "router=model"},
      {"-t", "mesh1", worked, "--out", "c=c.npy"},
      {"-t", "mesh1", worked, "--dump", "0x4000:64"},
      {"-t", "mesh1", worked, "--dump", "16384:64:d.bin"},
      {"-t", "mesh1", worked, "--stats", "s.json"},
      {"-t", "mesh1", worked, "--stats", "s.csv"},
      {"-t", "mesh1", worked, "--stats", "s.json", "--history", "*.credit", "--history", "*_fifo.count"},
      {"-t", "mesh1", worked, "--zeros"},
      {"-t", "mesh1", worked, "--table"},
      {"-t", "mesh1", worked, "--strict"},
      {"-t", "mesh1", worked, "--quiet"},
      {"-t", "mesh1", worked, "-q"},
      {"-t", "mesh1", worked, "--vcd", "w.vcd"},
      {"-t", "mesh1", worked, "--vcd", "w.vcd", "--vcd-scope", "cluster@1,1.*"},
      {"-t", "mesh1", worked, "--vcd", "w.vcd", "--vcd-from", "100", "--vcd-to", "200"},
      {"-t", "mesh1", worked, "--vcd", "w.vcd", "--vcd-limit", "1"},
      {"-t", "mesh1", worked, "--vcd", "w.vcd", "--wave-on-error", "50"},
      {"-t", "mesh1", worked, "--elaborate-only"},
      {"-t", "mesh1", "--elaborate-only"},
      {"-t", "mesh1", "--print-topology"},
      {"--list-topologies"},
      {"--explain", "4"},
      {"-t", "mesh1", worked, "--max-cycles", "100000"},
      {"-t", "mesh1", worked, "--watchdog", "5000"},
      {"-t", "mesh1", worked, "--no-idle-skip"},
      {"-t", "mesh1", worked, "--no-simd"},
      {"-t", "mesh1", worked, "--no-lint"},
      {"-t", "mesh1", worked, "--no-check"},
      {"-t", "mesh1", worked, "--watch-mem", "0x4000:32"},
      {"--explain", "fill-count"},
      {"--help"},
      {"-h"},
  };
  for (const auto& line : lines) {
    std::string text;
    for (const std::string& a : line) text += a + " ";
    const Finished f = sim(line);
    EXPECT_EQ(f.status, 0) << text << f.err;
    EXPECT_THAT(f.err, Not(HasSubstr("SystemC"))) << text;
  }
}

TEST_F(Cli, HelpNamesEveryFlagAndExitStatus) {
  const Finished f = sim({"--help"});
  for (const char* flag : {"--topology",
                           "--set",
                           "--impl",
                           "--in",
                           "--out",
                           "--expect",
                           "--atol",
                           "--rtol",
                           "--dump",
                           "--stats",
                           "--history",
                           "--zeros",
                           "--quiet",
                           "--vcd",
                           "--vcd-scope",
                           "--vcd-from",
                           "--vcd-to",
                           "--vcd-limit",
                           "--wave-on-error",
                           "--elaborate-only",
                           "--print-topology",
                           "--list-topologies",
                           "--explain",
                           "--max-cycles",
                           "--watchdog",
                           "--no-idle-skip",
                           "--no-simd",
                           "Exit status"})
    EXPECT_THAT(f.out, HasSubstr(flag));
}

TEST_F(Cli, QuietPrintsNothing) {
  const Finished f = sim({"-t", "mesh1", worked, "-q"});
  EXPECT_EQ(f.out, "");
  EXPECT_EQ(f.err, "");
}

TEST_F(Cli, ListedTopologiesElaborate) {
  const Finished list = sim({"--list-topologies"});
  std::istringstream names(list.out);
  unsigned count = 0;
  for (std::string name; std::getline(names, name); ++count)
    EXPECT_EQ(sim({"-t", name, "--elaborate-only"}).status, 0) << name;
  EXPECT_GE(count, 7u);
}

TEST_F(Cli, PrintTopologyRoundTrips) {
  for (const char* name : {"mesh1", "mesh8", "reference_small", "noc3x3"}) {
    const Finished first = sim({"-t", name, "--print-topology"});
    spill(folder / "again.yaml", first.out);
    const Finished second = sim({"-t", "again.yaml", "--print-topology"});
    EXPECT_EQ(second.status, 0) << second.err;
    EXPECT_EQ(second.out, first.out) << name;
  }
}

TEST_F(Cli, TopologyIsFoundHereFirstThenAmongTheShipped) {
  spill(folder / "mesh1.yaml", sim({"-t", "mesh8", "--print-topology"}).out);
  EXPECT_THAT(sim({"-t", "mesh1", "--print-topology"}).out, HasSubstr("name: mesh8"));
}

TEST_F(Cli, RunsFromAnyFolder) {
  fs::create_directories(folder / "deep" / "er");
  EXPECT_EQ(sim({"-t", "mesh1", worked, "-q", "--stats", "s.json"}, folder / "deep" / "er").status, 0);
  EXPECT_TRUE(fs::exists(folder / "deep" / "er" / "s.json"));
  EXPECT_EQ(sim({"-t", "mesh1", worked, "-q"}, "/").status, 0);
}

// --- Results

TEST_F(Cli, InOutAndExpect) {
  const plain::Halves a = ramp(5), b = ramp(6), c = plain::matmul(a, b, 32, 32, 128);
  spill(folder / "a.npy", npy(a, "(32, 128)"));
  spill(folder / "b.npy", npy(b, "(32, 128)"));
  spill(folder / "right.npy", npy(c, "(32, 32)"));
  const std::vector<std::string> common{"-t", "mesh1", worked, "-q", "--in", "a=a.npy", "--in", "b=b.npy"};
  auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> line = common;
    line.insert(line.end(), more.begin(), more.end());
    return sim(line);
  };
  EXPECT_EQ(with({"--out", "c=c.npy"}).status, 0);
  EXPECT_EQ(slurp(folder / "c.npy"), npy(c, "(32, 32)")) << "NumPy's own bytes";
  EXPECT_EQ(with({"--expect", "c=right.npy"}).status, 0);

  plain::Halves wrong = c;
  wrong[37] = static_cast<std::uint16_t>(wrong[37] ^ 1);
  spill(folder / "wrong.npy", npy(wrong, "(32, 32)"));
  const Finished f = with({"--expect", "c=wrong.npy", "--stats", "s.json"});
  EXPECT_EQ(f.status, 1);
  EXPECT_THAT(f.err, AllOf(HasSubstr("expect c"), HasSubstr("1 of 1024 elements differ"), HasSubstr("[37]")));
  EXPECT_TRUE(fs::exists(folder / "s.json")) << "the run itself was fine";
  EXPECT_EQ(with({"--expect", "c=wrong.npy", "--rtol", "0.01"}).status, 0);
  EXPECT_EQ(with({"--expect", "c=wrong.npy", "--atol", "100"}).status, 0);
  plain::Halves nan = c;
  nan[3] = 0x7E00;
  spill(folder / "nan.npy", npy(nan, "(32, 32)"));
  EXPECT_EQ(with({"--expect", "c=nan.npy", "--atol", "1e9"}).status, 1) << "NaN is never near a number";
}

TEST_F(Cli, DumpShowsTheBytesOfMemory) {
  EXPECT_EQ(sim({"-t", "mesh1", worked, "-q", "--dump", "0x4000:2048:c.bin"}).status, 0);
  const std::string bytes = slurp(folder / "c.bin");
  const auto c = plain::from_tiles({bytes.begin(), bytes.end()}, 1, 1, 8, 8);
  EXPECT_EQ(c, plain::matmul(plain::lcg(4096, 139, 10), plain::lcg(4096, 151, 10), 32, 32, 128));
  const Finished f = sim({"-t", "mesh1", worked, "-q", "--dump", "0x4000:4"});
  char text[64];
  std::snprintf(text, sizeof text, "0000004000: %02x%02x %02x%02x\n", bytes[0] & 255, bytes[1] & 255,
                bytes[2] & 255, bytes[3] & 255);
  EXPECT_EQ(f.out, text);
  EXPECT_THAT(sim({"-t", "mesh1", worked, "-q", "--dump", "0x4000:33"}).out, HasSubstr("\n0000004020: "));
}

TEST_F(Cli, StatsHoldTheManifestAndEveryFigureItsMeaning) {  // user reports 5, 22, 23, 24
  EXPECT_EQ(
      sim({"-t", "mesh1", worked, "-q", "--stats", "s.json", "--set", "meshes.0.dram.first_read_beat=7"})
          .status,
      0);
  const auto json = nlohmann::json::parse(slurp(folder / "s.json"));
  const auto& manifest = json.at("manifest");
  EXPECT_EQ(manifest.at("machine"), "mesh1");
  EXPECT_EQ(manifest.at("set"), "meshes.0.dram.first_read_beat=7");
  EXPECT_THAT(manifest.at("topology").get<std::string>(), HasSubstr("first_read_beat: 7"));
  for (const char* key : {"fingerprint", "program", "program_hash", "version"})
    EXPECT_TRUE(manifest.contains(key)) << key;
  EXPECT_EQ(json.at("violations").size(), 0u);
  EXPECT_GT(json.at("statistics").size(), 100u);
  for (const auto& [name, row] : json.at("statistics").items()) {
    EXPECT_FALSE(row.at("unit").get<std::string>().empty()) << name;
    EXPECT_FALSE(row.at("sentence").get<std::string>().empty()) << name;
    EXPECT_FALSE(row.at("source").get<std::string>().empty()) << name;
  }
}

TEST_F(Cli, Explain) {
  EXPECT_THAT(sim({"--explain", "4"}).out, HasSubstr("no_progress"));
  EXPECT_THAT(sim({"--explain", "C1"}).out, HasSubstr("C1"));
  EXPECT_THAT(sim({"--explain", "O1"}).out, HasSubstr("NODE_STATUS"));
  const Finished f =
      sim({"-t", "mesh1", "--explain", "memory.agent.dispatched", "--explain", "stalled_cycles"});
  EXPECT_EQ(f.status, 0) << f.err;
  EXPECT_THAT(f.out, AllOf(HasSubstr("flits"), HasSubstr("dispatcher"), HasSubstr("cycles")));
  for (int status = 0; status <= 7; ++status) EXPECT_EQ(sim({"--explain", std::to_string(status)}).status, 0);
  EXPECT_EQ(sim({"--explain", "70"}).status, 0);
  expect_refused({"--explain", "dispached"}, {"dispached"});
  expect_refused({"-t", "mesh1", "--explain", "memory.agent.dispached"}, {"memory.agent.dispatched"});
}

}  // namespace
}  // namespace ktpu::test
