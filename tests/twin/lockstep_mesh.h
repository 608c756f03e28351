// SPDX-License-Identifier: Apache-2.0
// Router factories for the twin tests: RTL alone, or model and RTL in lock-step.
#pragma once

#include <memory>
#include <vector>

#include "rtl_models/router/router_twin.h"
#include "tests/unit/traffic/traffic_mesh.h"
#include "tlm/sim/lockstep.h"

namespace ktpu::test {

template <class Twin = rtl::RouterTwin>
std::unique_ptr<sim::Unit> rtl_router(const std::string& name, const noc::RouterParams& params,
                                      const noc::Router::Ports& ports) {
  return std::make_unique<Twin>(name, params, ports);
}

template <class Twin = rtl::RouterTwin>
std::unique_ptr<sim::Unit> lockstep_router(const std::string& name, const noc::RouterParams& params,
                                           const noc::Router::Ports& ports) {
  sim::Shadows shadows;
  noc::Router::Ports mirrored;
  for (unsigned p = 0; p < noc::kPorts; ++p) mirrored[p] = shadows.mirror(noc::kPortNames[p], ports[p]);
  auto model = std::make_unique<noc::Router>(name, params, ports);
  auto twin = std::make_unique<Twin>(name, params, mirrored);
  return std::make_unique<sim::Lockstep>(name, std::move(shadows), std::move(model), std::move(twin));
}

}  // namespace ktpu::test
