// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

#include "apps/ktpu-cosim/campaign.h"
#include "arch/program/program_file.h"
#include "tlm/platform/runner.h"
#include "tlm/sim/lockstep.h"
#include "topologies/reader.h"

namespace ktpu::cosim {

namespace {

bool has_twin(const platform::Registry& registry, const topo::Node& node) {
  try {
    registry.endpoint(node.kind(), topo::Impl::kLockstep, "");
  } catch (const arch::UserError&) {
    return false;
  }
  return true;
}

topo::Machine read_machine(const WholeMachine& options, const platform::Registry& registry) {
  topo::Machine machine = topo::read_file(options.topology);
  for (topo::Mesh& mesh : machine.meshes) {
    for (topo::Node& node : mesh.nodes) {
      if (auto* traffic = std::get_if<topo::Traffic>(&node.params)) {
        traffic->seed = options.seed;
        if (options.program.empty() && traffic->pattern == topo::Pattern::kScript) {
          traffic->pattern = topo::Pattern::kUniform;
          traffic->rate = 0.2;
        }
        if (options.stalls != 0)
          traffic->busy = {100, options.stalls, static_cast<std::uint32_t>(node.at.node_byte()), {}};
      }
      if (options.impls.empty() && has_twin(registry, node)) node.impl = topo::Impl::kLockstep;
    }
    if (options.impls.empty())
      for (topo::Router& router : mesh.routers) router.impl = topo::Impl::kLockstep;
  }
  for (const std::string& impl : options.impls) topo::apply_impl(machine, impl);
  return machine;
}

std::vector<sim::Lockstep*> pairs_of(platform::System& system) {
  std::vector<sim::Lockstep*> pairs;
  for (const sim::Timeline::Clock& clock : system.timeline().clocks())
    for (sim::Unit* unit : clock.engine->units())
      if (auto* pair = dynamic_cast<sim::Lockstep*>(unit)) pairs.push_back(pair);
  return pairs;
}

}  // namespace

arch::ExitStatus run_machine(const WholeMachine& options, const platform::Registry& registry) {
  platform::System system(read_machine(options, registry), registry);
  const std::vector<sim::Lockstep*> pairs = pairs_of(system);
  if (pairs.empty())
    throw arch::UserError::make(
        "{}: nothing in it stands in lock-step: no unit of it has a twin in this build", options.topology);
  std::optional<arch::Program> program;
  if (!options.program.empty()) program = arch::load_program(options.program);
  platform::RunLimits limits;
  limits.max_cycles = options.cycles;
  platform::Runner runner(system, program ? &*program : nullptr, limits);
  try {
    const platform::RunResult& result = runner.run();
    if (result.status != arch::ExitStatus::kOk && result.status != arch::ExitStatus::kCycleLimit) {
      fmt::print("{}\n", result.message);
      return result.status;
    }
  } catch (const sim::LockstepError& error) {
    fmt::print("{}\nThe last cycles of its ports:\n", error.what());
    for (const sim::Lockstep* pair : pairs) {
      if (pair->name() != error.mismatch().unit) continue;
      std::ostringstream history;
      pair->print_history(history);
      fmt::print("{}", history.str());
      if (options.waves.empty()) continue;
      std::ofstream file(options.waves);
      pair->write_history_vcd(file);
      if (!file) throw arch::UserError::make("{}: cannot be written", options.waves);
      fmt::print("Waves of both sides: {}\n", options.waves);
    }
    return error.status();
  }
  system.timeline().sync();
  std::uint64_t values = 0;
  for (const sim::Lockstep* pair : pairs) {
    pair->require_compared();
    values += pair->compared_values();
    fmt::print("{}: {} cycles, {} values equal\n", pair->name(), pair->compared_cycles(),
               pair->compared_values());
  }
  std::uint64_t flits = 0;
  for (const sim::Timeline::Clock& clock : system.timeline().clocks())
    for (sim::LinkBase* link : clock.engine->links()) flits += link->transferred();
  fmt::print("{}: {} cycles, {} units in lock-step, {} flits, {} values compared, 0 differences\n",
             system.machine().name, system.timeline().now(), pairs.size(), flits, values);
  return arch::ExitStatus::kOk;
}

}  // namespace ktpu::cosim
