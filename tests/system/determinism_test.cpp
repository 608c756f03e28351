// SPDX-License-Identifier: Apache-2.0
// Equal runs give equal bytes, and so do runs with and without idle skip, with and without SIMD: statistics,
// waves and outputs, on every shipped topology (user report 14).
#include <map>

#include "tests/system/process.h"

namespace ktpu::test {
namespace {

struct Machine {
  const char* topology;
  const char* program;            // empty: traffic alone
  std::vector<std::string> more;  // of the command line
  int status;
};
const std::vector<Machine>& machines() {
  static const std::vector<Machine> kMachines{
      {"mesh1", "matmul_32x32x128", {"--out", "c=c.npy"}, 0},
      {"reference_small", "matmul_32x32x128_small", {"--out", "c=c.npy"}, 0},
      {"mesh8", "matmul_256x256x256_fused", {"--out", "c=c.npy", "--vcd-from", "700", "--vcd-to", "1400"}, 0},
      {"mesh8",
       "matmul_256x256x256",
       {"--out", "c=c.npy", "--set", "meshes.0.agent.reads_in_flight=16", "--vcd-from", "5000", "--vcd-to",
        "5600"},
       0},
      {"reference_mesh8",
       "matmul_256x256x256",
       {"--out", "c=c.npy", "--vcd-from", "4000", "--vcd-to", "4400"},
       0},
      {"cdc", "matmul_256x256x256", {"--out", "c=c.npy", "--vcd-from", "4000", "--vcd-to", "4400"}, 0},
      {"quad", "matmul_peer_sum_quad", {"--out", "c=c.npy"}, 0},
      {"staged", "matmul_32x32x128_staged", {"--out", "c=c.npy"}, 0},
      {"reference_6c4v", "", {}, 0},
      {"noc3x3", "", {}, 0},
      {"noc3x3",
       "",
       {"--set", "meshes.0.units.t={kind: traffic, pattern: uniform, rate: 0.02, seed: 3, flits: 40}"},
       0},
      {"noc8x8", "", {"--max-cycles", "1200", "--vcd-to", "300"}, 5},
      {"noc14x14", "", {"--max-cycles", "700", "--vcd-to", "100"}, 5},
  };
  return kMachines;
}

class Determinism : public Workshop, public testing::WithParamInterface<Machine> {
 protected:
  using Files = std::map<std::string, std::string>;
  Files outputs(const std::vector<std::string>& extra) {
    const Machine& m = GetParam();
    Files all;
    for (const char* stats : {"s.json", "s.csv"}) {
      const fs::path here = folder / "run";
      fs::create_directories(here);
      std::vector<std::string> line{"-t",    m.topology, "--stats",     stats,
                                    "--vcd", "w.vcd",    "--vcd-limit", "200"};
      if (*m.program != 0) line.push_back(example(m.program));
      line.insert(line.end(), m.more.begin(), m.more.end());
      line.insert(line.end(), extra.begin(), extra.end());
      const Finished f = sim(line, here);
      EXPECT_EQ(f.status, m.status) << f.err;
      for (const auto& entry : fs::directory_iterator(here))
        all[entry.path().filename().string()] = slurp(entry.path());
      all["table"] = f.out;
      fs::remove_all(here);
    }
    return all;
  }
  static void expect_equal(const Files& a, const Files& b, const char* what) {
    ASSERT_EQ(a.size(), b.size()) << what;
    for (const auto& [name, bytes] : a)
      EXPECT_TRUE(bytes == b.at(name)) << what << ": " << name << " differs";
  }
};

TEST_P(Determinism, EqualBytes) {
  const Files first = outputs({});
  EXPECT_EQ(first.size(), *GetParam().program != 0 ? 5u : 4u);
  EXPECT_GT(first.at("w.vcd").size(), 500u);
  expect_equal(first, outputs({}), "a second run");
  expect_equal(first, outputs({"--no-idle-skip"}), "without idle skip");
  if (*GetParam().program != 0) expect_equal(first, outputs({"--no-simd"}), "without SIMD");
}

std::string name_of(const testing::TestParamInfo<Machine>& info) {
  return std::string(info.param.topology) + "_" + std::to_string(info.index);
}
INSTANTIATE_TEST_SUITE_P(Shipped, Determinism, testing::ValuesIn(machines()), name_of);

// Every shipped machine is in the list above.
TEST_F(Workshop, DeterminismCoversEveryShippedMachine) {
  const Finished list = sim({"--list-topologies"});
  std::istringstream names(list.out);
  for (std::string name; std::getline(names, name);) {
    bool covered = false;
    for (const Machine& m : machines()) covered |= name == m.topology;
    EXPECT_TRUE(covered) << name;
  }
}

TEST_F(Workshop, AnotherSeedIsAnotherRun) {
  std::map<std::string, std::string> tables;
  for (const char* seed : {"1", "2"}) {
    const Finished f = sim({"-t", "noc8x8", "--max-cycles", "500", "--stats", "s.csv", "--set",
                            std::string("meshes.0.units.t.seed=") + seed});
    EXPECT_EQ(f.status, 5);
    tables[seed] = slurp(folder / "s.csv");
  }
  EXPECT_NE(tables["1"], tables["2"]);
}

}  // namespace
}  // namespace ktpu::test
