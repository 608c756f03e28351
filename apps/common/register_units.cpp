// SPDX-License-Identifier: Apache-2.0
#include "apps/common/register_units.h"

#include "apps/common/user_modules.h"

#ifdef KTPU_HAVE_RTL
#include "apps/common/lockstep_pairs.h"
#include "apps/common/part_factories.h"
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
  for (const topo::Impl impl : {topo::Impl::kRtl, topo::Impl::kLockstep}) {
    registry.add_agent(impl, agent_factory(impl));
    registry.add_command_engine(impl, command_engine_factory(impl));
    registry.add_memory(impl, memory_factory(impl));
  }
#endif
}

}  // namespace ktpu::apps
