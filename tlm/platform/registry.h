// SPDX-License-Identifier: Apache-2.0
// Which class stands in a node's socket: kind and implementation to constructor. Filled by functions one can
// read (register_models here, the twins' own one in rtl_models); no static magic.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tlm/noc/router.h"
#include "tlm/orchestrator/command_engine.h"
#include "tlm/orchestrator/control_agent.h"
#include "tlm/platform/memory_stand.h"
#include "tlm/sim/link.h"
#include "tlm/sim/unit.h"
#include "topologies/description.h"

namespace ktpu::platform {

using RouterFactory = std::function<std::unique_ptr<sim::Unit>(std::string name, const noc::RouterParams&,
                                                               const noc::Router::Ports&)>;

// What an endpoint's constructor gets to know.
struct EndpointContext {
  std::string name;
  const topo::Mesh& mesh;
  const topo::Node& node;
  sim::FlitPort port;
  arch::Coord memory_port;  // where its memory requests go; {0,0} if it uses none
};
using EndpointFactory = std::function<std::unique_ptr<sim::Unit>(const EndpointContext&)>;

// Of a mesh's memory agent where it is not the model alone.
using MemoryFactory = std::function<std::unique_ptr<MemoryStand>(
    std::string name, const memory::MemoryAgentConfig&, memory::DramDevice&)>;

// What the constructors of a mesh's control agent and command engine get to know, where these are not the
// model alone.
struct AgentContext {
  std::string name;
  const orchestrator::ControlAgentParams& params;
  const std::vector<orchestrator::RegisterBus*>& buses;
  memory::AuxWindow* aux;
  orchestrator::ControlAgent* model;  // built on the same; null unless impl is lockstep
};
using AgentFactory = std::function<std::unique_ptr<memory::AgentClient>(const AgentContext&)>;

struct CommandEngineContext {
  std::string name;
  unsigned commands;
  orchestrator::RegisterBus& host;
  orchestrator::RegisterBus& agent;
};
struct CommandEngineUnit {
  std::unique_ptr<sim::Unit> unit;
  orchestrator::CommandEngine* model = nullptr;  // inside it; null if it has none
};
using CommandEngineFactory = std::function<CommandEngineUnit(const CommandEngineContext&)>;

// Where the factories of modules from outside come from (topo::UserModule). `impl` is rtl, pins or lockstep.
class UserModules {
 public:
  virtual ~UserModules() = default;
  // Throw UserError naming the node: no such module, or it is of another kind.
  virtual RouterFactory router(const topo::UserModule& module, topo::Impl impl, const std::string& node) = 0;
  virtual EndpointFactory endpoint(const topo::UserModule& module, topo::Kind kind, topo::Impl impl,
                                   const std::string& node) = 0;
  virtual MemoryFactory memory(const topo::UserModule& module, topo::Impl impl, const std::string& node) = 0;
  virtual AgentFactory agent(const topo::UserModule& module, topo::Impl impl, const std::string& node) = 0;
  virtual CommandEngineFactory command_engine(const topo::UserModule& module, topo::Impl impl,
                                              const std::string& node) = 0;
};

class Registry {
 public:
  void set_user_modules(std::shared_ptr<UserModules> modules) { user_modules_ = std::move(modules); }
  void add_router(topo::Impl impl, RouterFactory factory) { routers_[impl] = std::move(factory); }
  void add_endpoint(topo::Kind kind, topo::Impl impl, EndpointFactory factory) {
    endpoints_[{kind, impl}] = std::move(factory);
  }
  void add_memory(topo::Impl impl, MemoryFactory factory) { memories_[impl] = std::move(factory); }
  void add_agent(topo::Impl impl, AgentFactory factory) { agents_[impl] = std::move(factory); }
  void add_command_engine(topo::Impl impl, CommandEngineFactory factory) {
    engines_[impl] = std::move(factory);
  }
  // Whether the model routers of a mesh run together in one noc::RouterBank (the default) instead of one unit
  // each from the factory. Results are the same; the bank is several times faster.
  void set_bank_model_routers(bool on) { bank_ = on; }
  bool bank_model_routers() const { return bank_; }
  // All throw UserError naming the node when nothing is registered (a twin that is not built in, a kind this
  // version cannot run).
  RouterFactory router(topo::Impl impl, const std::string& node, const topo::UserModule& module = {}) const;
  EndpointFactory endpoint(topo::Kind kind, topo::Impl impl, const std::string& node,
                           const topo::UserModule& module = {}) const;
  MemoryFactory memory(topo::Impl impl, const std::string& node, const topo::UserModule& module = {}) const;
  AgentFactory agent(topo::Impl impl, const std::string& node, const topo::UserModule& module = {}) const;
  CommandEngineFactory command_engine(topo::Impl impl, const std::string& node,
                                      const topo::UserModule& module = {}) const;

 private:
  UserModules& user_modules(const std::string& node) const;

  bool bank_ = true;
  std::shared_ptr<UserModules> user_modules_;
  std::map<topo::Impl, RouterFactory> routers_;
  std::map<topo::Impl, MemoryFactory> memories_;
  std::map<topo::Impl, AgentFactory> agents_;
  std::map<topo::Impl, CommandEngineFactory> engines_;
  std::map<std::pair<topo::Kind, topo::Impl>, EndpointFactory> endpoints_;
};

// Throws UserError: what `kind` names, a kind of unit in words, has no pins.
[[noreturn]] void refuse_pins(const std::string& node, std::string_view kind);

// All C++ models of this version.
void register_models(Registry& registry);

}  // namespace ktpu::platform
