// SPDX-License-Identifier: Apache-2.0
// What users of such tools complain about, tried on the real process. The numbers are those of the list of
// reports. Numbers that are not here are tested where the feature is: 15 in diagnosis_test.cpp, 24 and 25 in
// cli_test.cpp; 12 has no feature yet.
#include <pty.h>
#include <sys/resource.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/support/vcd_reader.h"
#include "tests/system/cli.h"

namespace ktpu::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class UserReport : public Cli {
 protected:
  // mesh1 as it is shipped, with one piece of text replaced.
  std::string altered(const std::string& from, const std::string& to) {
    std::string text = slurp(fs::path(KTPU_SOURCE_DIR) / "topologies" / "mesh8.yaml");
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
    spill(folder / "m.yaml", text);
    return "m.yaml";
  }
  // Refused before cycle 0 with "m.yaml:LINE:COLUMN: " and the words.
  void expect_refused_at_place(const std::string& file, const std::vector<std::string>& words) {
    const Finished f = sim({"-t", file, "--elaborate-only"});
    EXPECT_EQ(f.status, 2) << f.err;
    EXPECT_TRUE(std::regex_search(f.err, std::regex("m\\.yaml:[0-9]+:[0-9]+: "))) << f.err;
    for (const std::string& word : words) EXPECT_THAT(f.err, HasSubstr(word));
  }
};

TEST_F(UserReport, R01_ANodeThatIsGoneIsNamedWithTheValidOnes) {
  expect_refused_at_place(altered("units:", "units:\n      gone: {kind: null}"), {"gone"});
  const Finished f = sim({"-t", "mesh8", "--impl", "cluster@7,7=model", "--elaborate-only"});
  EXPECT_EQ(f.status, 2);
  EXPECT_THAT(f.err, AllOf(HasSubstr("cluster@7,7"), HasSubstr("cluster@1,1")));
}

TEST_F(UserReport, R02_AMissingOrMisspeltKeyIsNamedWithAHint) {
  expect_refused_at_place(altered("fifo_depth", "fifo_dept"), {"fifo_dept", "did you mean", "fifo_depth"});
  expect_refused_at_place(altered("grid:", "gird:"), {"gird"});
}

TEST_F(UserReport, R03_SettingsThatMustAgreeAreCheckedAndNamed) {
  expect_refused_at_place(altered("bus_bits: 512", "bus_bits: 384"), {"bus_bits", "256", "512"});
  expect_refused_at_place(altered("[ ., ", "[ "), {"grid"});  // one row is shorter than the others
}

TEST_F(UserReport, R04_EveryShippedTopologyAndExampleRuns) {
  const Finished list = sim({"--list-topologies"});
  std::istringstream names(list.out);
  unsigned count = 0;
  for (std::string name; std::getline(names, name); ++count) {
    const Finished f = sim({"-t", name, "--max-cycles", "300", "-q"});
    EXPECT_TRUE(f.status == 0 || f.status == 5) << name << ": " << f.err;
  }
  EXPECT_GE(count, 7u);
}

TEST_F(UserReport, R05_AnOverrideThatNothingReadsIsAnErrorAndTheResolvedMachineIsStored) {
  expect_refused({"-t", "mesh1", worked, "--set", "meshes.0.dram.first_read_beet=80"},
                 {"--set", "first_read_beet", "first_read_beat"});
  EXPECT_THAT(sim({"-t", "mesh1", "--set", "meshes.0.dram.first_read_beat=80", "--print-topology"}).out,
              HasSubstr("first_read_beat: 80"));
  EXPECT_EQ(
      sim({"-t", "mesh1", worked, "-q", "--set", "meshes.0.dram.first_read_beat=80", "--stats", "s.json"})
          .status,
      0);
  EXPECT_THAT(slurp(folder / "s.json"), HasSubstr("first_read_beat: 80"));
}

TEST_F(UserReport, R06_AMisspeltEnumerationValueIsRefused) {
  expect_refused_at_place(altered("kind: vector_core", "kind: vector_cor"), {"vector_cor", "vector_core"});
  expect_refused({"-t", "mesh1", worked, "--set", "meshes.0.dram.model=simpel"},
                 {"simpel", "simple", "banked"});
  expect_refused({"-t", "mesh1", worked, "--impl", "router=modle"}, {"modle", "model"});
}

