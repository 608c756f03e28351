// SPDX-License-Identifier: Apache-2.0
// Files, includes, anchors, overrides and look-up (design.md section 5, user-reports.md 5 and 7).
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/topologies/helpers.h"

namespace ktpu::topo::testing {
namespace {

namespace fs = std::filesystem;

// A folder of its own that is gone afterwards; the test runs inside it.
class InFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = fs::current_path();
    folder_ = fs::temp_directory_path() / ("ktpu_topo_" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "sub");
    fs::current_path(folder_);
  }
  void TearDown() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }
  static void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }
  static std::string file_error(const std::string& name, const Overrides& overrides = {},
                                const std::vector<fs::path>& shipped = {}) {
    try {
      read_file(name, overrides, shipped);
    } catch (const arch::UserError& e) {
      return e.what();
    }
    return "no error";
  }

  fs::path before_, folder_;
};

std::string good_named(const std::string& name) { return with(kGood, "name: good", "name: " + name); }

TEST_F(InFolder, LookUp) {
  const fs::path shipped = folder_ / "sub";
  write("sub/alpha.yaml", good_named("shipped_alpha"));
  write("sub/beta.yaml", good_named("shipped_beta"));
  write("alpha.yaml", good_named("own_alpha"));
  fs::create_directories("beta");  // a folder of that name is no topology
  EXPECT_EQ(read_file("alpha", {}, {shipped}).name, "own_alpha");
  EXPECT_EQ(read_file("alpha.yaml", {}, {shipped}).name, "own_alpha");
  EXPECT_EQ(read_file("beta", {}, {shipped}).name, "shipped_beta");
  EXPECT_EQ(read_file("beta.yaml", {}, {shipped}).name, "shipped_beta");
  EXPECT_EQ(read_file("sub/alpha.yaml", {}, {}).name, "shipped_alpha");
  EXPECT_EQ(file_error("alpah2", {}, {shipped}),
            "no topology 'alpah2': neither a file in the current folder nor one of the shipped machines; did "
            "you mean "
            "'alpha'?; shipped: alpha, beta");
  EXPECT_EQ(file_error("sub/gamma.yaml"), "cannot read 'sub/gamma.yaml': no such file");
  EXPECT_EQ(file_error("sub/"), "cannot read 'sub/': it is a folder");
  EXPECT_EQ(file_error("/dev/zero"), "cannot read '/dev/zero': not a regular file");
  EXPECT_EQ(file_error(""), "the topology name is empty");
}

TEST_F(InFolder, ShippedFoldersHoldTheShippedMachines) {
  EXPECT_EQ(read_file("mesh8").name, "mesh8");
  EXPECT_EQ(read_file("mesh8.yaml").name, "mesh8");
}

