// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "apps/common/mismatch_report.h"
#include "apps/ktpu-cosim/campaign.h"
#include "arch/program/program_file.h"
#include "tlm/platform/runner.h"
#include "tlm/sim/comparison.h"
#include "tlm/sim/lockstep.h"
#include "topologies/reader.h"

namespace ktpu::cosim {

namespace {

template <class Find>
bool has_lockstep(Find find) {
  try {
    find();
  } catch (const arch::UserError&) {
    return false;
  }
  return true;
}

// In lock-step: all of a machine that has a twin in this build.
void set_lockstep(topo::Machine& machine, const platform::Registry& registry) {
  constexpr topo::Impl kLockstep = topo::Impl::kLockstep;
  const bool routers = has_lockstep([&] { registry.router(kLockstep, ""); });
  const bool memories = has_lockstep([&] { registry.memory(kLockstep, ""); });
  const bool agents = has_lockstep([&] { registry.agent(kLockstep, ""); });
  const bool engines = has_lockstep([&] { registry.command_engine(kLockstep, ""); });
  for (topo::Mesh& mesh : machine.meshes) {
    for (topo::Node& node : mesh.nodes) {
      const bool twin = std::holds_alternative<topo::MemoryPort>(node.params)
                            ? memories
                            : has_lockstep([&] { registry.endpoint(node.kind(), kLockstep, ""); });
      if (twin) node.impl = kLockstep;
    }
    for (topo::Router& router : mesh.routers)
      if (routers) router.impl = kLockstep;
    if (!mesh.agent) continue;
    if (agents) mesh.agent->impl = kLockstep;
    if (engines && machine.host.kind == topo::HostKind::kCommandEngine) mesh.agent->engine_impl = kLockstep;
  }
}

topo::Machine read_machine(const WholeMachine& options, const platform::Registry& registry) {
  topo::Machine machine = topo::read_file(options.topology);
  bool traffic_nodes = false;
  for (topo::Mesh& mesh : machine.meshes)
    for (topo::Node& node : mesh.nodes) {
      if (auto* traffic = std::get_if<topo::Traffic>(&node.params)) {
        traffic_nodes = true;
        traffic->seed = options.seed;
        if (options.program.empty() && traffic->pattern == topo::Pattern::kScript) {
          traffic->pattern = topo::Pattern::kUniform;
          traffic->rate = 0.2;
        }
        if (options.stalls != 0)
          traffic->busy = {100, options.stalls, static_cast<std::uint32_t>(node.at.node_byte()), {}};
      }
    }
  if (options.program.empty() && !traffic_nodes)
    throw arch::UserError::make(
        "{}: nothing would happen in it: it has no traffic nodes, and without --program its units stay idle. "
        "Give a "
        "program (ktpu-cc makes one), or a machine of traffic nodes, for instance noc3x3",
        options.topology);
  if (options.impls.empty()) set_lockstep(machine, registry);
  for (const std::string& impl : options.impls) topo::apply_impl(machine, impl);
  return machine;
}

struct Pair {
  std::string name;
  const sim::Comparison* compared;
  const sim::Lockstep* unit;  // null: a part of one, which keeps no wires
};

std::vector<Pair> pairs_of(platform::System& system) {
  std::vector<Pair> pairs;
  for (const sim::Timeline::Clock& clock : system.timeline().clocks())
    for (sim::Unit* unit : clock.engine->units())
      if (auto* pair = dynamic_cast<sim::Lockstep*>(unit)) pairs.push_back({pair->name(), pair, pair});
  for (const platform::MeshSystem& mesh : system.meshes())
    if (const auto* pair = dynamic_cast<const sim::Comparison*>(mesh.agent_twin.get()))
      pairs.push_back({system.meshes().size() == 1 ? "agent" : fmt::format("m{}.agent", mesh.description->id),
                       pair, nullptr});
  return pairs;
}

}  // namespace

arch::ExitStatus run_machine(const WholeMachine& options, const platform::Registry& registry) {
  platform::System system(read_machine(options, registry), registry);
  const std::vector<Pair> pairs = pairs_of(system);
  if (pairs.empty())
    throw arch::UserError::make(
        "{}: nothing in it stands in lock-step: no unit of it has a twin in this build", options.topology);
  std::optional<arch::Program> program;
  if (!options.program.empty()) program = arch::load_program(options.program);
  platform::RunLimits limits;
  limits.max_cycles = options.cycles;
  bool over = false;
  platform::Runner runner(system, program ? &*program : nullptr, limits);
  try {
    const platform::RunResult& result = runner.run();
    if (result.status != arch::ExitStatus::kOk && result.status != arch::ExitStatus::kCycleLimit) {
      fmt::print("{}\n", result.message);
      return result.status;
    }
    over = result.status == arch::ExitStatus::kOk;
  } catch (const sim::LockstepError& error) {
    fmt::print("{}\n{}", error.what(), apps::mismatch_report(system, error.mismatch(), options.waves));
    return error.status();
  }
  system.timeline().sync();
  std::uint64_t values = 0;
  for (const Pair& pair : pairs) {
    if (pair.unit != nullptr) pair.unit->require_compared();
    values += pair.compared->compared_values();
    fmt::print("{}: {} cycles, {} values equal\n", pair.name, pair.compared->compared_cycles(),
               pair.compared->compared_values());
  }
  std::uint64_t flits = 0;
  for (const sim::Timeline::Clock& clock : system.timeline().clocks())
    for (sim::LinkBase* link : clock.engine->links()) flits += link->transferred();
  fmt::print("{}: {} cycles, {} units in lock-step, {} flits, {} values compared, 0 differences\n",
             system.machine().name, system.timeline().now(), pairs.size(), flits, values);
  if (program && !over)
    fmt::print("{}: the program is not over after {} cycles: --cycles {} was too few\n", options.program,
               system.timeline().now(), options.cycles);
  if (flits != 0) return arch::ExitStatus::kOk;
  throw arch::UserError(
      fmt::format("{}: not a single flit moved in {} cycles, so next to nothing was compared",
                  options.topology, system.timeline().now()),
      arch::ExitStatus::kLockstepMismatch);
}

}  // namespace ktpu::cosim
