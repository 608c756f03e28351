// SPDX-License-Identifier: Apache-2.0
#include "apps/common/register_units.h"

#include "apps/common/user_modules.h"

#ifdef KTPU_HAVE_RTL
#include "apps/common/agent_sockets.h"
#include "apps/common/engine_sockets.h"
#include "apps/common/lockstep_pairs.h"
#include "apps/common/memory_of_twin.h"
#include "apps/common/memory_pair.h"
#include "rtl_models/cluster/cluster_twin.h"
#include "rtl_models/router/router_twin.h"
#include "rtl_models/vector/vector_twin.h"
#include "tlm/platform/model_params.h"
#endif

namespace ktpu::apps {

#ifdef KTPU_HAVE_RTL
namespace {

std::unique_ptr<sim::Unit> rtl_router(std::string name, const noc::RouterParams& params,
                                      const noc::Router::Ports& ports) {
  return std::make_unique<rtl::RouterTwin>(std::move(name), params, ports);
}

std::unique_ptr<sim::Unit> rtl_cluster(const platform::EndpointContext& context) {
  return std::make_unique<rtl::ClusterTwin>(context.name, platform::cluster_params(context), context.port);
}

std::unique_ptr<sim::Unit> rtl_vector(const platform::EndpointContext& context) {
  return std::make_unique<rtl::VectorTwin>(context.name, platform::vector_params(context), context.port);
}

std::unique_ptr<platform::MemoryStand> rtl_memory(std::string name, const memory::MemoryAgentConfig& config,
                                                  memory::DramDevice& dram) {
  return std::make_unique<MemoryOfTwin>(std::move(name), config, dram);
}

std::unique_ptr<platform::MemoryStand> lockstep_memory(std::string name,
                                                       const memory::MemoryAgentConfig& config,
                                                       memory::DramDevice& dram) {
  return std::make_unique<MemoryPair>(std::move(name), config, dram);
}

std::unique_ptr<memory::AgentClient> rtl_agent(const platform::AgentContext& context) {
  return std::make_unique<AgentOfTwin>(context.name, context.params, context.buses, context.aux);
}

std::unique_ptr<memory::AgentClient> lockstep_agent(const platform::AgentContext& context) {
  return std::make_unique<LockstepAgent>(context.name, *context.model, context.params, context.buses,
                                         context.aux);
}

platform::CommandEngineUnit rtl_engine(const platform::CommandEngineContext& context) {
  CommandEngineOfTwin::Wires wires;
  wires.host = &context.host.beat;
  wires.host_data = &context.host.read_data;
  wires.bus = &context.agent.beat;
  wires.bus_data = &context.agent.read_data;
  return {std::make_unique<CommandEngineOfTwin>(context.name, context.commands, wires), nullptr};
}

platform::CommandEngineUnit lockstep_engine_unit(const platform::CommandEngineContext& context) {
  platform::CommandEngineUnit made;
  made.unit = lockstep_engine(context.name, context.commands, context.host, context.agent, &made.model);
  return made;
}

}  // namespace
#endif

void register_units(platform::Registry& registry) {
  platform::register_models(registry);
  registry.set_user_modules(std::make_shared<LoadedModules>(registry));
#ifdef KTPU_HAVE_RTL
  // An endpoint's RTL, alone and beside the model.
  const auto add_twin = [&registry](topo::Kind kind, const platform::EndpointFactory& rtl) {
    registry.add_endpoint(kind, topo::Impl::kRtl, rtl);
    registry.add_endpoint(
        kind, topo::Impl::kLockstep,
        lockstep_endpoint(registry.endpoint(kind, topo::Impl::kModel, "lock-step"), rtl, ".rtl"));
  };
  registry.add_router(topo::Impl::kRtl, rtl_router);
  registry.add_router(topo::Impl::kLockstep, lockstep_router(rtl_router, ".rtl"));
  add_twin(topo::Kind::kMatmulCluster, rtl_cluster);
  add_twin(topo::Kind::kVectorCore, rtl_vector);
  registry.add_agent(topo::Impl::kRtl, rtl_agent);
  registry.add_agent(topo::Impl::kLockstep, lockstep_agent);
  registry.add_command_engine(topo::Impl::kRtl, rtl_engine);
  registry.add_command_engine(topo::Impl::kLockstep, lockstep_engine_unit);
  registry.add_memory(topo::Impl::kRtl, rtl_memory);
  registry.add_memory(topo::Impl::kLockstep, lockstep_memory);
#endif
}

}  // namespace ktpu::apps