TEST_F(InFolder, R7IncludeIsRelativeToTheFileThatNamesIt) {
  write("sub/base.yaml", good_named("base"));
  write("sub/units.yaml", "mat: {kind: matmul_cluster, tiles: 64}\nvec: {kind: vector_core}\n");
  write("sub/mine.yaml", "include: base.yaml\nname: mine\nclock_mhz: 100\n");
  Machine m = read_file("sub/mine.yaml", {}, {});
  EXPECT_EQ(m.name, "mine");
  EXPECT_EQ(m.clocks[0].mhz, 100);
  EXPECT_EQ(m.meshes[0].nodes.size(), 7u);
  // maps below are merged key by key, own keys win
  write("sub/host.yaml", "include: [base.yaml]\nhost: {kind: script}\n");
  EXPECT_EQ(read_file("sub/host.yaml", {}, {}).host.kind, HostKind::kScript);
  // any map may include
  write("sub/parts.yaml",
        with(with(kGood, "      mat: {kind: matmul_cluster, tiles: 256}\n", "      include: units.yaml\n"),
             "      vec: {kind: vector_core}\n", ""));
  EXPECT_EQ(read_file("sub/parts.yaml", {}, {}).meshes[0].node_at({1, 1})->get<MatmulCluster>()->tiles, 64u);

  write("sub/gone.yaml", "version: 1\ninclude: nowhere.yaml\n");
  EXPECT_EQ(file_error("sub/gone.yaml"), "sub/gone.yaml:2:10: cannot read 'sub/nowhere.yaml': no such file");
  write("sub/self.yaml", "include: self.yaml\n");
  EXPECT_EQ(file_error("sub/self.yaml"),
            "sub/self.yaml:1:10: includes nested more than 8 deep; does a file include itself?");
  write("sub/list.yaml", "[1, 2]\n");
  write("sub/takes_list.yaml", "include: list.yaml\n");
  EXPECT_EQ(file_error("sub/takes_list.yaml"),
            "sub/takes_list.yaml:1:10: included file 'sub/list.yaml' must hold a map, it holds a list");
  write("sub/odd.yaml", "include: {a: b}\n");
  EXPECT_EQ(file_error("sub/odd.yaml"),
            "sub/odd.yaml:1:10: include takes a file name or a list of them, not a map");
  write("sub/device.yaml", "include: /dev/zero\n");
  EXPECT_EQ(file_error("sub/device.yaml"),
            "sub/device.yaml:1:10: cannot read '/dev/zero': not a regular file");
  // an error within an included file is reported there
  write("sub/base.yaml", with(kGood, "fifo_depth: 64", "fifo_depth: 65"));
  EXPECT_EQ(file_error("sub/mine.yaml").substr(0, 58),
            "sub/base.yaml:10:26: meshes.0.router.fifo_depth: '65' is n");
  // twenty files at every level stay within a budget
  write("sub/l0.yaml", "a: [" + std::string(2000, ' ') + "]\n");
  for (int i = 1; i <= 7; ++i) {
    std::string text;
    for (char c = 'a'; c < 'a' + 20; ++c)
      text += std::string(1, c) + ": {include: l" + std::to_string(i - 1) + ".yaml}\n";
    write("sub/l" + std::to_string(i) + ".yaml", text);
  }
  EXPECT_NE(file_error("sub/l7.yaml").find("more than 100 included files"), std::string::npos);
}

TEST_F(InFolder, SizeLimit) {
  write("big.yaml", std::string((1 << 20) + 1, '#'));
  EXPECT_EQ(file_error("big.yaml"),
            "cannot read 'big.yaml': 1048577 bytes; a topology file has at most 1048576");
  write("empty.yaml", "");
  EXPECT_EQ(file_error("empty.yaml", {"a=1"}),
            "empty.yaml:1:1: the file is empty; a topology starts with version: 1");
}

TEST(Yaml, AnchorsAndMergeKeys) {
  const Machine m = read_string(
      "version: 1\nname: x\nclock_mhz: 300\nmeshes:\n  - units:\n"
      "      a: &big {kind: matmul_cluster, tiles: 64, l1_a: 32}\n"
      "      b: {<<: *big, l1_a: 64}\n"
      "      c: *big\n"
      "      d: {<<: [{kind: matmul_cluster, acc_mw: 12}, *big]}\n"
      "      m: {kind: memory_port}\n"
      "    agent: {}\n    dram: {bus_bits: 256, size_mib: 1}\n"
      "    grid: [[., ., ., .], [m, a, b, .], [., c, d, .], [., ., ., .]]\n");
  const auto params = [&](Coord at) { return *m.meshes[0].node_at(at)->get<MatmulCluster>(); };
  MatmulCluster big;
  big.tiles = 64, big.l1_a = 32;
  EXPECT_EQ(params({1, 1}), big);
  EXPECT_EQ(params({1, 2}), big);
  MatmulCluster b = big, d = big;
  b.l1_a = 64, d.acc_mw = 12;
  EXPECT_EQ(params({2, 1}), b);
  EXPECT_EQ(params({2, 2}), d);
  expect_error("a: &a [@@1]\nb: {<<: *a}\n", "a merge key '<<' takes a map or a list of maps, not '1'");
  expect_error("a: {<<: {b: 1}, @@<<: {c: 1}}\n", "key '<<' is given twice; the first is in line 1");
}

// --- overrides
// ------------------------------------------------------------------------------------------------

