// SPDX-License-Identifier: Apache-2.0
#include "topologies/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "topologies/grid.h"
#include "topologies/keys.h"

namespace ktpu::topo {

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string flow_map(const Pairs& pairs) {
  std::string text;
  for (const auto& [key, value] : pairs)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", key, value);
  return "{" + text + "}";
}

// As YAML text.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string implementation_text(Impl impl, const UserModule& module) {
  if (!module.given()) return std::string(impl_name(impl));
  return flow_map(
      Pairs{{std::string(impl_name(impl)), in_quotes(module.file)}, {"top", in_quotes(module.top)}});
}

// The visitor of keys.h that collects every key that has a meaning, with its value as YAML text.
class PairWriter {
 public:
  template <std::unsigned_integral T>
  void integer(const char* key, T& value, const Range& range, std::string_view) {
    if (!active_) return;
    add(key, range.unit == "byte address" ? fmt::format("{:#x}", value) : fmt::format("{}", value));
  }
  template <std::unsigned_integral T>
  void optional_integer(const char* key, std::optional<T>& value, const Range&, std::string_view) {
    if (active_ && value) add(key, fmt::format("{}", *value));
  }
  void number(const char* key, double& value, double, double, std::string_view, std::string_view) {
    if (active_) add(key, fmt::format("{}", value));
  }
  void boolean(const char* key, bool& value, std::string_view) {
    if (active_) add(key, value ? "true" : "false");
  }
  template <typename E, std::size_t N>
  void choice(const char* key, E& value, const std::array<Word<E>, N>& words, std::string_view) {
    if (active_) add(key, std::string(word_of(words, value)));
  }
  void implementation(const char* key, Impl& impl, UserModule& module, std::string_view) {
    if (active_) add(key, implementation_text(impl, module));
  }
  void integers(const char* key, std::vector<std::uint32_t>& value, const Range&, std::string_view) {
    if (active_) add(key, fmt::format("[{}]", fmt::join(value, ", ")));
  }
  void coordinate(const char* key, std::optional<Coord>& value, Need, std::string_view) {
    if (active_ && value) add(key, fmt::format("\"{},{}\"", value->x, value->y));
  }
  void word(const char* key, std::string& value, std::string_view) {
    if (active_ && !value.empty()) add(key, value);
  }
  template <typename T>
  void section(const char* key, T& value, std::string_view) {
    if (active_) add(key, flow_map(PairWriter().pairs(value)));
  }
  template <typename T>
  void optional_section(const char* key, std::optional<T>& value, std::string_view) {
    if (active_) add(key, value ? flow_map(PairWriter().pairs(*value)) : "none");
  }
  void group(std::string_view, std::string_view, bool active) { active_ = active; }
  void end_group() { active_ = true; }

  template <typename T>
  Pairs pairs(T value) {
    visit(*this, value);
    return std::move(pairs_);
  }

 private:
  void add(const char* key, std::string value) { pairs_.emplace_back(key, std::move(value)); }

  Pairs pairs_;
  bool active_ = true;
};

template <typename T>
Pairs pairs_of(const T& value) {
  return PairWriter().pairs(value);
}

// A list of runs and a period exclude each other in the file.
Pairs pairs_of(const SinkBusy& busy) {
  Pairs pairs = PairWriter().pairs(busy);
  std::erase_if(pairs, [&](const auto& pair) { return (pair.first == "runs") == busy.runs.empty(); });
  return pairs;
}

// Control agent and command engine are told where they are no models.
Pairs agent_pairs(const Agent& agent) {
  Pairs pairs = pairs_of(agent);
  std::erase_if(pairs, [&](const auto& pair) {
    return (pair.first == "control_agent" && agent.impl == Impl::kModel) ||
           (pair.first == "command_engine" && agent.engine_impl == Impl::kModel);
  });
  return pairs;
}

bool has_crossings(const Machine& machine) {
  for (const Mesh& mesh : machine.meshes)
    for (const Node& node : mesh.nodes)
      if (node.crossing) return true;
  return false;
}

