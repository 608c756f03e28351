// SPDX-License-Identifier: Apache-2.0
// Machines of several clocks: the shipped `cdc`, and what must hold between machines that differ in clocks
// only.
#include <cmath>
#include <functional>
#include <map>

#include "tests/system/run.h"
#include "tlm/observe/digest.h"
#include "tlm/platform/checkpoint.h"

namespace ktpu::test {
namespace {

using Change = std::function<void(topo::Machine&)>;

Change clocks(double fabric, double cluster, double vector, double dram) {
  return [=](topo::Machine& machine) {
    machine.clocks = {{"fabric", fabric}, {"cluster", cluster}, {"vector", vector}, {"dram", dram}};
  };
}

// A machine of one clock with its DRAM on another.
Change dram_clock(double fabric, double dram) {
  return [=](topo::Machine& machine) {
    machine.clocks = {{"fabric", fabric}, {"dram", dram}};
    for (topo::Mesh& mesh : machine.meshes) mesh.dram->clock = 1;
  };
}

// An example on a shipped machine that is changed before it is built, run to a good end with all books
// balanced.
struct ClockRun {
  ClockRun(const char* name, const char* machine, const Change& change = {}, bool idle_skip = true)
      : program(example_program(name)) {
    topo::Machine description = topo::read_file(machine);
    if (change) change(description);
    platform::Registry models;
    platform::register_models(models);
    system = std::make_unique<platform::System>(std::move(description), models);
    system->timeline().set_idle_skip(idle_skip);
    registry.add(system->timeline());
    platform::Runner runner(*system, &program, {5'000'000, 100'000});
    result = runner.run();
    digest = platform::state_digest(*system);
    EXPECT_EQ(result.status, arch::ExitStatus::kOk) << result.message;
    observe::Statistics statistics(registry);
    observe::add_standard(statistics);
    observe::RunFacts facts;
    facts.cycles = result.cycles;
    facts.clock_mhz = system->machine().clocks.front().mhz;
    for (const sim::Timeline::Clock& clock : system->timeline().clocks())
      facts.clocks.push_back({clock.name, static_cast<double>(clock.hertz) / 1e6, clock.engine});
    facts.machine_cycles = result.machine_cycles();
    statistics.set_facts(facts);
    for (const observe::Violation& v : statistics.check()) ADD_FAILURE() << v.text();
    rows = statistics.rows();
    const Example& e = example(name);
    c = plain::from_tiles(platform::read_memory(system->mesh(), e.c, std::uint64_t{e.m} * e.n * 2), e.rows,
                          e.columns, e.sub_rows, e.sub_columns);
  }
  // All counters by name.
  std::map<std::string, std::uint64_t> counters() const {
    std::map<std::string, std::uint64_t> all;
    for (const observe::Entry& entry : registry.entries())
      if (entry.kind == observe::EntryKind::kCounter) all[std::string(entry.path)] = entry.read();
    return all;
  }
  double row(const std::string& name) const {
    for (const observe::Row& r : rows)
      if (r.name == name) return r.is_count ? static_cast<double>(r.count) : r.value.value_or(-1);
    ADD_FAILURE() << "no row " << name;
    return -1;
  }

  arch::Program program;
  std::unique_ptr<platform::System> system;
  observe::Registry registry;
  platform::RunResult result;
  std::vector<observe::Row> rows;
  plain::Halves c;
  std::uint64_t digest = 0;
};

TEST(Cdc, TheResultsOfMesh8BitForBit) {
  for (const char* name : {"matmul_256x256x256", "matmul_256x256x256_fused"}) {
    ClockRun cdc(name, "cdc");
    EXPECT_EQ(cdc.c, expected(example(name))) << name;
    EXPECT_EQ(cdc.c, ClockRun(name, "mesh8").c) << name;
  }
}

// Cycles of every clock, and shares of each unit by its own.
TEST(Cdc, EveryClockCountsItsOwnCycles) {
  ClockRun run("matmul_256x256x256", "cdc");
  const double fabric = run.row("run.cycles");
  EXPECT_EQ(run.row("clock.fabric.cycles"), fabric);
  EXPECT_EQ(run.row("clock.cluster.cycles"), std::ceil(fabric * 500 / 300));
  EXPECT_EQ(run.row("clock.vector.cycles"), std::ceil(fabric * 350 / 300));
  EXPECT_EQ(run.row("clock.dram.cycles"), std::ceil(fabric * 400 / 300));
  EXPECT_NEAR(run.row("memory.dram_path.read_bus_busy"),
              100 * run.row("memory.dram_path.read_beats") / run.row("clock.dram.cycles"), 1e-9);
  EXPECT_EQ(run.row("clock.cluster.mhz"), 500);
  EXPECT_NEAR(run.row("cluster@1,1.array_utilisation"),
              100 * run.row("cluster@1,1.sweep_commands") / (run.row("run.machine_cycles") * 5 / 3), 1e-9);
  EXPECT_NEAR(run.row("run.array_utilisation"), run.row("cluster@1,1.array_utilisation"), 1e-9);
  EXPECT_NEAR(run.row("run.ns"), fabric * 10 / 3, 1e-6);
  const auto unit_of = [&](const std::string& name) {
    for (const observe::Row& row : run.rows)
      if (row.name == name) return row.unit;
    return std::string("no such row");
  };
  EXPECT_EQ(unit_of("cluster@1,1.compute_cycles"), "cluster cycles");
  EXPECT_EQ(unit_of("memory.dram_path.read_wait"), "cycles");
  EXPECT_EQ(unit_of("memory.dram_path.read_arbiter.cycles.granted"), "cycles");
  EXPECT_EQ(unit_of("memory.dram_path.read_bus.cycles.moving"), "dram cycles");
}

TEST(Cdc, SleepingAndRunningAgainGiveTheSameBytes) {
  ClockRun one("matmul_256x256x256", "cdc"), again("matmul_256x256x256", "cdc"),
      slow("matmul_256x256x256", "cdc", {}, false);
  for (ClockRun* other : {&again, &slow}) {
    EXPECT_EQ(other->result.cycles, one.result.cycles);
    EXPECT_EQ(other->counters(), one.counters());
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_EQ(observe::digest(*other->system->timeline().clocks()[i].engine),
                observe::digest(*one.system->timeline().clocks()[i].engine))
          << "clock " << i;
  }
  EXPECT_GT(one.system->timeline().clocks()[1].engine->cycles_skipped(), 1000u);
  EXPECT_EQ(slow.system->timeline().clocks()[1].engine->cycles_skipped(), 0u);
}

// Frequencies have no unit but their ratio: twice as fast is the same run in half the time.
TEST(Cdc, TwiceAllFrequenciesIsTheSameRunInHalfTheTime) {
  ClockRun once("matmul_256x256x256", "cdc"), twice("matmul_256x256x256", "cdc", clocks(600, 1000, 700, 800));
  EXPECT_EQ(once.counters(), twice.counters());
  EXPECT_EQ(once.result.cycles, twice.result.cycles);
  EXPECT_NEAR(once.row("run.ns"), 2 * twice.row("run.ns"), 1e-6);
  EXPECT_NEAR(once.row("run.tflops") * 2, twice.row("run.tflops"), 1e-9);
}

// Clocks of one frequency are the machine of one clock with crossings on the same links.
TEST(Cdc, EqualFrequenciesAreOneClockWithCrossings) {
  ClockRun three("matmul_256x256x256", "cdc", clocks(300, 300, 300, 300));
  ClockRun one("matmul_256x256x256", "mesh8", [](topo::Machine& machine) {
    for (topo::Node& node : machine.meshes[0].nodes)
      if (node.kind() != topo::Kind::kMemoryPort) node.crossing.emplace();
  });
  EXPECT_EQ(one.system->timeline().clocks().size(), 1u);
  EXPECT_EQ(three.result.cycles, one.result.cycles);
  EXPECT_EQ(three.counters(), one.counters());
  EXPECT_EQ(three.c, one.c);
}

// A fast clock changes when, never what. (It need not be faster as a whole: the arbiters run free.)
TEST(Cdc, NoClockChangesABit) {
  const plain::Halves right = expected(example("matmul_256x256x256"));
  for (const double cluster : {37.0, 150.0, 299.999999, 450.0, 1200.0})
    EXPECT_EQ(ClockRun("matmul_256x256x256", "cdc", clocks(300, cluster, 123, 211)).c, right)
        << cluster << " MHz";
}

// Two clocks of one frequency are one clock, in every cycle and counter: one kind of DRAM and the other, one
// mesh and several, a host that waits for the DRAM to be quiet, moves, staging.
TEST(DramClock, EqualFrequenciesAreOneClock) {
  const auto also = [](Change first, Change then) {
    return [=](topo::Machine& machine) {
      if (then) then(machine);
      first(machine);
    };
  };
  const Change banked = [](topo::Machine& machine) {
    machine.meshes[0].dram->model = topo::DramModel::kBanked;
    machine.meshes[0].agent->reads_in_flight = 8;
  };
  const Change slow = [](topo::Machine& machine) {
    machine.meshes[0].dram->simple.write_gaps = {7, 0, 3};
    machine.meshes[0].dram->simple.first_read_beat = 40;
  };
  struct Case {
    const char *program, *machine;
    Change change;
  };
  for (const Case& c :
       {Case{"matmul_256x256x256", "mesh8", {}}, Case{"matmul_256x256x256_fused", "mesh8", {}},
        Case{"matmul_256x256x256", "mesh8", banked}, Case{"matmul_256x256x256", "mesh8", slow}}) {
    SCOPED_TRACE(fmt::format("{} on {}", c.program, c.machine));
    ClockRun one(c.program, c.machine, c.change);
    ClockRun two(c.program, c.machine, also(dram_clock(300, 300), c.change));
    EXPECT_EQ(two.system->timeline().clocks().size(), 2u);
    EXPECT_EQ(two.result.cycles, one.result.cycles);
    EXPECT_EQ(two.result.machine_cycles(), one.result.machine_cycles());
    EXPECT_EQ(two.counters(), one.counters());
    EXPECT_EQ(two.c, one.c);
  }
}

// The frequency of the DRAM changes when, never what: a faster one is not slower, and sleeping makes no
// difference.
TEST(DramClock, AFasterDramIsNotSlowerAndNoBitChanges) {
  const plain::Halves right = expected(example("matmul_256x256x256"));
  double before = 1e12;
  for (const double mhz : {150.0, 222.0, 300.0, 600.0}) {
    SCOPED_TRACE(fmt::format("{} MHz", mhz));
    ClockRun run("matmul_256x256x256", "mesh8", dram_clock(300, mhz)),
        every("matmul_256x256x256", "mesh8", dram_clock(300, mhz), false);
    EXPECT_EQ(run.c, right);
    EXPECT_EQ(every.result.cycles, run.result.cycles);
    EXPECT_EQ(every.counters(), run.counters());
    EXPECT_EQ(every.digest, run.digest);
    const double ns = run.row("run.machine_ns");
    EXPECT_LE(ns, before);
    before = ns;
  }
}

// The worked example of orchestrator.md section 10 on mesh1: with a crossing on the cluster's link every trip
// of the chain from the kick to the last result takes 8 cycles more. There are six: the FILL of A comes to
// the cluster, its request leaves, its last word comes; the request of the FILL of B leaves, its last word
// comes; the last result leaves, with the completion behind it. (All else overlaps: instructions wait in the
// cluster, requests of one FILL follow each other, a flit a cycle crosses.)
TEST(Cdc, EightCyclesMoreForEachCrossingOfTheWorkedExample) {
  const auto cross = [](topo::Machine& machine) {
    for (topo::Node& node : machine.meshes[0].nodes)
      if (node.kind() == topo::Kind::kMatmulCluster) node.crossing.emplace();
  };
  ClockRun plain("matmul_32x32x128_round", "mesh1"), crossed("matmul_32x32x128_round", "mesh1", cross);
  EXPECT_EQ(plain.c, crossed.c);
  EXPECT_EQ(crossed.result.machine_cycles().value() - plain.result.machine_cycles().value(), 8u * 6);
}

}  // namespace
}  // namespace ktpu::test