TEST(Overrides, Values) {
  EXPECT_EQ(
      read_string(kGood, "t", {"meshes.0.dram.first_read_beat=80"}).meshes[0].dram->simple.first_read_beat,
      80u);
  EXPECT_EQ(read_string(kGood, "t", {"meshes.0.dram.read_gaps=[1, 2]"}).meshes[0].dram->simple.read_gaps,
            (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(read_string(kGood, "t", {"meshes.0.units.mat.tiles=64"})
                .meshes[0]
                .node_at({2, 1})
                ->get<MatmulCluster>()
                ->tiles,
            64u);
  EXPECT_EQ(read_string(kGood, "t", {"meshes.0.nodes.cluster@2,1.tiles=64"})
                .meshes[0]
                .node_at({2, 1})
                ->get<MatmulCluster>()
                ->tiles,
            64u);
  EXPECT_EQ(
      read_string(kGood, "t", {"host={kind: script}", "host.script.read_cycles=9"}).host.script.read_cycles,
      9u);
  EXPECT_EQ(read_string(kGood, "t", {"meshes.0.grid.2.2=mat"}).meshes[0].nodes.size(), 8u);
  EXPECT_EQ(read_string(kGood, "t", {"name=other"}).name, "other");
}

TEST(Overrides, R5UnknownUnreadOrMalformed) {
  const auto error = [](const Overrides& o) { return error_of(kGood, o); };
  EXPECT_EQ(
      error({"meshes.0.dram.frist_read_beat=80"}),
      "--set meshes.0.dram.frist_read_beat=80: meshes.0.dram: unknown key 'frist_read_beat'; did you mean "
      "'first_read_beat'?; allowed: model, bus_bits, base, size_mib, size_bytes, clock, wrap, "
      "first_read_beat, "
      "read_gaps, first_write_beat, write_gaps, write_response");
  EXPECT_EQ(error({"meshes.0.darm.first_read_beat=80"}),
            "--set meshes.0.darm.first_read_beat=80: meshes.0: unknown key 'darm'; did you mean 'dram'?; "
            "allowed: id, "
            "grid, router, units, nodes, agent, dram, staging, staging_placement, interlink");
  EXPECT_EQ(error({"mesh.0.dram.base=0"}).substr(0, 67),
            "--set mesh.0.dram.base=0: unknown key 'mesh'; did you mean 'meshes'");
  EXPECT_EQ(error({"meshes.1.dram.base=0"}),
            "--set meshes.1.dram.base=0: meshes is a list, '1' is no element of it; valid: 0..0");
  EXPECT_EQ(error({"meshes.dram.base=0"}),
            "--set meshes.dram.base=0: meshes is a list, 'dram' is no element of it; valid: 0..0");
  EXPECT_EQ(error({"meshes.99999999999999999999.x=0"}).substr(0, 52),
            "--set meshes.99999999999999999999.x=0: meshes is a l");
  EXPECT_EQ(error({"clock_mhz.fabric=0"}),
            "--set clock_mhz.fabric=0: clock_mhz is '300', it has no key 'fabric'");
  EXPECT_EQ(error({"meshes.0.dram.banks=4"}),
            "--set meshes.0.dram.banks=4: meshes.0.dram: key 'banks' has a meaning only with model: banked");
  EXPECT_EQ(error({"clock_mhz=fast"}),
            "--set clock_mhz=fast: clock_mhz: 'fast' is not a number; allowed: 0.001..100000 (MHz)");
  EXPECT_EQ(
      error({"clock_mhz=1", "clock_mhz=2"}),
      "--set clock_mhz=2: the same key is set twice on the command line; the first would never be read");
  EXPECT_EQ(
      error({"host.kind=script", "host={kind: none}"}),
      "--set host={kind: none}: this replaces the whole of host, so --set host.kind would never be read");
  EXPECT_EQ(error({"clock_mhz="}), "--set clock_mhz=: clock_mhz: the key has no value");
  for (const char* bad : {"", "=", "=1", "clock_mhz"})
    EXPECT_EQ(error({bad}), "--set " + std::string(bad) +
                                ": write it as KEY.KEY=VALUE, for instance meshes.0.dram.first_read_beat=80");
  EXPECT_EQ(error({"meshes..x=1"}), "--set meshes..x=1: an empty key in the path 'meshes..x'");
  EXPECT_EQ(error({".=1"}), "--set .=1: an empty key in the path '.'");
  EXPECT_TRUE(
      error({"clock_mhz=[1"}).starts_with("--set clock_mhz=[1: not well-formed YAML: end of sequence"))
      << error({"clock_mhz=[1"});
  std::string deep = "a";
  for (int i = 0; i < 40; ++i) deep += ".a";
  EXPECT_NE(error({deep + "=1"}).find("a path of more than 24 keys"), std::string::npos);
}

}  // namespace
}  // namespace ktpu::topo::testing