TEST_F(UserReport, R07_APathInAFileIsRelativeToThatFile) {
  fs::create_directories(folder / "a" / "b");
  spill(folder / "a" / "b" / "clock.yaml", "clock_mhz: 250\n");
  std::string text = slurp(fs::path(KTPU_SOURCE_DIR) / "topologies" / "mesh1.yaml");
  text = std::regex_replace(text, std::regex("(^|\n)clock_mhz:[^\n]*"), "\ninclude: b/clock.yaml");
  spill(folder / "a" / "m.yaml", text);
  const Finished f = sim({"-t", "a/m.yaml", "--print-topology"});  // from another folder
  EXPECT_EQ(f.status, 0) << f.err;
  EXPECT_THAT(f.out, HasSubstr("250"));
}

TEST_F(UserReport, R08_WhatIsNotBuiltInIsNamedWithItsOption) {
  const Finished f = sim({"-t", "mesh1", worked, "-q", "--impl", "router=rtl"});
  if (f.status != 0) {
    EXPECT_EQ(f.status, 2) << f.err;
    EXPECT_THAT(f.err, HasSubstr("KTPU_RTL"));
  }
  // What no build has is refused by name, too.
  expect_refused({"-t", "mesh1", worked, "--impl", "cluster@1,1=pins"}, {"cluster@1,1", "pins"});
}

// The smallest case to the cycle, against the formula in docs/reading-results.md. All shapes:
// system_attribution.
TEST_F(UserReport, R09_TheSmallestSweepMeetsItsFormula) {
  spill(folder / "one.kasm",
        "machine \"mesh1\" meshes=1 staging=4\n"
        "image 0x0 tensor [32,128] layout=entry:8x4 seed=139 shift=10 mesh=0\n"
        "image 0x2000 tensor [32,128] layout=entry:8x4 seed=151 shift=10 mesh=0\n"
        "round \"r\" mesh=0\n baseline (1,1) mesh=0\n"
        "stage 0 mesh=0 {\n fill a n=32 from=0x0\n fill b n=32 from=0x2000\n gemm gm=1 gn=1 nk=1 last\n}\n"
        " credit 32 mesh=0\nkick (1,1) slots=0..2 mesh=0\nawait (1,1) 3 mesh=0\n");
  ASSERT_EQ(run("ktpu-asm", {"one.kasm", "-o", "one.bin"}).status, 0);
  ASSERT_EQ(sim({"-t", "mesh1", "one.bin", "-q", "--stats", "s.json"}).status, 0);
  const auto json = nlohmann::json::parse(slurp(folder / "s.json"));
  const auto cycles = [&](const std::string& state) {
    return json["statistics"]["cluster@1,1.sweep.cycles." + state]["value"].get<unsigned>();
  };
  EXPECT_EQ(cycles("issuing"), 1u);
  EXPECT_EQ(cycles("pacing"), 0u);
  EXPECT_EQ(cycles("accumulating"), 31u);
  const std::string docs = slurp(fs::path(KTPU_SOURCE_DIR) / "docs" / "reading-results.md");
  EXPECT_THAT(docs,
              AllOf(HasSubstr("| sweep, `issuing` | N = gm * gn * nk |"), HasSubstr("`accumulating` | 31")));
}

// Causes one by one: system_attribution, UnlimitedResource.
TEST_F(UserReport, R10_NoStallWithoutItsCause) {
  const auto blocked = [&](const std::string& depth) {
    const Finished f = sim({"-t", "noc3x3", "-q", "--max-cycles", "3000", "--stats", "s.json", "--set",
                            "meshes.0.router.fifo_depth=" + depth, "--set",
                            "meshes.0.units.t={kind: traffic, pattern: uniform, rate: 1, seed: 9}"});
    EXPECT_EQ(f.status, 5) << f.err;
    std::uint64_t sum = 0;
    const auto json = nlohmann::json::parse(slurp(folder / "s.json"));
    for (const auto& [name, row] : json["statistics"].items())
      if (name.ends_with(".cycles.blocked")) sum += row["value"].get<std::uint64_t>();
    return sum;
  };
  EXPECT_EQ(blocked("8192"), 0u);
  EXPECT_GT(blocked("2"), 0u);
}

