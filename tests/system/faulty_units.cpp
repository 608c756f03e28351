// SPDX-License-Identifier: Apache-2.0
// ktpu-sim with a twin that is wrong: its routers' FIFOs take a cycle longer than the model's. Lock-step must
// find it, and the command line must say so (exit status 6).
#include "apps/common/register_units.h"
#include "tlm/noc/router.h"
#include "tlm/sim/lockstep.h"

namespace ktpu::apps {

namespace {

std::unique_ptr<sim::Unit> lockstep_router(std::string name, const noc::RouterParams& params,
                                           const noc::Router::Ports& ports) {
  sim::Shadows shadows;
  noc::Router::Ports shadowed{};
  for (unsigned p = 0; p < noc::kPorts; ++p) shadowed[p] = shadows.mirror(noc::kPortNames[p], ports[p]);
  noc::RouterParams wrong = params;
  ++wrong.fifo.latency;
  auto model = std::make_unique<noc::Router>(name + ".model", params, ports);
  auto twin = std::make_unique<noc::Router>(name + ".twin", wrong, shadowed);
  return std::make_unique<sim::Lockstep>(std::move(name), std::move(shadows), std::move(model),
                                         std::move(twin));
}

}  // namespace

void register_units(platform::Registry& registry) {
  platform::register_models(registry);
  registry.add_router(topo::Impl::kLockstep, lockstep_router);
}

}  // namespace ktpu::apps
