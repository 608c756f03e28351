// SPDX-License-Identifier: Apache-2.0
#include "apps/common/user_modules.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "apps/common/lockstep_pairs.h"
#ifdef KTPU_HAVE_RTL
#include "apps/common/part_factories.h"
#endif
#include "arch/error.h"
#include "tlm/platform/model_params.h"

namespace ktpu::apps {

namespace fs = std::filesystem;
using arch::UserError;
using plugin::Made;
using plugin::Plugin;

namespace {

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// Kinds of modules that are no endpoints.
constexpr std::string_view kRouter = "router", kMemory = "memory", kAgent = "agent",
                           kEngine = "command_engine";

// Whether it stands at the end of one link pair.
bool is_endpoint(std::string_view kind) {
  return kind != kRouter && kind != kMemory && kind != kAgent && kind != kEngine;
}

// Whether `plugin` is for nodes of `kind`, a word of node ids.
bool serves(const Plugin& plugin, std::string_view kind) {
  return plugin.kind == kind || (plugin.kind == std::string_view("endpoint") && is_endpoint(kind));
}

std::string_view made_of(const Plugin& plugin) {
  return plugin.made == Made::kRtl ? "RTL" : "a SystemC module";
}

const Plugin* load(const fs::path& path, const std::string& node) {
  void* const object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) {
    const std::string why = dlerror();
    // SystemC's library wants a program that it starts.
    if (why.find("sc_main") != std::string::npos)
      throw UserError::make(
          "{}: {} is a SystemC module, and this program does not run SystemC's kernel: ktpu-sim does", node,
          path.string());
    throw UserError::make("{}: cannot load {}: {}", node, path.string(), why);
  }
  const auto abi = reinterpret_cast<const char* (*)()>(dlsym(object, KTPU_PLUGIN_ABI_SYMBOL));
  const auto get = reinterpret_cast<const Plugin* (*)()>(dlsym(object, KTPU_PLUGIN_SYMBOL));
  if (abi == nullptr || get == nullptr)
    throw UserError::make(
        "{}: {} is no plugin of this simulator. ktpu_add_user_rtl() and ktpu_add_user_pins() of "
        "find_package(ktpu) make them",
        node, path.string());
  const std::string own = plugin::abi();
  if (own != abi())
    throw UserError::make(
        "{}: {} was built for another version of this simulator ({}; this one: {}). Build it again with "
        "this one's find_package(ktpu)",
        node, path.string(), abi(), own);
  return get();
}

// Waves and mismatches of a module that is not what its source says would mislead.
void require_current(const Plugin& plugin, const fs::path& path, const topo::UserModule& module,
                     const std::string& node) {
  const fs::path named = module.file;
  bool from_named = named.extension() == ".so";
  std::istringstream sources(plugin.sources);
  std::string source, first;
  while (std::getline(sources, source)) {
    if (first.empty()) first = source;
    std::error_code error;
    from_named = from_named || fs::equivalent(source, named, error);
    const auto written = fs::last_write_time(source, error);
    if (!error && written > fs::last_write_time(path, error) && !error)
      throw UserError::make("{}: {} has changed since {} was built: build it again", node, source,
                            path.string());
  }
  if (!from_named)
    throw UserError::make("{}: {} was not built from {}, but from {}", node, path.string(), module.file,
                          first);
}

}  // namespace

fs::path find_plugin(const fs::path& file, const std::string& top, std::vector<fs::path>& tried) {
  std::vector<fs::path> folders{file.parent_path(), file.parent_path() / "build", fs::current_path(),
                                fs::current_path() / "build"};
  if (const char* path = std::getenv(kPluginPath)) {
    std::istringstream list(path);
    std::string folder;
    while (std::getline(list, folder, ':'))
      if (!folder.empty()) folders.push_back(fs::absolute(folder));
  }
  for (const fs::path& folder : folders) {
    const fs::path candidate = (folder / (top + ".so")).lexically_normal();
    if (std::find(tried.begin(), tried.end(), candidate) != tried.end()) continue;
    tried.push_back(candidate);
    if (is_file(candidate)) return candidate;
  }
  return {};
}

