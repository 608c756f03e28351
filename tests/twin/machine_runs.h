// SPDX-License-Identifier: Apache-2.0
// One program on one machine three times: all models, all RTL, all in lock-step. What two runs have in common
// must be equal: cycles, outputs, memory, and every counter that both have.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/common/agent_sockets.h"
#include "apps/common/register_units.h"
#include "arch/program/tensor_layout.h"
#include "tlm/observe/registry.h"
#include "tlm/observe/standard_metrics.h"
#include "tlm/observe/statistics.h"
#include "tlm/platform/runner.h"
#include "tlm/sim/lockstep.h"
#include "topologies/description.h"

namespace ktpu::test {

struct MachineRun {
  platform::RunResult result;
  std::uint64_t memory = 0;                                  // digest of all that the DRAMs hold
  std::map<std::string, std::vector<std::uint8_t>> outputs;  // of the program
  std::map<std::string, std::uint64_t> counters;             // by path
  std::map<std::string, std::string> sources;                // by unit: "model", "rtl" or "lockstep"
  std::uint64_t compared_values = 0, compared_cycles = 0;    // lock-step
};

inline void set_quirks(topo::Machine& machine, topo::Quirks quirks) {
  for (topo::Mesh& mesh : machine.meshes)
    for (topo::Node& node : mesh.nodes) node.quirks = quirks;
}

// With `impl` for every unit that has one; it must end well, with all books balanced.
inline MachineRun run_machine(const arch::Program& program, topo::Machine machine, const std::string& impl) {
  topo::apply_impl(machine, "*=" + impl);
  platform::Registry units;
  apps::register_units(units);
  platform::System system(machine, units);
  observe::Registry registry;
  registry.add(system.timeline(), [&](const sim::Unit& unit) { return system.source_of(unit); });
  observe::Statistics statistics(registry);
  observe::add_standard(statistics);
  platform::Runner runner(system, &program, platform::RunLimits{50'000'000, 100'000});
  MachineRun run;
  run.result = runner.run();
  EXPECT_EQ(run.result.status, arch::ExitStatus::kOk) << impl << ": " << run.result.message;

  observe::RunFacts facts;
  facts.cycles = run.result.cycles;
  facts.clock_mhz = machine.clocks.front().mhz;
  for (const sim::Timeline::Clock& clock : system.timeline().clocks())
    facts.clocks.push_back({clock.name, static_cast<double>(clock.hertz) / 1e6, clock.engine});
  facts.machine_cycles = run.result.machine_cycles();
  statistics.set_facts(facts);
  for (const observe::Violation& v : statistics.check()) ADD_FAILURE() << impl << ": " << v.text();

  for (const platform::MeshSystem& mesh : system.meshes())
    if (mesh.memory != nullptr) run.memory = run.memory * 0x9E3779B97F4A7C15 + mesh.memory->digest();
  for (const arch::Tensor& output : program.outputs) {
    const arch::TensorLayout layout(output.layout, output.shape);
    run.outputs[output.name] = platform::read_memory(system.mesh(output.mesh), output.address,
                                                     layout.elements() * arch::dtype_bits(output.dtype) / 8);
  }
  for (const observe::Entry& entry : registry.entries())
    if (entry.kind == observe::EntryKind::kCounter) run.counters[entry.path] = entry.read();
  for (const sim::Timeline::Clock& clock : system.timeline().clocks())
    for (sim::Unit* unit : clock.engine->units()) {
      run.sources[unit->name()] = system.source_of(*unit);
      const auto* pair = dynamic_cast<const sim::Lockstep*>(unit);
      if (pair == nullptr) continue;
      run.compared_values += pair->compared_values();
      run.compared_cycles += pair->compared_cycles();
    }
  for (const platform::MeshSystem& mesh : system.meshes())
    if (const auto* pair = dynamic_cast<const apps::LockstepAgent*>(mesh.agent_twin.get())) {
      run.compared_values += pair->compared_values();
      run.compared_cycles += pair->compared_cycles();
    }
  return run;
}

// Expects `other` to be the run that `model` was; returns how many counters both have.
inline std::uint64_t expect_same_run(const MachineRun& model, const MachineRun& other,
                                     const std::string& what) {
  SCOPED_TRACE(what);
  EXPECT_EQ(model.result.cycles, other.result.cycles);
  EXPECT_EQ(model.result.host_end, other.result.host_end);
  EXPECT_EQ(model.result.machine_cycles(), other.result.machine_cycles());
  EXPECT_EQ(model.result.last_write_beat, other.result.last_write_beat);
  EXPECT_EQ(model.result.last_read_beat, other.result.last_read_beat);
  EXPECT_EQ(model.memory, other.memory);
  EXPECT_EQ(model.outputs, other.outputs);
  std::uint64_t common = 0;
  for (const auto& [path, value] : other.counters) {
    const auto it = model.counters.find(path);
    if (it == model.counters.end()) continue;
    ++common;
    EXPECT_EQ(it->second, value) << path;
  }
  return common;
}

// All three, in the quirk mode given; prints what was run and compared.
inline void expect_three_alike(const std::string& name, const arch::Program& program, topo::Machine machine,
                               topo::Quirks quirks) {
  set_quirks(machine, quirks);
  const std::string mode = quirks == topo::Quirks::kNone ? "none" : "reference";
  SCOPED_TRACE(name + ", quirks " + mode);
  const MachineRun model = run_machine(program, machine, "model");
  const MachineRun rtl = run_machine(program, machine, "rtl");
  const MachineRun pair = run_machine(program, machine, "lockstep");
  for (const auto& [unit, source] : rtl.sources)
    EXPECT_TRUE(source == "rtl" || unit == "host" || unit.find("adapter@") != std::string::npos ||
                unit.find("traffic@") != std::string::npos)
        << unit << " is a " << source;
  const std::uint64_t in_rtl = expect_same_run(model, rtl, "all rtl");
  const std::uint64_t in_pair = expect_same_run(model, pair, "all lockstep");
  EXPECT_GT(in_rtl, 0u);
  EXPECT_GT(pair.compared_values, 0u);
  std::size_t bytes = 0;
  for (const auto& [output, data] : model.outputs) bytes += data.size();
  fmt::print(
      "{}, quirks {}: {} cycles, {} of them in machine time; {} output bytes; {} counters equal in all RTL, "
      "{} "
      "in all lock-step; {} values compared in {} lock-step cycles of {} units\n",
      name, mode, model.result.cycles, model.result.machine_cycles().value_or(0), bytes, in_rtl, in_pair,
      pair.compared_values, pair.compared_cycles, pair.sources.size());
}

}  // namespace ktpu::test
