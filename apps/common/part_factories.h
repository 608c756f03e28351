// SPDX-License-Identifier: Apache-2.0
// Memory agent, control agent and command engine with RTL, alone or beside their models: what the registry
// makes them with. Of the project's own RTL, or of a module of one's own.
#pragma once

#include "tlm/platform/registry.h"
#include "tlm/plugin/plugin.h"

namespace ktpu::apps {

// `impl` is kRtl or kLockstep. `make` null: the project's own RTL.
platform::MemoryFactory memory_factory(topo::Impl impl, plugin::MemoryMaker make = nullptr);
platform::AgentFactory agent_factory(topo::Impl impl, plugin::AgentMaker make = nullptr);
platform::CommandEngineFactory command_engine_factory(topo::Impl impl,
                                                      plugin::CommandEngineMaker make = nullptr);

}  // namespace ktpu::apps