Pairs unit_pairs(const Machine& machine, const Node& node) {
  Pairs pairs{{"kind", std::string(kind_name(node.kind()))}};
  const auto append = [&](const Pairs& more) { pairs.insert(pairs.end(), more.begin(), more.end()); };
  std::visit([&](const auto& params) { append(pairs_of(params)); }, node.params);
  if (const Traffic* traffic = node.get<Traffic>())
    for (auto& [key, value] : pairs)
      if (key == "busy") value = flow_map(pairs_of(traffic->busy));
  UnitCommon common;
  common.impl = node.impl;
  common.module = node.module;
  common.quirks = node.quirks;
  common.adapter = node.adapter;
  common.clock = machine.clocks.empty() ? "" : machine.clocks[node.clock].name;
  common.crossing = node.crossing;
  append(pairs_of(common));
  // Said of all units where one has it, so that a unit without differs from its symbol's first one.
  if (node.kind() == Kind::kMemoryPort || !has_crossings(machine))
    std::erase_if(pairs, [](const auto& pair) { return pair.first == "crossing"; });
  if (!uses_memory_port(node.kind()))
    std::erase_if(pairs, [](const auto& pair) { return pair.first == "adapter"; });
  return pairs;
}

class MeshWriter {
 public:
  MeshWriter(const Machine& machine, const Mesh& mesh, std::string& out)
      : machine_(machine), mesh_(mesh), out_(out) {}

  void write() {
    line("  - id: {}", mesh_.id);
    write_grid();
    RouterKeys router;
    router.config = mesh_.router;
    if (!mesh_.routers.empty()) router.impl = mesh_.routers[0].impl, router.module = mesh_.routers[0].module;
    line("    router: {}", flow_map(pairs_of(router)));
    write_units(router);
    if (mesh_.agent) line("    agent: {}", flow_map(agent_pairs(*mesh_.agent)));
    if (mesh_.dram) write_dram();
    if (!mesh_.ports.empty()) {
      line("    staging: {}", presence_name(mesh_.staging));
      if (mesh_.staging == Presence::kBuilt)
        line("    staging_placement: {}", staging_placement_name(mesh_.staging_placement));
      line("    interlink: {}", presence_name(mesh_.interlink));
    }
    for (std::size_t i = 0; i < mesh_.ports.size(); ++i) {
      std::string users;
      for (const Node& node : mesh_.nodes)
        if (node.port == i) users += " " + node_id(machine_, mesh_, node);
      line("# memory port {} at ({},{}) serves:{}", i, mesh_.ports[i].x, mesh_.ports[i].y,
           users.empty() ? " -" : users);
    }
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  void write_grid() {
    line("    grid:");
    std::size_t width = 1;
    for (const Node& node : mesh_.nodes) width = std::max(width, node.symbol.size());
    for (unsigned y = 0; y <= mesh_.hi.y + 1u; ++y) {
      std::string row;
      for (unsigned x = 0; x <= mesh_.hi.x + 1u; ++x) {
        const Coord at{static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y)};
        const bool inside = x >= 1 && y >= 1 && x <= mesh_.hi.x && y <= mesh_.hi.y;
        const Node* node = mesh_.node_at(at);
        std::string cell(node != nullptr                            ? node->symbol
                         : inside && mesh_.router_at(at) == nullptr ? kNoRouterCell
                                                                    : kEmptyCell);
        if (x <= mesh_.hi.x) cell += ",";
        row += fmt::format("{:<{}}", cell, x <= mesh_.hi.x ? width + 2 : width);
      }
      line("      - [ {} ]", row);
    }
  }

