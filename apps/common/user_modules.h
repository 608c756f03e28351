// SPDX-License-Identifier: Apache-2.0
// Modules from outside, loaded from their plugins (tlm/plugin/plugin.h) when a machine names one.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tlm/platform/registry.h"
#include "tlm/plugin/plugin.h"

namespace ktpu::apps {

// Folders in this environment variable, separated by colons, are searched for plugins, too.
inline constexpr const char* kPluginPath = "KTPU_PLUGIN_PATH";

class LoadedModules final : public platform::UserModules {
 public:
  // `models`: where the models come from that stand beside modules in lock-step; must outlive this.
  explicit LoadedModules(const platform::Registry& models) : models_(models) {}

  platform::RouterFactory router(const topo::UserModule& module, topo::Impl impl,
                                 const std::string& node) override;
  platform::EndpointFactory endpoint(const topo::UserModule& module, topo::Kind kind, topo::Impl impl,
                                     const std::string& node) override;
  platform::MemoryFactory memory(const topo::UserModule& module, topo::Impl impl,
                                 const std::string& node) override;
  platform::AgentFactory agent(const topo::UserModule& module, topo::Impl impl,
                               const std::string& node) override;
  platform::CommandEngineFactory command_engine(const topo::UserModule& module, topo::Impl impl,
                                                const std::string& node) override;

 private:
  // Checked against what the machine says of it. Never unloaded: its code may be needed until the end.
  const plugin::Plugin& find(const topo::UserModule& module, topo::Impl impl, std::string_view kind,
                             const std::string& node);

  const platform::Registry& models_;
  std::map<std::filesystem::path, const plugin::Plugin*> loaded_;
};

// A file TOP.so is looked for in the folder of the source `file`, in the current folder, in `build` below
// each, and in the folders of KTPU_PLUGIN_PATH, in this order. `tried`: all that were looked at.
std::filesystem::path find_plugin(const std::filesystem::path& file, const std::string& top,
                                  std::vector<std::filesystem::path>& tried);

}  // namespace ktpu::apps
