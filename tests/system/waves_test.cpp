// SPDX-License-Identifier: Apache-2.0
// The waves of a mesh8 run, read back: named signals change, in the cycles the machine says (user report 20).
#include "tests/support/vcd_reader.h"
#include "tests/system/process.h"

namespace ktpu::test {
namespace {

class Waves : public Workshop {
 protected:
  VcdReader record(const std::vector<std::string>& more) {
    std::vector<std::string> line{"-t", "mesh8", example("matmul_256x256x256"), "-q", "--vcd", "w.vcd"};
    line.insert(line.end(), more.begin(), more.end());
    const Finished f = sim(line);
    EXPECT_EQ(f.status, 0) << f.err;
    return VcdReader::from_file((folder / "w.vcd").string());
  }
};

TEST_F(Waves, NamedSignalsOfEveryKindChange) {
  const VcdReader vcd =
      record({"--vcd-scope", "cluster@*.in.*", "--vcd-scope", "cluster@*.out.*", "--vcd-scope", "memory@*",
              "--vcd-scope", "memory.agent.*", "--vcd-to", "9000"});
  EXPECT_GT(vcd.signals().size(), 100u);
  std::map<std::string, std::size_t> changes;
  for (const auto& [name, signal] : vcd.signals()) changes[name] = signal.changes.size();
  const auto changes_of = [&](const std::string& part) {
    std::size_t most = 0;
    for (const auto& [name, n] : changes)
      if (name.find(part) != std::string::npos) most = std::max(most, n);
    return most;
  };
  for (const char* cluster : {"cluster@1,0", "cluster@2,3"})
    for (const char* signal : {".in.valid", ".in.type", ".out.valid", ".out.payload"})
      EXPECT_GE(changes_of(std::string(cluster) + signal), 2u) << cluster << signal;
  EXPECT_GT(changes_of("memory@0,1.in.valid"), 2u);
  EXPECT_GT(changes_of("memory.agent.dispatch.credit"), 2u);
  EXPECT_GT(changes_of("memory.agent.sig_done"), 0u);
}

// Every cluster gets as many instructions as the credit counter lost: the waves hold each of them.
TEST_F(Waves, TheDispatchedInstructionsCanBeCounted) {
  const VcdReader vcd = record({"--vcd-scope", "cluster@1,0.in.*"});
  std::string valid, type, busy;
  for (const auto& [name, signal] : vcd.signals()) {
    if (name.ends_with("in.valid")) valid = name;
    if (name.ends_with("in.type")) type = name;
    if (name.ends_with("in.busy")) busy = name;
  }
  ASSERT_FALSE(valid.empty() || type.empty() || busy.empty());
  // Times are in picoseconds or the like: find the period from the first two times of a back-to-back change.
  unsigned instructions = 0;
  for (const auto& change : vcd.changes(valid))
    if (change.bits == "1" && vcd.at(type, change.time) == 5u) ++instructions;
  EXPECT_EQ(instructions, 5u);
}

// Several clocks in one file: every signal changes at edges of its own clock, and at those only.
TEST_F(Waves, EachClockHasItsOwnEdges) {
  const Finished f = sim({"-t", "cdc", example("matmul_256x256x256"), "-q", "--vcd", "w.vcd", "--vcd-to",
                          "6000", "--vcd-scope", "cluster@1,0.in.*", "--vcd-scope", "router@1,1.south.*",
                          "--vcd-scope", "crossing@1,0.in.*"});
  ASSERT_EQ(f.status, 0) << f.err;
  const VcdReader vcd = VcdReader::from_file((folder / "w.vcd").string());
  const auto off_the_edges = [&](const std::string& signal, std::uint64_t mhz) {
    std::size_t off = 0, all = 0;
    for (const auto& change : vcd.changes(signal)) {
      const std::uint64_t cycle =
          (change.time * mhz + 999'999) / 1'000'000;  // of the edge that was rounded down
      off += change.time != cycle * 1'000'000 / mhz;
      ++all;
    }
    EXPECT_GT(all, 20u) << signal;
    return off;
  };
  std::string cluster, fabric;
  for (const auto& [name, signal] : vcd.signals()) {
    if (name.ends_with("cluster@1,0.in.valid")) cluster = name;
    if (name.ends_with("crossing@1,0.in.valid")) fabric = name;
  }
  ASSERT_FALSE(cluster.empty() || fabric.empty());
  EXPECT_EQ(off_the_edges(cluster, 500), 0u);
  EXPECT_EQ(off_the_edges(fabric, 300), 0u);
  EXPECT_GT(off_the_edges(cluster, 300), 0u);
  EXPECT_GT(off_the_edges(fabric, 500), 0u);
}

// The last cycles kept for an error are those of a file over the same window, for each clock.
TEST_F(Waves, TheLastCyclesOfSeveralClocksAreThoseOfAFile) {
  const std::vector<std::string> machines[] = {
      {"-t", "cdc"},
      {"-t", "cdc", "--set", "clocks={fabric: 300, cluster: 70, vector: 350, dram: 400}"},
      {"-t", "cdc", "--set", "clocks={fabric: 100, cluster: 200, vector: 500, dram: 250}"}};
  for (const auto& machine : machines)
    for (const unsigned end : {3000u, 60u})
      for (const char* skip : {"", "--no-idle-skip"}) {
        std::vector<std::string> line = machine;
        line.insert(line.end(), {example("matmul_256x256x256"), "-q", "--max-cycles", std::to_string(end),
                                 "--vcd-scope", "*.valid", "--vcd-scope", "*.busy", "--vcd-scope",
                                 "cluster@1,0.sequencer.*", "--vcd-scope", "memory.agent.dispatch.*"});
        if (*skip != 0) line.emplace_back(skip);
        std::vector<std::string> file = line;
        file.insert(file.end(),
                    {"--vcd", "file.vcd", "--vcd-from", std::to_string(end > 501 ? end - 501 : 0)});
        line.insert(line.end(), {"--vcd", "ring.vcd", "--wave-on-error", "501"});
        EXPECT_EQ(sim(file).status, 5);
        const Finished f = sim(line);
        EXPECT_EQ(f.status, 5) << f.err;
        const VcdReader ring = VcdReader::from_file((folder / "ring.vcd").string()),
                        whole = VcdReader::from_file((folder / "file.vcd").string());
        ASSERT_EQ(ring.signals().size(), whole.signals().size());
        EXPECT_EQ(ring.times(), whole.times()) << machine.back() << " " << end;
        for (const auto& [name, signal] : whole.signals()) {
          const auto& changes = ring.changes(name);
          ASSERT_EQ(changes.size(), signal.changes.size()) << name << " " << machine.back() << " " << end;
          for (std::size_t i = 0; i < changes.size(); ++i) {
            EXPECT_EQ(changes[i].time, signal.changes[i].time) << name;
            EXPECT_EQ(changes[i].bits, signal.changes[i].bits) << name;
          }
        }
        EXPECT_GT(ring.total_changes(), 100u);
        fs::remove(folder / "ring.vcd");
      }
  EXPECT_EQ(
      sim({"-t", "cdc", example("matmul_256x256x256"), "-q", "--vcd", "ring.vcd", "--wave-on-error", "50"})
          .status,
      0);
  EXPECT_FALSE(fs::exists(folder / "ring.vcd")) << "no error, no file";
}

TEST_F(Waves, TheWindowHoldsOnlyItsCycles) {
  const VcdReader all = record({"--vcd-scope", "cluster@1,0.in.*", "--vcd-to", "4000"});
  const VcdReader part =
      record({"--vcd-scope", "cluster@1,0.in.*", "--vcd-from", "1000", "--vcd-to", "1200"});
  ASSERT_FALSE(part.times().empty());
  EXPECT_LT(part.total_changes(), all.total_changes());
  EXPECT_GE(part.times().front(), all.times().back() / 5);
  for (const auto& [name, signal] : part.signals()) {
    for (const auto& change : signal.changes) {
      if (change.time == part.times().front()) continue;  // the values at the beginning
      EXPECT_EQ(all.at(name, change.time), part.at(name, change.time)) << name;
    }
  }
}

TEST_F(Waves, AScopeKeepsTheRestOut) {
  const VcdReader vcd = record({"--vcd-scope", "vector@*", "--vcd-to", "100"});
  for (const auto& [name, signal] : vcd.signals()) EXPECT_NE(name.find("vector"), std::string::npos) << name;
}

TEST_F(Waves, TheSizeLimitHoldsAndIsSaid) {  // user report 19
  const Finished f =
      sim({"-t", "mesh8", example("matmul_256x256x256"), "-q", "--vcd", "w.vcd", "--vcd-limit", "1"});
  EXPECT_EQ(f.status, 0);
  EXPECT_NE(f.err.find("w.vcd"), std::string::npos);
  EXPECT_LE(fs::file_size(folder / "w.vcd"), (1u << 20) + 4096);
  EXPECT_GT(VcdReader::from_file((folder / "w.vcd").string()).total_changes(), 1000u);
}

TEST_F(Waves, TheLastCyclesBeforeAFailureAreKept) {
  spill(folder / "p.kasm",
        "stage 0 {\n fill a n=1 from=0x80000000 txn=1 last\n}\ncredit 32\nkick (1,1) slots=0..0\n"
        "poll SIG_DONE & 0xffff == 2\n");
  ASSERT_EQ(run("ktpu-asm", {"p.kasm", "-o", "p.bin"}).status, 0);
  const Finished f =
      sim({"-t", "mesh8", "p.bin", "-q", "--watchdog", "1000", "--vcd", "w.vcd", "--wave-on-error", "60",
           "--vcd-scope", "agent.host_bus.*", "--vcd-scope", "host.*"});
  EXPECT_EQ(f.status, 4);
  const VcdReader vcd = VcdReader::from_file((folder / "w.vcd").string());
  EXPECT_GT(vcd.total_changes(), 30u) << "the host polls every three cycles";
}

}  // namespace
}  // namespace ktpu::test