  // Units as their first node has them; what other nodes of the symbol have differently goes to `nodes`.
  void write_units(const RouterKeys& all) {
    std::map<std::string, Pairs> units;
    std::vector<std::pair<std::string, Pairs>> nodes;
    for (const Node& node : mesh_.nodes) {
      const Pairs pairs = unit_pairs(machine_, node);
      const Pairs& unit = units.try_emplace(node.symbol, pairs).first->second;
      Pairs own;
      for (const auto& pair : pairs)
        if (std::find(unit.begin(), unit.end(), pair) == unit.end()) own.push_back(pair);
      if (node.port && *node.port != nearest_port(mesh_, node))
        own.emplace_back("port", fmt::format("{}", *node.port));
      if (!own.empty())
        nodes.emplace_back(fmt::format("{}@{},{}", kind_short(node.kind()), node.at.x, node.at.y), own);
    }
    for (const Router& router : mesh_.routers)
      if (router.impl != all.impl || router.module != all.module)
        nodes.emplace_back(fmt::format("{}@{},{}", kRouterShort, router.at.x, router.at.y),
                           Pairs{{"impl", implementation_text(router.impl, router.module)}});
    line("    units:");
    for (const auto& [symbol, pairs] : units) line("      {}: {}", symbol, flow_map(pairs));
    if (nodes.empty()) return;
    line("    nodes:");
    for (const auto& [id, pairs] : nodes) line("      {}: {}", id, flow_map(pairs));
  }

  void write_dram() {
    DramKeys keys;
    keys.dram = *mesh_.dram;
    if (mesh_.dram->clock != 0) keys.clock = machine_.clocks[mesh_.dram->clock].name;
    const std::uint64_t mib = keys.dram.size_bytes >> 20;
    if (mib << 20 == keys.dram.size_bytes)
      keys.size_mib = mib;
    else
      keys.size_bytes = keys.dram.size_bytes;
    line("    dram: {}", flow_map(pairs_of(keys)));
  }

  const Machine& machine_;
  const Mesh& mesh_;
  std::string& out_;
};

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    if (text[0] != '#')
      for (unsigned char byte : text.substr(0, end)) hash = (hash ^ byte) * 0x100000001b3;
    text.remove_prefix(end);
  }
  return hash;
}

}  // namespace

std::string print_resolved(const Machine& machine) {
  std::string out = fmt::format("version: {}\nname: {}\n", kVersion, machine.name);
  if (machine.clocks.size() == 1) {
    out += fmt::format("clock_mhz: {}\n", machine.clocks[0].mhz);
  } else {
    Pairs pairs;
    for (const Clock& clock : machine.clocks) pairs.emplace_back(clock.name, fmt::format("{}", clock.mhz));
    out += fmt::format("clocks: {}\n", flow_map(pairs));
  }
  out += "meshes:\n";
  for (const Mesh& mesh : machine.meshes) MeshWriter(machine, mesh, out).write();
  out += fmt::format("host: {}\n", flow_map(pairs_of(machine.host)));
  return out;
}

std::uint64_t fingerprint(const Machine& machine) { return fnv1a(print_resolved(machine)); }

std::uint64_t program_fingerprint(const Machine& machine) {
  Machine plain = machine;
  plain.name = "any";
  plain.clocks = {{"fabric", 1}};
  plain.host = Host{};
  for (Mesh& mesh : plain.meshes) {
    mesh.router = RouterConfig{};
    for (Router& router : mesh.routers) router.impl = Impl::kModel, router.module = {};
    for (Node& node : mesh.nodes)
      node.impl = Impl::kModel, node.module = {}, node.quirks = Quirks::kReference, node.clock = 0,
      node.crossing.reset();
    if (mesh.agent) {
      mesh.agent->reads_in_flight = 1;
      mesh.agent->impl = mesh.agent->engine_impl = Impl::kModel;
      mesh.agent->module = mesh.agent->engine_module = {};
    }
    if (mesh.dram) {
      mesh.dram->clock = 0;
      mesh.dram->model = DramModel::kSimple;
      mesh.dram->simple = DramSimple{};
      mesh.dram->banked = DramBanked{};
    }
  }
  return fnv1a(print_resolved(plain));
}

}  // namespace ktpu::topo