TEST_F(UserReport, R11_WhatIsInFlightAtTheEndIsCounted) {
  for (const char* limit : {"57", "800", "2345"}) {
    const Finished f = sim({"-t", "noc3x3", "-q", "--max-cycles", limit, "--stats", "s.json", "--set",
                            "meshes.0.units.t={kind: traffic, pattern: uniform, rate: 0.7, seed: 4}"});
    EXPECT_EQ(f.status, 5) << f.err;
    const auto json = nlohmann::json::parse(slurp(folder / "s.json"));
    EXPECT_TRUE(json["violations"].empty());  // in flight included: flits_conserved of every router
    std::uint64_t sent = 0, delivered = 0, lost = 0;
    for (const auto& [name, row] : json["statistics"].items()) {
      if (!row["value"].is_number_unsigned()) continue;
      const auto value = row["value"].get<std::uint64_t>();
      if (name.starts_with("traffic@") && name.ends_with(".injected")) sent += value;
      if (name.starts_with("traffic@") && name.ends_with(".delivered")) delivered += value;
      if (name.starts_with("router@") && name.ends_with(".lost")) lost += value;
    }
    EXPECT_GT(sent, delivered + lost);
  }
  // A run to the end is drained: nothing is left in flight.
  const Finished f =
      sim({"-t", "noc3x3", "-q", "--stats", "s.json", "--set",
           "meshes.0.units.t={kind: traffic, pattern: uniform, rate: 0.7, seed: 4, flits: 60}"});
  EXPECT_EQ(f.status, 0) << f.err;
  const auto json = nlohmann::json::parse(slurp(folder / "s.json"));
  std::uint64_t sent = 0, delivered = 0;
  for (const auto& [name, row] : json["statistics"].items()) {
    if (name.starts_with("traffic@") && name.ends_with(".injected"))
      sent += row["value"].get<std::uint64_t>();
    if (name.starts_with("traffic@") && name.ends_with(".delivered"))
      delivered += row["value"].get<std::uint64_t>();
  }
  EXPECT_EQ(sent, delivered);
  EXPECT_GT(sent, 1000u);
}

TEST_F(UserReport, R13_LimitsAreInOneUnitWithItsName) {
  const Finished f = sim({"-t", "mesh1", worked, "-q", "--max-cycles", "1000"});
  EXPECT_EQ(f.status, 5);
  EXPECT_THAT(f.err, AllOf(HasSubstr("1000"), HasSubstr("cycle")));
  expect_refused({"-t", "mesh1", worked, "--max-cycles", "10us"}, {"--max-cycles"});
  expect_refused({"-t", "mesh1", worked, "--watchdog", "1e3"}, {"--watchdog"});
  expect_refused({"-t", "mesh1", worked, "--set", "clock=300"}, {"clock", "clock_mhz"});
  const std::string help = sim({"--help"}).out;
  EXPECT_THAT(help, AllOf(HasSubstr("--max-cycles"), HasSubstr("cycles"), HasSubstr("MiB")));
}

TEST_F(UserReport, R14_TheSameConfigurationTwiceGivesEqualBytes) {
  const auto report = [&](const std::vector<std::string>& more) {
    std::vector<std::string> line{"-t", "noc8x8", "--max-cycles", "400", "--stats", "s.json"};
    line.insert(line.end(), more.begin(), more.end());
    const Finished f = sim(line);
    EXPECT_EQ(f.status, 5) << f.err;
    return f.out + slurp(folder / "s.json");
  };
  const std::string first = report({});
  EXPECT_EQ(first, report({}));
  EXPECT_THAT(first, HasSubstr("seed: "));  // stored with the result
  EXPECT_NE(first, report({"--set", "meshes.0.units.t.seed=77"}));
}

TEST_F(UserReport, R16_WhatDoesNotFitIsSaidWithPlaceAndCapacity) {
  expect_refused({"-t", "mesh1", worked, "--set", "meshes.0.units.mat.tiles=16"},
                 {"tiles 64", "(1,1)", "mesh1"});
  expect_refused({"-t", "mesh1", worked, "--set", "meshes.0.agent.staging_flits=2"}, {"staging", "2"});
}

