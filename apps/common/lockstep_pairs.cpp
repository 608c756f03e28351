// SPDX-License-Identifier: Apache-2.0
#include "apps/common/lockstep_pairs.h"

#include "tlm/noc/router.h"
#include "tlm/sim/lockstep.h"

namespace ktpu::apps {

platform::RouterFactory lockstep_router(platform::RouterFactory twin, std::string suffix) {
  return [make = std::move(twin), suffix = std::move(suffix)](
             std::string name, const noc::RouterParams& params,
             const noc::Router::Ports& ports) -> std::unique_ptr<sim::Unit> {
    sim::Shadows shadows;
    noc::Router::Ports shadowed{};
    for (unsigned p = 0; p < noc::kPorts; ++p) shadowed[p] = shadows.mirror(noc::kPortNames[p], ports[p]);
    auto model = std::make_unique<noc::Router>(name + ".model", params, ports);
    auto beside = make(name + suffix, params, shadowed);
    return std::make_unique<sim::Lockstep>(std::move(name), std::move(shadows), std::move(model),
                                           std::move(beside));
  };
}

platform::EndpointFactory lockstep_endpoint(platform::EndpointFactory model, platform::EndpointFactory twin,
                                            std::string suffix) {
  return [make_model = std::move(model), make_twin = std::move(twin), suffix = std::move(suffix)](
             const platform::EndpointContext& context) -> std::unique_ptr<sim::Unit> {
    sim::Shadows shadows;
    const sim::FlitPort shadowed = shadows.mirror("mesh", context.port);
    auto real =
        make_model({context.name + ".model", context.mesh, context.node, context.port, context.memory_port});
    auto beside =
        make_twin({context.name + suffix, context.mesh, context.node, shadowed, context.memory_port});
    return std::make_unique<sim::Lockstep>(context.name, std::move(shadows), std::move(real),
                                           std::move(beside));
  };
}

}  // namespace ktpu::apps
