// SPDX-License-Identifier: Apache-2.0
#include "tlm/platform/registry.h"

#include "arch/error.h"

namespace ktpu::platform {

namespace {

[[noreturn]] void refuse(const std::string& node, std::string_view kind, topo::Impl impl) {
  if (impl == topo::Impl::kModel)
    throw arch::UserError::make("{}: nodes of kind \"{}\" are not supported by this version", node, kind);
  if (impl == topo::Impl::kPins)
    throw arch::UserError::make(
        "{}: impl pins needs a SystemC module to stand there: write impl: {{pins: FILE, top: CLASS}}, FILE "
        "being its source or the plugin built from it",
        node);
  throw arch::UserError::make(
      "{}: no \"{}\" implementation of \"{}\" is built in. RTL twins need the build option KTPU_RTL=ON (and "
      "a "
      "kind that has a twin); use impl: model otherwise",
      node, topo::impl_name(impl), kind);
}

}  // namespace

UserModules& Registry::user_modules(const std::string& node) const {
  if (user_modules_ == nullptr)
    throw arch::UserError::make("{}: this program cannot load modules of your own; ktpu-sim can", node);
  return *user_modules_;
}

RouterFactory Registry::router(topo::Impl impl, const std::string& node,
                               const topo::UserModule& module) const {
  if (module.given()) return user_modules(node).router(module, impl, node);
  const auto it = routers_.find(impl);
  if (it == routers_.end()) refuse(node, "router", impl);
  return it->second;
}

EndpointFactory Registry::endpoint(topo::Kind kind, topo::Impl impl, const std::string& node,
                                   const topo::UserModule& module) const {
  if (module.given()) return user_modules(node).endpoint(module, kind, impl, node);
  const auto it = endpoints_.find({kind, impl});
  if (it == endpoints_.end()) refuse(node, topo::kind_name(kind), impl);
  return it->second;
}

MemoryFactory Registry::memory(topo::Impl impl, const std::string& node,
                               const topo::UserModule& module) const {
  if (module.given()) return user_modules(node).memory(module, impl, node);
  const auto it = memories_.find(impl);
  if (it == memories_.end()) refuse(node, topo::kind_name(topo::Kind::kMemoryPort), impl);
  return it->second;
}

AgentFactory Registry::agent(topo::Impl impl, const std::string& node, const topo::UserModule& module) const {
  if (module.given()) return user_modules(node).agent(module, impl, node);
  const auto it = agents_.find(impl);
  if (it == agents_.end()) refuse(node, "control agent", impl);
  return it->second;
}

CommandEngineFactory Registry::command_engine(topo::Impl impl, const std::string& node,
                                              const topo::UserModule& module) const {
  if (module.given()) return user_modules(node).command_engine(module, impl, node);
  const auto it = engines_.find(impl);
  if (it == engines_.end()) refuse(node, "command engine", impl);
  return it->second;
}

}  // namespace ktpu::platform
