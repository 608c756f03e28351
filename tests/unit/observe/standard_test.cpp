// SPDX-License-Identifier: Apache-2.0
// The standard metrics and invariants on whole machines: every name they use exists in the models, and the
// invariants hold in every cycle of a loaded network.
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "tlm/observe/digest.h"
#include "tlm/observe/registry.h"
#include "tlm/observe/standard_metrics.h"
#include "tlm/platform/registry.h"
#include "tlm/platform/system.h"
#include "topologies/reader.h"

namespace ktpu::observe {
namespace {

struct Machine {
  explicit Machine(const std::string& topology, const std::vector<std::string>& set = {}) {
    platform::Registry units;
    platform::register_models(units);
    const std::string path = std::string(KTPU_SOURCE_DIR) + "/topologies/" + topology + ".yaml";
    system = std::make_unique<platform::System>(topo::read_file(path, set), units);
    registry.add(system->timeline(), [this](const sim::Unit& unit) { return system->source_of(unit); });
  }
  RunFacts facts() {
    RunFacts f;
    f.cycles = system->engine().now();
    f.clock_mhz = 300;
    f.machine_cycles = f.total_cycles = f.cycles;
    return f;
  }
  std::unique_ptr<platform::System> system;
  Registry registry;
};

std::vector<std::string> uniform(double rate) {
  return {"meshes.0.units.t.pattern=uniform", fmt::format("meshes.0.units.t.rate={}", rate)};
}

TEST(ObserveStandard, EveryNameOfAMetricExistsInTheModelsAndEveryMetricIsUsed) {
  std::set<std::string> unused;
  for (const Metric& metric : standard_metrics()) unused.insert(metric.name + metric.pattern);
  for (const char* topology : {"mesh8", "reference_mesh8", "noc3x3"}) {
    Machine machine(topology);
    for (Metric metric : standard_metrics()) {
      Statistics statistics(machine.registry);
      statistics.set_facts(machine.facts());
      const std::size_t before = statistics.rows().size();
      metric.optional = false;  // a name that is missing is an error now
      statistics.add(metric);
      if (statistics.rows().size() > before) unused.erase(metric.name + metric.pattern);
    }
    for (Invariant invariant : standard_invariants()) {
      Statistics statistics(machine.registry);
      statistics.set_facts(machine.facts());
      // Without an interlink in use there is none of its names.
      invariant.optional =
          (invariant.left + invariant.right + invariant.unless).find("interlink") != std::string::npos;
      statistics.add(invariant);
      EXPECT_TRUE(statistics.check().empty()) << topology << ": " << invariant.name;
    }
  }
  EXPECT_EQ(unused, std::set<std::string>{});
}

// A pattern of a formula that selects nothing would read as 0 for ever.
TEST(ObserveStandard, EveryPatternInAFormulaSelectsSomething) {
  Machine machine("reference_mesh8"), traffic("noc3x3"), clocks("cdc"), meshes("quad");
  const auto check = [&](const std::string& formula, const std::string& node) {
    static const std::regex kPattern(R"((sum|max|min|count)\(([^)]*)\))");
    for (std::sregex_iterator it(formula.begin(), formula.end(), kPattern), end; it != end; ++it) {
      const std::string pattern = node + (*it)[2].str();
      if (pattern.ends_with(".unit.machine_cycles")) continue;  // no registry entry: worked out for each unit
      EXPECT_FALSE(machine.registry.match(pattern).empty() && traffic.registry.match(pattern).empty() &&
                   clocks.registry.match(pattern).empty() && meshes.registry.match(pattern).empty())
          << pattern << " in " << formula;
    }
  };
  const auto node_of = [](Over over, const std::string& pattern) {
    return over == Over::kRun ? std::string() : pattern + ".";
  };
  for (const Metric& metric : standard_metrics()) check(metric.formula, node_of(metric.over, metric.pattern));
  for (const Invariant& invariant : standard_invariants())
    for (const std::string* formula : {&invariant.left, &invariant.right, &invariant.unless})
      check(*formula, node_of(invariant.over, invariant.pattern));
}

TEST(ObserveStandard, InvariantsHoldInEveryCycleOfALoadedNetwork) {
  for (const double rate : {0.05, 0.9}) {
    Machine machine("noc3x3", uniform(rate));
    Statistics statistics(machine.registry);
    add_standard(statistics);
    for (sim::Cycle end = 1; end <= 300; ++end) {
      machine.system->engine().run_until(end);
      machine.system->engine().sync();
      statistics.set_facts(machine.facts());
      for (const Violation& violation : statistics.check())
        FAIL() << "rate " << rate << ", cycle " << end << ": " << violation.text();
    }
    EXPECT_GT(machine.registry.at("router@2,2.links.flits_out").read(), 20u);
  }
}

TEST(ObserveStandard, ALostFlitIsSeen) {
  Machine machine("noc3x3", uniform(0.5));
  Statistics statistics(machine.registry);
  add_standard(statistics);
  machine.system->engine().run_until(200);
  machine.system->engine().sync();
  statistics.set_facts(machine.facts());
  ASSERT_TRUE(statistics.check().empty());
  --machine.system->link("router@2,2.east")->transferred();
  const std::vector<Violation> violations = statistics.check();
  ASSERT_EQ(violations.size(), 2u);  // one router sent it, the other received it
  EXPECT_EQ(violations[0].name, "router@2,2.flits_conserved");
  EXPECT_EQ(violations[1].name, "router@3,2.flits_conserved");
}

TEST(ObserveStandard, FlitsPerCycleCountsEndpointsOnly) {
  Machine machine("noc3x3", uniform(0.2));
  Statistics statistics(machine.registry);
  add_standard(statistics);
  machine.system->engine().run_until(500);
  statistics.set_facts(machine.facts());
  double delivered = 0;
  for (const Entry* entry : machine.registry.match("traffic@*.delivered"))
    delivered += static_cast<double>(entry->read());
  for (const Row& row : statistics.rows())
    if (row.name == "run.flits_per_cycle") {
      EXPECT_DOUBLE_EQ(*row.value, delivered / 500);
    }
  EXPECT_GT(delivered, 100);
}

TEST(ObserveStandard, IdleSkipLeavesTheStateOfAWholeMachineAlone) {
  Machine fast("noc3x3", uniform(0.01)), slow("noc3x3", uniform(0.01));
  slow.system->engine().set_idle_skip(false);
  for (const sim::Cycle end : {10u, 100u, 1000u}) {
    fast.system->engine().run_until(end);
    slow.system->engine().run_until(end);
    EXPECT_EQ(digest(fast.system->engine()), digest(slow.system->engine())) << "cycle " << end;
  }
  EXPECT_GT(fast.system->engine().cycles_skipped(), 0u);
}

}  // namespace
}  // namespace ktpu::observe
