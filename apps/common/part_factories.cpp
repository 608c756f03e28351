// SPDX-License-Identifier: Apache-2.0
#include "apps/common/part_factories.h"

#include "apps/common/agent_sockets.h"
#include "apps/common/engine_sockets.h"
#include "apps/common/memory_of_twin.h"
#include "apps/common/memory_pair.h"

namespace ktpu::apps {

platform::MemoryFactory memory_factory(topo::Impl impl, plugin::MemoryMaker make) {
  return [impl, make](std::string name, const memory::MemoryAgentConfig& config,
                      memory::DramDevice& dram) -> std::unique_ptr<platform::MemoryStand> {
    if (impl == topo::Impl::kLockstep)
      return std::make_unique<MemoryPair>(std::move(name), config, dram, make);
    return std::make_unique<MemoryOfTwin>(std::move(name), config, dram, make);
  };
}

platform::AgentFactory agent_factory(topo::Impl impl, plugin::AgentMaker make) {
  if (make == nullptr) make = plugin::make_agent<rtl::AgentTwin>;
  return [impl, make](const platform::AgentContext& context) -> std::unique_ptr<memory::AgentClient> {
    if (impl == topo::Impl::kLockstep)
      return std::make_unique<LockstepAgent>(context.name, *context.model, context.params, context.buses,
                                             context.aux, make);
    return std::make_unique<AgentOfTwin>(context.name, context.params, context.buses, context.aux, make);
  };
}

platform::CommandEngineFactory command_engine_factory(topo::Impl impl, plugin::CommandEngineMaker make) {
  if (make == nullptr) make = plugin::make_command_engine<rtl::CommandEngineTwin>;
  return [impl, make](const platform::CommandEngineContext& context) {
    platform::CommandEngineUnit made;
    if (impl == topo::Impl::kLockstep) {
      made.unit =
          lockstep_engine(context.name, context.commands, context.host, context.agent, &made.model, make);
      return made;
    }
    CommandEngineOfTwin::Wires wires;
    wires.host = &context.host.beat;
    wires.host_data = &context.host.read_data;
    wires.bus = &context.agent.beat;
    wires.bus_data = &context.agent.read_data;
    made.unit = std::make_unique<CommandEngineOfTwin>(context.name, context.commands, wires, make);
    return made;
  };
}

}  // namespace ktpu::apps