TEST_F(UserReport, R17_ALongRunShowsProgressOnATerminalAndStaysSmall) {
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  ASSERT_GE(child, 0);
  if (child == 0) {
    execl((std::string(KTPU_BIN_DIR) + "/ktpu-sim").c_str(), "ktpu-sim", "-t", "noc8x8", "-q", "--max-cycles",
          "4000000000", nullptr);
    _exit(127);
  }
  std::string text;
  for (char part[256];
       text.find("Mcycles/s") == std::string::npos;) {  // else the run's end, or CTest's limit
    const ssize_t n = read(terminal, part, sizeof part);
    if (n <= 0) break;
    text.append(part, static_cast<std::size_t>(n));
  }
  kill(child, SIGKILL);
  rusage usage{};
  int status = 0;
  wait4(child, &status, 0, &usage);
  close(terminal);
  EXPECT_TRUE(std::regex_search(text, std::regex("[0-9.]+ Mcycles, [0-9.]+ Mcycles/s"))) << text;
  EXPECT_LT(usage.ru_maxrss, 300 * 1024) << "KiB";
}

TEST_F(UserReport, R18_LockStepNamesTheFirstDifferenceAndExits6) {
  const Finished f = run("ktpu-sim-faulty", {"-t", "mesh1", worked, "-q", "--impl", "router=lockstep",
                                             "--vcd", "w.vcd", "--wave-on-error", "100"});
  EXPECT_EQ(f.status, 6) << f.err;
  EXPECT_THAT(f.err, AllOf(HasSubstr("router@1,1"), HasSubstr("cycle"), HasSubstr("expected"),
                           HasSubstr("got"), HasSubstr("The last cycles")));
  const VcdReader vcd = VcdReader::from_file((folder / "w.vcd").string());
  EXPECT_GT(vcd.total_changes(), 0u);
  EXPECT_EQ(run("ktpu-sim-faulty", {"-t", "mesh1", worked, "-q"}).status, 0);
}