const Plugin& LoadedModules::find(const topo::UserModule& module, topo::Impl impl, std::string_view kind,
                                  const std::string& node) {
  if (impl == topo::Impl::kPins && kind != kRouter && !is_endpoint(kind))
    platform::refuse_pins(node, kind == kMemory  ? "memory agent"
                                : kind == kAgent ? "control agent"
                                                 : "command engine");
#ifndef KTPU_HAVE_RTL
  if (kind != kRouter && !is_endpoint(kind))
    throw UserError::make("{}: a module of your own there needs the build option KTPU_RTL=ON", node);
#endif
  const fs::path file = module.file;
  if (!is_file(file))
    throw UserError::make("{}: impl {}: there is no file {}", node, topo::impl_name(impl), module.file);
  fs::path path = file;
  if (file.extension() != ".so") {
    // Of a class in a namespace, the last word.
    const std::size_t colons = module.top.rfind("::");
    const std::string word = colons == std::string::npos ? module.top : module.top.substr(colons + 2);
    std::vector<fs::path> tried;
    path = find_plugin(file, word, tried);
    if (path.empty()) {
      std::string places;
      for (const fs::path& place : tried) places += "\n  " + place.string();
      throw UserError::make(
          "{}: impl {}: {} is not built: there is no plugin{}\nBuild it with {}() of find_package(ktpu) "
          "(docs/rtl.md), or put the folder of {}.so into {}",
          node, topo::impl_name(impl), module.file, places,
          file.extension() == ".sv" || file.extension() == ".v" ? "ktpu_add_user_rtl" : "ktpu_add_user_pins",
          word, kPluginPath);
    }
  }
  const Plugin*& plugin = loaded_[path];
  if (plugin == nullptr) plugin = load(path, node);
  if (!serves(*plugin, kind))
    throw UserError::make("{}: {} is for nodes of the kind {}, and this is of the kind {}", node,
                          path.string(), plugin->kind, kind);
  if (plugin->top != module.top)
    throw UserError::make("{}: {} holds the module {}, not {}: write top: {}", node, path.string(),
                          plugin->top, module.top, plugin->top);
  if ((impl == topo::Impl::kRtl && plugin->made != Made::kRtl) ||
      (impl == topo::Impl::kPins && plugin->made != Made::kPins))
    throw UserError::make("{}: {} holds {}: write {} for {}", node, path.string(), made_of(*plugin),
                          impl == topo::Impl::kRtl ? "pins" : "rtl", topo::impl_name(impl));
  require_current(*plugin, path, module, node);
  return *plugin;
}

namespace {

std::string suffix(const Plugin& plugin) { return plugin.made == Made::kRtl ? ".rtl" : ".pins"; }

}  // namespace

platform::RouterFactory LoadedModules::router(const topo::UserModule& module, topo::Impl impl,
                                              const std::string& node) {
  const Plugin& plugin = find(module, impl, kRouter, node);
  if (impl == topo::Impl::kLockstep) return lockstep_router(plugin.router, suffix(plugin));
  return plugin.router;
}

platform::EndpointFactory LoadedModules::endpoint(const topo::UserModule& module, topo::Kind kind,
                                                  topo::Impl impl, const std::string& node) {
  const Plugin& plugin = find(module, impl, topo::kind_short(kind), node);
  const auto make = [&plugin, kind](const platform::EndpointContext& context) {
    plugin::Endpoint place;
    place.kind = topo::kind_short(kind);
    place.at = context.node.at;
    place.memory_port = context.memory_port;
    cluster::ClusterParams cluster{};
    vector::VectorParams vector{};
    if (kind == topo::Kind::kMatmulCluster) {
      cluster = platform::cluster_params(context);
      place.cluster = &cluster;
    } else if (kind == topo::Kind::kVectorCore) {
      vector = platform::vector_params(context);
      place.vector = &vector;
    }
    return plugin.endpoint(context.name, place, context.port);
  };
  if (impl != topo::Impl::kLockstep) return make;
  return lockstep_endpoint(models_.endpoint(kind, topo::Impl::kModel, node), make, suffix(plugin));
}

#ifndef KTPU_HAVE_RTL
namespace {

// Never called: find() refuses first.
platform::MemoryFactory memory_factory(topo::Impl, plugin::MemoryMaker) { return {}; }
platform::AgentFactory agent_factory(topo::Impl, plugin::AgentMaker) { return {}; }
platform::CommandEngineFactory command_engine_factory(topo::Impl, plugin::CommandEngineMaker) { return {}; }

}  // namespace
#endif

platform::MemoryFactory LoadedModules::memory(const topo::UserModule& module, topo::Impl impl,
                                              const std::string& node) {
  return memory_factory(impl, find(module, impl, kMemory, node).memory);
}

platform::AgentFactory LoadedModules::agent(const topo::UserModule& module, topo::Impl impl,
                                            const std::string& node) {
  return agent_factory(impl, find(module, impl, kAgent, node).agent);
}

platform::CommandEngineFactory LoadedModules::command_engine(const topo::UserModule& module, topo::Impl impl,
                                                             const std::string& node) {
  return command_engine_factory(impl, find(module, impl, kEngine, node).command_engine);
}

}  // namespace ktpu::apps
