// SPDX-License-Identifier: Apache-2.0
#include "tlm/platform/registry.h"

#include "arch/error.h"

namespace ktpu::platform {

namespace {

[[noreturn]] void refuse(const std::string& node, std::string_view kind, topo::Impl impl) {
  if (impl == topo::Impl::kModel)
    throw arch::UserError::make("{}: nodes of kind \"{}\" are not supported by this version", node, kind);
  throw arch::UserError::make(
      "{}: no \"{}\" implementation of \"{}\" is built in. RTL twins need the build option KTPU_RTL=ON (and "
      "a "
      "kind that has a twin); use impl: model otherwise",
      node, topo::impl_name(impl), kind);
}

}  // namespace

const RouterFactory& Registry::router(topo::Impl impl, const std::string& node) const {
  const auto it = routers_.find(impl);
  if (it == routers_.end()) refuse(node, "router", impl);
  return it->second;
}

const EndpointFactory& Registry::endpoint(topo::Kind kind, topo::Impl impl, const std::string& node) const {
  const auto it = endpoints_.find({kind, impl});
  if (it == endpoints_.end()) refuse(node, topo::kind_name(kind), impl);
  return it->second;
}

const MemoryFactory& Registry::memory(topo::Impl impl, const std::string& node) const {
  const auto it = memories_.find(impl);
  if (it == memories_.end()) refuse(node, topo::kind_name(topo::Kind::kMemoryPort), impl);
  return it->second;
}

const AgentFactory& Registry::agent(topo::Impl impl, const std::string& node) const {
  const auto it = agents_.find(impl);
  if (it == agents_.end()) refuse(node, "control agent", impl);
  return it->second;
}

const CommandEngineFactory& Registry::command_engine(topo::Impl impl, const std::string& node) const {
  const auto it = engines_.find(impl);
  if (it == engines_.end()) refuse(node, "command engine", impl);
  return it->second;
}

}  // namespace ktpu::platform
