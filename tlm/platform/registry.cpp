// SPDX-License-Identifier: Apache-2.0
#include "tlm/platform/registry.h"

#include "arch/error.h"

namespace ktpu::platform {

void refuse_pins(const std::string& node, std::string_view kind) {
  throw arch::UserError::make(
      "{}: a SystemC module with pins can stand for a router or a node with one link pair, not for a {}: "
      "choose "
      "model, rtl or lockstep there",
      node, kind);
}

namespace {

[[noreturn]] void refuse(const std::string& node, std::string_view kind, topo::Impl impl,
                         bool may_have_pins = true) {
  if (impl == topo::Impl::kModel)
    throw arch::UserError::make("{}: nodes of kind \"{}\" are not supported by this version", node, kind);
  if (impl == topo::Impl::kPins && may_have_pins)
    throw arch::UserError::make(
        "{}: impl pins needs a SystemC module to stand there: write impl: {{pins: FILE, top: CLASS}}, FILE "
        "being its source or the plugin built from it",
        node);
  if (impl == topo::Impl::kPins) refuse_pins(node, kind);
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
  if (it == memories_.end()) refuse(node, "memory agent", impl, false);
  return it->second;
}

AgentFactory Registry::agent(topo::Impl impl, const std::string& node, const topo::UserModule& module) const {
  if (module.given()) return user_modules(node).agent(module, impl, node);
  const auto it = agents_.find(impl);
  if (it == agents_.end()) refuse(node, "control agent", impl, false);
  return it->second;
}

CommandEngineFactory Registry::command_engine(topo::Impl impl, const std::string& node,
                                              const topo::UserModule& module) const {
  if (module.given()) return user_modules(node).command_engine(module, impl, node);
  const auto it = engines_.find(impl);
  if (it == engines_.end()) refuse(node, "command engine", impl, false);
  return it->second;
}

}  // namespace ktpu::platform
