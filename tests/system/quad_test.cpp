// SPDX-License-Identifier: Apache-2.0
// Machines of several meshes: `quad`, one engine, one program for all of it.
#include "arch/encoding/registers.h"
#include "tests/system/run.h"

namespace ktpu::test {
namespace {

constexpr unsigned kMeshes = 4;

// The worked matmul on every mesh in `on`, each on the memory that its address bits name. All are kicked in a
// row, 15 cycles after each other, and then awaited.
std::string worked_on(const std::vector<unsigned>& on) {
  std::string text = fmt::format("machine \"quad\" meshes={} staging=4\n", on.back() + 1);
  const auto each = [&](auto&& line) {
    for (const unsigned m : on) text += line(m, std::uint64_t{m} << 36);
  };
  each([](unsigned m, std::uint64_t base) {
    return fmt::format(
        "image {:#x} tensor [32,128] layout=entry:8x4 seed=139 shift=10 mesh={}\n"
        "image {:#x} tensor [32,128] layout=entry:8x4 seed=151 shift=10 mesh={}\n",
        base, m, base + 0x2000, m);
  });
  each([](unsigned m, std::uint64_t base) {
    return fmt::format(
        "round \"matmul\" mesh={0}\n baseline (1,1) mesh={0}\n"
        "stage 0 mesh={0} {{\n fill a n=32 from={1:#x}\n fill b n=32 from={2:#x}\n gemm gm=8 gn=8 nk=4\n"
        " drain n=64 to={3:#x} last\n}}\n credit 32 mesh={0}\n",
        m, base, base + 0x2000, base + 0x4000);
  });
  each([](unsigned m, std::uint64_t) { return fmt::format("kick (1,1) slots=0..3 mesh={}\n", m); });
  each([](unsigned m, std::uint64_t) { return fmt::format("await (1,1) 4 mesh={}\n", m); });
  return text;
}

struct QuadRun {
  explicit QuadRun(const std::string& text, const topo::Overrides& sets = {})
      : program(arch::assemble(text, "quad.kasm")) {
    platform::Registry models;
    platform::register_models(models);
    system = std::make_unique<platform::System>(topo::read_file("quad", sets), models);
    registry.add(system->timeline());
    observe::add_standard(statistics);
    platform::Runner runner(*system, &program, {1'000'000, 100'000});
    result = runner.run();
    observe::RunFacts facts;
    facts.cycles = result.cycles;
    facts.clock_mhz = 300;
    facts.machine_cycles = result.machine_cycles();
    statistics.set_facts(facts);
    for (const observe::Violation& v : statistics.check()) ADD_FAILURE() << v.text();
  }
  arch::Program program;
  std::unique_ptr<platform::System> system;
  observe::Registry registry;
  observe::Statistics statistics{registry};
  platform::RunResult result;
};

plain::Halves result_of(QuadRun& run, unsigned mesh) {
  return plain::from_tiles(platform::read_memory(run.system->mesh(mesh), 0x4000, 32 * 32 * 2), 1, 1, 8, 8);
}

// With the interlink idle the meshes have nothing to do with each other: the same program in each, every
// counter of every unit and link is the same in all four. (The host polls one mesh after the other, so reads
// of the agents differ.)
TEST(Quad, TheSameProgramInFourMeshesCountsTheSame) {
  QuadRun run(worked_on({0, 1, 2, 3}));
  ASSERT_EQ(run.result.status, arch::ExitStatus::kOk) << run.result.message;
  EXPECT_TRUE(run.result.notes.empty()) << run.result.notes.front();
  const plain::Halves right = expected(example("matmul_32x32x128"));
  for (unsigned m = 0; m < kMeshes; ++m) EXPECT_EQ(result_of(run, m), right) << "mesh " << m;
  unsigned compared = 0, moved = 0;
  for (const observe::Entry& entry : run.registry.entries()) {
    if (entry.kind != observe::EntryKind::kCounter || !entry.path.starts_with("m0.") ||
        entry.path.starts_with("m0.link"))
      continue;
    if (entry.path.find("agent.reads") != std::string::npos || entry.path.find("_bus.") != std::string::npos)
      continue;
    // The ends of the chain have one link less.
    if (entry.path.find("interlink.link") != std::string::npos) {
      EXPECT_EQ(entry.path.find(".cycles.idle") == std::string::npos ? entry.read() : 0, 0u) << entry.path;
      continue;
    }
    for (const char* other : {"m1.", "m2.", "m3."})
      EXPECT_EQ(run.registry.at(other + entry.path.substr(3)).read(), entry.read())
          << other << entry.path.substr(3);
    ++compared;
    moved += entry.read() != 0;
  }
  EXPECT_GT(compared, 100u);
  EXPECT_GT(moved, 50u);
}

// A mesh alone takes as long as with the three others at work: only the host is shared.
TEST(Quad, MeshesDoNotSlowEachOther) {
  QuadRun one(worked_on({2})), all(worked_on({0, 1, 2, 3}));
  ASSERT_EQ(one.result.status, arch::ExitStatus::kOk) << one.result.message;
  EXPECT_EQ(result_of(one, 2), expected(example("matmul_32x32x128")));
  for (const char* name : {"m2.cluster@1,1.compute_cycles", "m2.cluster@1,1.fill_cycles",
                           "m2.memory.dram_path.words_read", "m2.memory.dram_path.write_wait"})
    EXPECT_EQ(one.registry.at(name).read(), all.registry.at(name).read()) << name;
  EXPECT_EQ(one.registry.at("m0.memory.dram_path.read_bursts").read(), 0u);
}

// The list of commands of mesh 3 runs on the engine of mesh 3.
TEST(Quad, EveryMeshHasItsCommandEngine) {
  QuadRun run(
      "machine \"quad\" meshes=4\ncommands mesh=3 {\n write 0x0000 = 7\n done 5\n}\ncommands mesh=1 {\n done "
      "9\n}\n");
  ASSERT_EQ(run.result.status, arch::ExitStatus::kOk) << run.result.message;
  const std::array<std::uint64_t, kMeshes> codes{0, 9, 0, 5};
  for (unsigned m = 0; m < kMeshes; ++m) {
    EXPECT_EQ(run.system->mesh(m).command_engine->peek(arch::engine::kCode), codes[m]) << m;
    EXPECT_EQ(run.system->mesh(m).control_agent->peek(arch::agent::kCtrl, run.result.cycles),
              m == 3 ? 7u : 0u);
  }
}

// memory.md section 3: without the interlink an address of another mesh is an alias of the own one, and
// reported.
TEST(Quad, AForeignAddressIsAnAliasAndReported) {
  QuadRun run(
      "machine \"quad\" meshes=2 staging=4\nimage 0x1000000000 tensor [4,32] layout=entry:1x1 seed=1 mesh=1\n"
      "round \"x\" mesh=1\nbaseline (1,1) mesh=1\nstage 0 mesh=1 {\n fill a n=1 from=0 last\n}\ncredit 8 "
      "mesh=1\n"
      "kick (1,1) slots=0..0 mesh=1\nawait (1,1) 1 mesh=1\n");
  ASSERT_EQ(run.result.status, arch::ExitStatus::kOk) << run.result.message;
  ASSERT_EQ(run.result.notes.size(), 1u);
  EXPECT_NE(run.result.notes[0].find("m1.cluster@1,1"), std::string::npos) << run.result.notes[0];
  EXPECT_NE(run.result.notes[0].find("names mesh 0"), std::string::npos) << run.result.notes[0];
}

}  // namespace
}  // namespace ktpu::test
