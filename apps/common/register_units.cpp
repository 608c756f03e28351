// SPDX-License-Identifier: Apache-2.0
#include "apps/common/register_units.h"

#ifdef KTPU_HAVE_RTL
#include "apps/common/agent_sockets.h"
#include "apps/common/engine_sockets.h"
#include "apps/common/memory_of_twin.h"
#include "apps/common/memory_pair.h"
#include "rtl_models/cluster/cluster_twin.h"
#include "rtl_models/router/router_twin.h"
#include "rtl_models/vector/vector_twin.h"
#include "tlm/noc/router.h"
#include "tlm/platform/model_params.h"
#include "tlm/sim/lockstep.h"
#endif

namespace ktpu::apps {

#ifdef KTPU_HAVE_RTL
namespace {

std::unique_ptr<sim::Unit> rtl_router(std::string name, const noc::RouterParams& params,
                                      const noc::Router::Ports& ports) {
  return std::make_unique<rtl::RouterTwin>(std::move(name), params, ports);
}

// The model on the machine's links, the RTL on shadows of them.
std::unique_ptr<sim::Unit> lockstep_router(std::string name, const noc::RouterParams& params,
                                           const noc::Router::Ports& ports) {
  sim::Shadows shadows;
  noc::Router::Ports shadowed{};
  for (unsigned p = 0; p < noc::kPorts; ++p) shadowed[p] = shadows.mirror(noc::kPortNames[p], ports[p]);
  auto model = std::make_unique<noc::Router>(name + ".model", params, ports);
  auto twin = std::make_unique<rtl::RouterTwin>(name + ".rtl", params, shadowed);
  return std::make_unique<sim::Lockstep>(std::move(name), std::move(shadows), std::move(model),
                                         std::move(twin));
}

std::unique_ptr<sim::Unit> rtl_cluster(const platform::EndpointContext& context) {
  return std::make_unique<rtl::ClusterTwin>(context.name, platform::cluster_params(context), context.port);
}

std::unique_ptr<sim::Unit> lockstep_cluster(const platform::EndpointContext& context) {
  const cluster::ClusterParams params = platform::cluster_params(context);
  sim::Shadows shadows;
  const sim::FlitPort shadowed = shadows.mirror("mesh", context.port);
  auto model = std::make_unique<cluster::MatmulCluster>(context.name + ".model", params, context.port);
  auto twin = std::make_unique<rtl::ClusterTwin>(context.name + ".rtl", params, shadowed);
  return std::make_unique<sim::Lockstep>(context.name, std::move(shadows), std::move(model), std::move(twin));
}

std::unique_ptr<sim::Unit> rtl_vector(const platform::EndpointContext& context) {
  return std::make_unique<rtl::VectorTwin>(context.name, platform::vector_params(context), context.port);
}

std::unique_ptr<sim::Unit> lockstep_vector(const platform::EndpointContext& context) {
  const vector::VectorParams params = platform::vector_params(context);
  sim::Shadows shadows;
  const sim::FlitPort shadowed = shadows.mirror("mesh", context.port);
  auto model = std::make_unique<vector::VectorCore>(context.name + ".model", params, context.port);
  auto twin = std::make_unique<rtl::VectorTwin>(context.name + ".rtl", params, shadowed);
  return std::make_unique<sim::Lockstep>(context.name, std::move(shadows), std::move(model), std::move(twin));
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
#ifdef KTPU_HAVE_RTL
  registry.add_router(topo::Impl::kRtl, rtl_router);
  registry.add_router(topo::Impl::kLockstep, lockstep_router);
  registry.add_endpoint(topo::Kind::kMatmulCluster, topo::Impl::kRtl, rtl_cluster);
  registry.add_endpoint(topo::Kind::kMatmulCluster, topo::Impl::kLockstep, lockstep_cluster);
  registry.add_agent(topo::Impl::kRtl, rtl_agent);
  registry.add_agent(topo::Impl::kLockstep, lockstep_agent);
  registry.add_command_engine(topo::Impl::kRtl, rtl_engine);
  registry.add_command_engine(topo::Impl::kLockstep, lockstep_engine_unit);
  registry.add_endpoint(topo::Kind::kVectorCore, topo::Impl::kRtl, rtl_vector);
  registry.add_endpoint(topo::Kind::kVectorCore, topo::Impl::kLockstep, lockstep_vector);
  registry.add_memory(topo::Impl::kRtl, rtl_memory);
  registry.add_memory(topo::Impl::kLockstep, lockstep_memory);
#endif
}

}  // namespace ktpu::apps
