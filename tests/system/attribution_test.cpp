// SPDX-License-Identifier: Apache-2.0
// Where the cycles go, on every shipped machine: the states of each engine add up to all cycles at any time,
// do not depend on idle skip, survive a reset, and every one of them can be explained.
#include <map>
#include <optional>
#include <random>

#include "tests/system/run.h"
#include "tlm/observe/engines.h"
#include "tlm/observe/explain.h"

namespace ktpu::test {
namespace {

using observe::EngineCycles;

// A shipped machine with an example program, or its own traffic.
class Shipped {
 public:
  Shipped(const std::string& name, bool idle_skip, const char* example = nullptr) {
    topo::Overrides sets;
    if (name.starts_with("noc"))
      sets = {"meshes.0.units.t={kind: traffic, pattern: uniform, rate: 0.4, seed: 5}"};
    platform::Registry models;
    platform::register_models(models);
    system = std::make_unique<platform::System>(topo::read_file(name, sets), models);
    system->engine().set_idle_skip(idle_skip);
    registry.add(system->engine());
    if (example != nullptr) program = example_program(example);
    for (const Example& e : kExamples)
      if (program)
        break;
      else if (name == e.machine || (name == "reference_mesh8" && e.machine == std::string("mesh8")))
        program = example_program(e.name);
    runner = std::make_unique<platform::Runner>(*system, program ? &*program : nullptr,
                                                platform::RunLimits{sim::kNever, 100'000});
  }
  // Cycles of all states; checks that each engine has them all.
  std::map<std::string, std::uint64_t> states() {
    sim::Engine& engine = system->engine();
    engine.sync();
    std::map<std::string, std::uint64_t> all;
    for (const EngineCycles& e : observe::engines_of(registry)) {
      EXPECT_EQ(e.total(), e.states.front()->owner->engine()->now()) << e.name;
      for (const observe::Entry* state : e.states) all[state->path] = state->read();
    }
    return all;
  }

  std::unique_ptr<platform::System> system;
  observe::Registry registry;
  std::optional<arch::Program> program;
  std::unique_ptr<platform::Runner> runner;
};

class Attribution : public testing::TestWithParam<std::string> {};

TEST_P(Attribution, StatesAddUpWithAndWithoutIdleSkipAndAcrossAReset) {
  const unsigned seed = 31;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  Shipped skip(GetParam(), true), every(GetParam(), false);
  const bool large = skip.system->engine().units().size() > 300;
  sim::Cycle at = 0;
  const auto compare = [&] {
    const auto a = skip.states(), b = every.states();
    ASSERT_EQ(a.size(), b.size());
    for (const auto& [name, cycles] : a) ASSERT_EQ(cycles, b.at(name)) << name << " before cycle " << at;
  };
  for (unsigned stop = 0; stop < (large ? 3 : 12); ++stop) {
    at += 1 + random() % (large ? 150 : 900);
    skip.runner->run_until(at);
    every.runner->run_until(at);
    at = skip.system->engine().now();
    ASSERT_EQ(at, every.system->engine().now());
    compare();
  }
  const auto before = skip.states();
  for (Shipped* machine : {&skip, &every}) machine->system->engine().reset();
  for (unsigned stop = 0; stop < 3; ++stop) {
    at += 1 + random() % 200;
    for (Shipped* machine : {&skip, &every}) machine->system->engine().run_until(at);
    compare();
  }
  const auto after = skip.states();
  for (const auto& [name, cycles] : before) EXPECT_GE(after.at(name), cycles) << name;
}

// User report 22 from the side of the registry: no statistic without unit, formula and sentence, no state of
// an engine without its place in the order.
TEST_P(Attribution, EveryStatisticCanBeExplained) {
  Shipped machine(GetParam(), true);
  observe::Statistics statistics(machine.registry);
  observe::add_standard(statistics);
  unsigned checked = 0;
  std::map<std::string, unsigned> kinds;  // by the name below the node: one of each is enough
  for (const observe::Entry& entry : machine.registry.entries()) {
    if (entry.kind != observe::EntryKind::kCounter) continue;
    EXPECT_FALSE(entry.unit.empty()) << entry.path;
    EXPECT_GT(entry.sentence.size(), 10u) << entry.path;
    if (kinds[entry.path.substr(entry.node.size())]++ != 0) continue;
    const std::string text = observe::explain(entry.path, &statistics);
    for (const char* part : {"unit: ", "meaning: ", "formula: ", "source: "})
      EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_NE(text.find(entry.sentence), std::string::npos) << text;
    EXPECT_EQ(text.find("priority: ") != std::string::npos, entry.priority != 0) << text;
    ++checked;
  }
  EXPECT_GT(checked, 3u);
  for (const EngineCycles& engine : observe::engines_of(machine.registry)) {
    for (std::size_t i = 0; i < engine.states.size(); ++i) EXPECT_EQ(engine.states[i]->priority, i + 1);
    EXPECT_EQ(short_name(*engine.states.back()), "idle") << engine.name;
  }
}

TEST_P(Attribution, SharesOfALineAddUpToAHundred) {
  Shipped machine(GetParam(), true);
  machine.runner->run_until(1777);
  machine.system->engine().sync();
  std::istringstream lines(observe::shares_text(machine.registry, true));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    std::istringstream words(line);
    std::string word;
    words >> word;  // the engine
    unsigned tenths = 0;
    while (words >> word && word != "%") {
      std::string share;
      words >> share;
      const std::size_t dot = share.find('.');
      ASSERT_NE(dot, std::string::npos) << line;
      tenths +=
          static_cast<unsigned>(std::stoul(share.substr(0, dot)) * 10 + std::stoul(share.substr(dot + 1)));
    }
    EXPECT_EQ(tenths, 1000u) << line;
  }
  EXPECT_EQ(count, observe::engines_of(machine.registry).size());
}

INSTANTIATE_TEST_SUITE_P(Machines, Attribution, testing::ValuesIn(topo::shipped_names()),
                         [](const auto& machine) { return machine.param; });

// Engines that the programs above leave idle, with programs that use them: states that must occur. And flits
// from mesh to mesh: sent = delivered + in flight + dropped, at any time.
struct AtWork {
  const char *machine, *program;
  std::vector<const char*> states;
};
class AttributionAtWork : public testing::TestWithParam<AtWork> {};

TEST_P(AttributionAtWork, StatesAddUpAndOccurAndFlitsAreConserved) {
  const AtWork& c = GetParam();
  std::mt19937 random(7);
  Shipped skip(c.machine, true, c.program), every(c.machine, false, c.program);
  observe::Statistics statistics(skip.registry);
  observe::add_standard(statistics);
  for (sim::Cycle at = 0; at < 40'000;) {
    at += 1 + random() % 97;
    const bool over = skip.runner->run_until(at);
    every.runner->run_until(at);
    at = skip.system->engine().now();
    const auto a = skip.states(), b = every.states();
    for (const auto& [name, cycles] : a) ASSERT_EQ(cycles, b.at(name)) << name << " before cycle " << at;
    observe::RunFacts facts;
    facts.cycles = at;
    facts.clock_mhz = 300;
    statistics.set_facts(facts);
    for (const observe::Violation& v : statistics.check())
      ASSERT_EQ(v.name.find("flits_conserved"), std::string::npos)
          << "before cycle " << at << ": " << v.text();
    if (over) break;
  }
  const auto all = skip.states();
  for (const char* state : c.states) EXPECT_GT(all.at(state), 0u) << state;
}

INSTANTIATE_TEST_SUITE_P(
    Machines, AttributionAtWork,
    testing::Values(
        AtWork{"reference_small",
               "move_small",
               {"memory.mover.issue.cycles.walking", "memory.mover.issue.cycles.step",
                "memory.mover.issue.cycles.drain", "memory.mover.issue.cycles.idle",
                "memory.mover.writer.cycles.moving", "memory.mover.writer.cycles.grant",
                "memory.mover.writer.cycles.answer"}},
        AtWork{"staged",
               "matmul_32x32x128_staged",
               {"memory.dram_path.staging.cycles.moving", "memory.dram_path.staging.cycles.claiming",
                "memory.dram_path.staging.cycles.responding", "memory.dram_path.staging.cycles.reading",
                "memory.window.cycles.moving", "memory.window.cycles.grant", "memory.window.cycles.idle"}},
        AtWork{"quad",
               "matmul_peer_sum_quad",
               {"m1.memory.interlink.sender.cycles.sending", "m1.memory.interlink.sender.cycles.step",
                "m1.memory.interlink.link0.cycles.moving", "m1.memory.interlink.link0.cycles.granting",
                "m0.memory.interlink.link1.cycles.credit", "m0.memory.interlink.ingress.cycles.taking",
                "m0.memory.interlink.ingress.cycles.landing"}}),
    [](const auto& c) { return std::string(c.param.program); });

// Closed forms of the cluster (cluster.md sections 8, 11 and 13.4) as the shares show them.
TEST(AttributionOfACluster, ASweepIssuesPacesAndEndsAsTheFormulasSay) {
  struct Shape {
    unsigned gm, gn, nk, period;
  };
  for (const Shape& s : {Shape{1, 1, 1, 1}, Shape{1, 1, 4, 5}, Shape{2, 1, 3, 3}, Shape{2, 2, 2, 2},
                         Shape{5, 1, 3, 1}, Shape{4, 4, 2, 1}}) {
    const std::string text = fmt::format(
        "machine \"mesh1\" meshes=1 staging=4\n"
        "image 0x0 tensor [32,128] layout=entry:8x4 seed=139 shift=10 mesh=0\n"
        "image 0x2000 tensor [32,128] layout=entry:8x4 seed=151 shift=10 mesh=0\n"
        "round \"r\" mesh=0\n baseline (1,1) mesh=0\n"
        "stage 0 mesh=0 {{\n fill a n=32 from=0x0\n fill b n=32 from=0x2000\n gemm gm={} gn={} nk={} "
        "last\n}}\n"
        " credit 32 mesh=0\nkick (1,1) slots=0..2 mesh=0\nawait (1,1) 3 mesh=0\n",
        s.gm, s.gn, s.nk);
    arch::Program program = arch::assemble(text, "shape.kasm");
    platform::Registry models;
    platform::register_models(models);
    platform::System system(topo::read_file("mesh1"), models);
    observe::Registry registry;
    registry.add(system.engine());
    platform::Runner runner(system, &program, {1'000'000, 100'000});
    ASSERT_EQ(runner.run().status, arch::ExitStatus::kOk) << runner.result().message;
    const auto cycles = [&](const char* state) {
      return registry.at(fmt::format("cluster@1,1.sweep.cycles.{}", state)).read();
    };
    const std::uint64_t n = std::uint64_t{s.gm} * s.gn * s.nk;
    SCOPED_TRACE(fmt::format("{}x{}, nk {}", s.gm, s.gn, s.nk));
    EXPECT_EQ(cycles("issuing"), n);
    EXPECT_EQ(cycles("pacing"), (n - 1) * (s.period - 1));
    EXPECT_EQ(cycles("accumulating"), 31u);  // gemm_busy is low from the last issue + 32 on
    EXPECT_EQ(cycles("stalled"), 0u);
  }
}

}  // namespace
}  // namespace ktpu::test
