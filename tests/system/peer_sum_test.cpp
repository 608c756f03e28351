// SPDX-License-Identifier: Apache-2.0
// A matmul whose K is split over two clusters, summed by peer accumulation (cluster.md section 9.3): across
// meshes it gives the same bits as within one mesh.
#include "arch/encoding/address_map.h"
#include "tests/system/run.h"

namespace ktpu::test {
namespace {

// One of the two clusters: its mesh, place, and where its memory begins.
struct Half {
  unsigned mesh;
  arch::Coord at;
  std::uint64_t base;
};

constexpr std::uint64_t kB = 0x2000, kC = 0x4000;
constexpr unsigned kTiles = 64, kBursts = 2 * kTiles / 8;  // a sub-tile is two granules, a burst eight

// `to` multiplies the first half of K, `from` the second and sends its sums to `to`, which then stores C.
std::string k_split(const char* machine, unsigned meshes, const Half& to, const Half& from, unsigned seed) {
  const auto place = [](arch::Coord c) { return fmt::format("({},{})", c.x, c.y); };
  std::string text = fmt::format("machine \"{}\" meshes={} staging=128\n", machine, meshes);
  unsigned operand = seed, slot = 0;
  for (const Half* h : {&to, &from}) {
    for (const std::uint64_t offset : {std::uint64_t{0}, kB})
      text += fmt::format("image {:#x} tensor [32,128] layout=entry:8x4 seed={} shift=9 mesh={}\n",
                          h->base + offset, operand++, h->mesh);
  }
  const auto round = [&](const Half& h) { return fmt::format("round \"halves\" mesh={}\n", h.mesh); };
  text += round(to);
  if (from.mesh != to.mesh) text += round(from);
  for (const Half* h : {&to, &from}) {
    const std::string drain =
        h == &to ? fmt::format("drain n={} to={:#x}", kTiles, h->base + kC)
        : from.mesh == to.mesh
            ? fmt::format("drain n={} dnode dst={} dbuf=2 dflags=1 dack=(0,1)", kTiles, place(to.at))
            : fmt::format("drain n={} dnode dst=(0,1) dbuf=2 dflags=1 dack=(0,1) dmesh={} dfin={}", kTiles,
                          to.mesh, place(to.at));
    text += fmt::format(
        "baseline {0} mesh={1}\nstage {2} mesh={1} {{\n fill a n=32 from={3:#x}\n fill b n=32 from={4:#x}\n "
        "gemm gm=8 "
        "gn=8 nk=4 last\n {5} last\n}}\ncredit 32 mesh={1}\n",
        place(h->at), h->mesh, slot, h->base, h->base + kB, drain);
    slot += 4;
  }
  const auto kick = [&](const Half& h, unsigned first, unsigned last) {
    return fmt::format("kick {} slots={}..{} mesh={}\n", place(h.at), first, last, h.mesh);
  };
  const auto await = [&](const Half& h, unsigned count) {
    return fmt::format("await {} {} mesh={}\n", place(h.at), count, h.mesh);
  };
  return text + kick(to, 0, 2) + kick(from, 4, 6) + await(to, 3) + await(from, 3) + kick(from, 7, 7) +
         await(to, 3 + kBursts) + kick(to, 3, 3) + await(to, 4 + kBursts);
}

std::vector<std::uint8_t> product(const char* machine, const Half& to, const Half& from, unsigned seed,
                                  const topo::Overrides& sets = {}) {
  const topo::Machine description = topo::read_file(machine, sets);
  const auto meshes = static_cast<unsigned>(description.meshes.size());
  const arch::Program program = arch::assemble(k_split(machine, meshes, to, from, seed), "ksplit.kasm");
  platform::Registry models;
  platform::register_models(models);
  platform::System system(description, models);
  observe::Registry registry;
  registry.add(system.engine());
  observe::Statistics statistics(registry);
  observe::add_standard(statistics);
  platform::Runner runner(system, &program, {500'000, 50'000});
  const platform::RunResult result = runner.run();
  EXPECT_EQ(result.status, arch::ExitStatus::kOk) << result.message;
  EXPECT_TRUE(result.notes.empty()) << result.notes.front();
  observe::RunFacts facts;
  facts.cycles = result.cycles;
  facts.clock_mhz = 300;
  statistics.set_facts(facts);
  for (const observe::Violation& v : statistics.check()) ADD_FAILURE() << v.text();
  return platform::read_memory(system.mesh(to.mesh), to.base + kC, 32 * 32 * 2);
}

Half on_quad(unsigned mesh) { return {mesh, {1, 1}, std::uint64_t{mesh} << arch::address::kMesh.lsb}; }

TEST(PeerSum, AcrossMeshesAsWithinOne) {
  for (const unsigned seed : {11u, 12u, 13u}) {
    const std::vector<std::uint8_t> within =
        product("mesh8", {0, {1, 1}, 0x80000000}, {0, {2, 1}, 0x80100000}, seed);
    // The two halves matter: one alone is another result.
    plain::Halves a = plain::lcg(32 * 128, seed, 9), b = plain::lcg(32 * 128, seed + 1, 9);
    EXPECT_NE(plain::from_tiles(within, 1, 1, 8, 8), plain::matmul(a, b, 32, 32, 128));
    for (const auto& [to, from] : {std::pair{0u, 1u}, {1u, 0u}, {1u, 3u}, {3u, 2u}, {0u, 3u}, {2u, 0u}})
      EXPECT_EQ(product("quad", on_quad(to), on_quad(from), seed), within)
          << "mesh " << from << " to mesh " << to << ", seed " << seed;
  }
}

// K = 256 in one sum: A is [A0 A1] and B is [B0 B1], so C is the sum of both products.
TEST(PeerSum, IsTheWholeProduct) {
  const unsigned seed = 21;
  const auto operand = [&](unsigned first) {  // [32,256] from its two halves
    const plain::Halves low = plain::lcg(32 * 128, first, 9), high = plain::lcg(32 * 128, first + 2, 9);
    plain::Halves whole;
    for (unsigned r = 0; r < 32; ++r) {
      whole.insert(whole.end(), low.begin() + 128 * r, low.begin() + 128 * (r + 1));
      whole.insert(whole.end(), high.begin() + 128 * r, high.begin() + 128 * (r + 1));
    }
    return whole;
  };
  const plain::Halves got = plain::from_tiles(product("quad", on_quad(0), on_quad(1), seed), 1, 1, 8, 8);
  const plain::Halves whole = plain::matmul(operand(seed), operand(seed + 1), 32, 32, 256);
  ASSERT_EQ(got.size(), whole.size());
  unsigned near = 0;  // another order of additions: the last bit may differ
  for (std::size_t i = 0; i < got.size(); ++i) near += std::abs(int(got[i]) - int(whole[i])) <= 2;
  EXPECT_GE(near, got.size() * 98 / 100);
}

TEST(PeerSum, MemoryTimingChangesNoBit) {
  const std::vector<std::uint8_t> reference = product("quad", on_quad(2), on_quad(1), 31);
  EXPECT_EQ(product("quad", on_quad(2), on_quad(1), 31, {"meshes.1.dram.first_read_beat=60"}), reference);
  EXPECT_EQ(product("quad", on_quad(2), on_quad(1), 31, {"meshes.2.dram.first_read_beat=60"}), reference);
}

// The shipped example.
TEST(PeerSum, Example) {
  const arch::Program program = example_program("matmul_peer_sum_quad");
  platform::Registry models;
  platform::register_models(models);
  platform::System system(topo::read_file("quad"), models);
  platform::Runner runner(system, &program, {500'000, 50'000});
  const platform::RunResult result = runner.run();
  ASSERT_EQ(result.status, arch::ExitStatus::kOk) << result.message;
  EXPECT_TRUE(result.notes.empty()) << result.notes.front();
  const std::vector<std::uint8_t> c = platform::read_memory(system.mesh(0), kC, 32 * 32 * 2);
  EXPECT_NE(c, std::vector<std::uint8_t>(c.size()));
}

// memory.md sections 11.4 and 11.7: results written straight into another mesh's memory, two hops away.
TEST(PeerSum, ResultsInAnotherMeshsMemory) {
  const Example& e = example("matmul_32x32x128");
  const arch::Program program = arch::assemble(
      "machine \"quad\" meshes=4 staging=4\n"
      "image 0x0 tensor [32,128] layout=entry:8x4 seed=139 shift=10\n"
      "image 0x2000 tensor [32,128] layout=entry:8x4 seed=151 shift=10\n"
      "round \"r\"\nbaseline (1,1)\nstage 0 {\n fill a n=32 from=0\n fill b n=32 from=0x2000\n gemm gm=8 "
      "gn=8 nk=4\n"
      " drain n=64 to=0x3000004000 dmesh=3 dfin=(0,1) last\n}\ncredit 32\nkick (1,1) slots=0..3\nawait (1,1) "
      "4\n",
      "remote.kasm");
  platform::Registry models;
  platform::register_models(models);
  platform::System system(topo::read_file("quad"), models);
  platform::Runner runner(system, &program, {500'000, 50'000});
  const platform::RunResult result = runner.run();
  ASSERT_EQ(result.status, arch::ExitStatus::kOk) << result.message;
  EXPECT_TRUE(result.notes.empty()) << result.notes.front();
  EXPECT_EQ(plain::from_tiles(platform::read_memory(system.mesh(3), 0x3000004000, 2048), 1, 1, 8, 8),
            expected(e));
  EXPECT_EQ(platform::read_memory(system.mesh(0), 0x4000, 2048), std::vector<std::uint8_t>(2048));
}

}  // namespace
}  // namespace ktpu::test