TEST_F(UserReport, R19_WavesHaveAScopeAWindowAnEstimateALimitAndARing) {
  const Finished f = sim({"-t", "mesh8", example("matmul_256x256x256"), "-q", "--vcd", "w.vcd", "--vcd-scope",
                          "cluster@1,1.in.*", "--vcd-from", "1000", "--vcd-to", "1100"});
  EXPECT_EQ(f.status, 0) << f.err;
  EXPECT_THAT(f.err,
              AllOf(HasSubstr("w.vcd"), HasSubstr("signals"), HasSubstr("a cycle if all of them change")));
  EXPECT_LT(fs::file_size(folder / "w.vcd"), 100'000u);
  // The ring writes nothing when all is well.
  EXPECT_EQ(sim({"-t", "mesh1", worked, "-q", "--vcd", "ring.vcd", "--wave-on-error", "100"}).status, 0);
  EXPECT_FALSE(fs::exists(folder / "ring.vcd"));
  EXPECT_EQ(
      sim({"-t", "mesh1", worked, "-q", "--vcd", "ring.vcd", "--wave-on-error", "100", "--max-cycles", "900"})
          .status,
      5);
  EXPECT_GT(VcdReader::from_file((folder / "ring.vcd").string()).total_changes(), 0u);
}

TEST_F(UserReport, R20_WavesReadBackHoldChangesAndALegalTimescale) {
  EXPECT_EQ(sim({"-t", "mesh1", worked, "-q", "--vcd", "w.vcd"}).status, 0);
  const std::string text = slurp(folder / "w.vcd");
  EXPECT_TRUE(std::regex_search(text.substr(0, 4096),
                                std::regex("\\$timescale\\s+(1|10|100)\\s*(s|ms|us|ns|ps|fs)\\s+\\$end")));
  const VcdReader vcd = VcdReader::from_file((folder / "w.vcd").string());
  bool changed = false;
  for (const auto& [name, signal] : vcd.signals())
    changed |= name.ends_with("cluster@1,1.in.valid") && signal.changes.size() > 8;
  EXPECT_TRUE(changed);
}

// A project of its own with the wrong standard: refused when configured, with the right one named, not when
// everything is linked.
TEST_F(UserReport, R21_TheSystemCLibraryIsCheckedWhenConfiguring) {
  const auto configure = [&](const std::string& standard) {
    spill(folder / "CMakeLists.txt",
          "cmake_minimum_required(VERSION 3.25)\nproject(p CXX)\n"
          "include(\"" KTPU_SOURCE_DIR "/cmake/KtpuSystemC.cmake\")\n");
    fs::remove_all(folder / "b");
    const std::string command =
        "cd '" + folder.string() + "' && cmake -S . -B b -DKTPU_SYSTEMC_CPLUSPLUS=" + standard + " >log 2>&1";
    const int status = std::system(command.c_str());
    return std::pair(status, std::regex_replace(slurp(folder / "log"), std::regex("\\s+"), " "));
  };
  const auto [wrong, text] = configure("199711L");
  EXPECT_NE(wrong, 0);
  EXPECT_THAT(text, AllOf(HasSubstr("built with another C++ standard"),
                          HasSubstr("-DKTPU_SYSTEMC_CPLUSPLUS=201703L")));
  EXPECT_EQ(configure("201703L").first, 0);
}

TEST_F(UserReport, R22_EveryFigureIsExplained) {
  ASSERT_EQ(sim({"-t", "mesh1", worked, "-q", "--stats", "s.json"}).status, 0);
  const auto json = nlohmann::json::parse(slurp(folder / "s.json"));
  for (const auto& [name, row] : json["statistics"].items()) {
    for (const char* key : {"unit", "source", "formula", "sentence"})
      EXPECT_FALSE(row[key].get<std::string>().empty()) << name << " " << key;
  }
  for (const char* name :
       {"run.array_utilisation", "cluster@1,1.sweep.cycles.stalled", "router@1,1.west.utilisation"}) {
    const Finished f = sim({"-t", "mesh1", "--explain", name});
    EXPECT_EQ(f.status, 0) << f.err;
    EXPECT_THAT(f.out, AllOf(HasSubstr("unit:"), HasSubstr("meaning:"), HasSubstr("formula:")));
  }
  const Finished state = sim({"-t", "mesh1", "--explain", "cluster@1,1.sweep.cycles.pacing"});
  EXPECT_THAT(state.out,
              AllOf(HasSubstr("3 of 5"), HasSubstr("stalled > issuing > pacing"), HasSubstr("--history")));
  const Finished engine = sim({"-t", "mesh1", "--explain", "cluster@1,1.sweep"});
  EXPECT_THAT(engine.out, AllOf(HasSubstr("stalled"), HasSubstr("accumulating")));
}

TEST_F(UserReport, R23_EachFigureNamesTheModelItCameFrom) {
  ASSERT_EQ(sim({"-t", "mesh1", worked, "-q", "--stats", "s.json"}).status, 0);
  auto json = nlohmann::json::parse(slurp(folder / "s.json"));
  for (const auto& [name, row] : json["statistics"].items()) EXPECT_EQ(row["source"], "model") << name;
  // A unit that is not the model marks its figures, in the file and in the table, and those of no other unit.
  const Finished f = run("ktpu-sim-faulty", {"-t", "mesh1", worked, "--max-cycles", "50", "--zeros", "--impl",
                                             "router=lockstep", "--stats", "s.json"});
  EXPECT_EQ(f.status, 5) << f.err;
  json = nlohmann::json::parse(slurp(folder / "s.json"));
  EXPECT_EQ(json["statistics"]["router@1,1.granted"]["source"], "lockstep");
  EXPECT_EQ(json["statistics"]["router@1,1.links.flits_out"]["source"], "lockstep");
  EXPECT_EQ(json["statistics"]["router@1,1.links.flits_in"]["source"], "lockstep");
  EXPECT_EQ(json["statistics"]["cluster@1,1.in.transferred"]["source"],
            "lockstep");  // the router sends on it
  EXPECT_EQ(json["statistics"]["cluster@1,1.out.transferred"]["source"], "model");
  EXPECT_EQ(json["statistics"]["cluster@1,1.links.flits_in"]["source"], "model");
  for (const auto& [name, row] : json["statistics"].items()) {
    if (name.starts_with("cluster@1,1.sweep")) {
      EXPECT_EQ(row["source"], "model") << name;
    }
  }
  EXPECT_THAT(f.out, HasSubstr("(lockstep)"));
}

}  // namespace
}  // namespace ktpu::test
