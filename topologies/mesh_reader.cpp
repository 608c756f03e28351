// SPDX-License-Identifier: Apache-2.0
#include "topologies/mesh_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "topologies/grid.h"
#include "topologies/map_reader.h"
#include "topologies/suggest.h"
#include "topologies/unit_reader.h"

namespace ktpu::topo {

namespace {

struct MeshKeys {
  std::optional<unsigned> id;
  const Doc* grid = nullptr;
  RouterKeys router;
  const Doc* units = nullptr;
  const Doc* nodes = nullptr;
  std::optional<Agent> agent;
  std::optional<DramKeys> dram;
  Presence staging = Presence::kAbsent;
  StagingPlacement staging_placement = StagingPlacement::kConverged;
  Presence interlink = Presence::kAbsent;
};

struct RouterOverride {
  Impl impl;
  UserModule module{};
};

template <class V>
void visit(V& v, RouterOverride& p) {
  v.implementation("impl", p.impl, p.module, "");
}

class MeshBuilder {
 public:
  MeshBuilder(const Doc& doc, unsigned index, const std::vector<Clock>& clocks, Quirks quirks)
      : reader_(doc, fmt::format("meshes.{}", index)), clocks_(clocks), default_quirks_(quirks) {
    mesh_.id = index;
    mesh_.place = doc.mark.place();
  }

  Mesh build() {
    visit_mesh(reader_, keys_);
    reader_.finish();
    if (keys_.id) mesh_.id = *keys_.id;
    grid_ = read_grid(*keys_.grid, reader_.path("grid"));
    mesh_.hi = grid_.hi;
    mesh_.router = keys_.router.config;
    for (Coord at : grid_.routers) mesh_.routers.push_back({at, keys_.router.impl, keys_.router.module});
    read_units();
    place_units();
    read_nodes();
    read_memory();
    for (std::size_t i = 0; i < mesh_.nodes.size(); ++i) finish_node(mesh_.nodes[i], units_of_[i]);
    check_traffic();
    check_paths();
    return std::move(mesh_);
  }

 private:
  void read_units() {
    if (keys_.units == nullptr) return;
    if (!keys_.units->is_map())
      fail_key(keys_.units->mark, reader_.path("units"),
               fmt::format("{} where a map of symbol: unit is needed", keys_.units->what()));
    for (const DocEntry& entry : keys_.units->entries) {
      if (!is_symbol(entry.key))
        fail_key(
            entry.key_mark, reader_.path("units"),
            fmt::format(
                "{} is no symbol; allowed: a letter or '_', then letters, digits and '_', but not x alone",
                show_text(entry.key)));
      units_.emplace(entry.key, read_unit(entry, reader_.path("units") + "." + entry.key, default_quirks_));
    }
    for (const DocEntry& entry : keys_.units->entries)
      if (std::none_of(grid_.cells.begin(), grid_.cells.end(),
                       [&](const Cell& c) { return c.symbol == entry.key; }))
        unused_ = unused_ == nullptr ? &entry : unused_;
  }

  void place_units() {
    std::vector<std::string> symbols;
    for (const auto& [symbol, unit] : units_) symbols.push_back(symbol);
    for (const Cell& cell : grid_.cells) {
      const auto it = units_.find(cell.symbol);
      if (it == units_.end())
        fail_key(cell.mark, cell.path,
                 fmt::format("symbol '{}' is not defined in 'units'{}; defined: {}", cell.symbol,
                             did_you_mean(cell.symbol, symbols), symbols.empty() ? "none" : join(symbols)));
      Node node;
      node.symbol = cell.symbol;
      node.at = cell.at;
      node.router = router_of(cell.at, mesh_.hi);
      node.side = side_of(cell.at, mesh_.hi);
      node.params = it->second.params;
      node.place = it->second.mark.place();
      if (mesh_.router_at(node.router) == nullptr)
        fail_key(cell.mark, cell.path,
                 fmt::format("'{}' hangs on router ({},{}), which the picture leaves out", cell.symbol,
                             node.router.x, node.router.y));
      if (node.kind() == Kind::kMemoryPort) {
        if (mesh_.ports.size() == kMaxPorts)
          fail_key(cell.mark, cell.path, fmt::format("more than {} memory ports in a mesh", kMaxPorts));
        mesh_.ports.push_back(node.at);
      }
      mesh_.nodes.push_back(std::move(node));
      units_of_.push_back(it->second);
    }
    if (unused_ != nullptr)
      fail_key(unused_->key_mark, reader_.path("units"),
               fmt::format("unit '{}' is defined, but the picture does not show it", unused_->key));
  }

  std::string local_id(std::string_view kind, Coord at) const {
    return fmt::format("{}@{},{}", kind, at.x, at.y);
  }

  void read_nodes() {
    if (keys_.nodes == nullptr) return;
    const std::string path = reader_.path("nodes");
    if (!keys_.nodes->is_map())
      fail_key(keys_.nodes->mark, path,
               fmt::format("{} where a map of node id: keys is needed", keys_.nodes->what()));
    for (const DocEntry& entry : keys_.nodes->entries) {
      const std::string node_path = path + "." + entry.key;
      bool found = false;
      for (std::size_t i = 0; i < mesh_.nodes.size(); ++i) {
        Node& node = mesh_.nodes[i];
        if (local_id(kind_short(node.kind()), node.at) != entry.key) continue;
        read_node_keys(entry.value, node_path, units_of_[i]);
        node.params = units_of_[i].params;
        node.place = entry.key_mark.place();
        found = true;
      }
      for (Router& router : mesh_.routers) {
        if (local_id(kRouterShort, router.at) != entry.key) continue;
        RouterOverride keys{router.impl, router.module};
        MapReader reader(entry.value, node_path);
        visit(reader, keys);
        reader.finish();
        router.impl = keys.impl;
        router.module = keys.module;
        found = true;
      }
      if (!found) {
        std::vector<std::string> ids;
        for (const Node& node : mesh_.nodes) ids.push_back(local_id(kind_short(node.kind()), node.at));
        for (const Router& router : mesh_.routers) ids.push_back(local_id(kRouterShort, router.at));
        fail_key(entry.key_mark, path,
                 fmt::format("there is no node {} in the picture{}; valid: {}", show_text(entry.key),
                             did_you_mean(entry.key, ids), join(ids)));
      }
    }
  }

  void read_memory() {
    mesh_.agent = keys_.agent;
    mesh_.staging = keys_.staging;
    mesh_.staging_placement = keys_.staging_placement;
    if (const DocEntry* entry = reader_.doc().find("staging_placement");
        entry != nullptr && keys_.staging != Presence::kBuilt)
      fail_key(entry->key_mark, reader_.path("staging_placement"),
               fmt::format("there is no staging memory to place; it needs staging: built, and staging is {}",
                           presence_name(keys_.staging)));
    mesh_.interlink = keys_.interlink;
    if (mesh_.ports.empty()) {
      for (const char* key : {"agent", "dram", "staging", "interlink"}) {
        const DocEntry* entry = reader_.doc().find(key);
        if (entry == nullptr ||
            (entry->value.is_scalar() && (entry->value.text == "none" || entry->value.text == "absent")))
          continue;
        fail_key(entry->key_mark, reader_.path(key),
                 "it is reached through a memory port, but the picture has none");
      }
      return;
    }
    for (const auto& [key, missing] : {std::pair{"agent", !keys_.agent}, std::pair{"dram", !keys_.dram}})
      if (missing)
        fail_key(reader_.doc().mark, reader_.path(""),
                 fmt::format("required key '{}' is missing: the picture has a memory port at ({},{})", key,
                             mesh_.ports[0].x, mesh_.ports[0].y));
    read_dram();
  }

  void read_dram() {
    const Doc& doc = reader_.doc().find("dram")->value;
    const std::string path = reader_.path("dram");
    const auto mark = [&](std::string_view key) {
      return doc.find(key) ? doc.find(key)->value.mark : doc.mark;
    };
    DramKeys& keys = *keys_.dram;
    Dram& dram = keys.dram;
    if (keys.size_mib && keys.size_bytes)
      fail_key(mark("size_bytes"), path, "give either size_mib or size_bytes, not both");
    if (!keys.size_mib && !keys.size_bytes)
      fail_key(doc.mark, path, "required key 'size_mib' is missing (or size_bytes)");
    const char* size_key = keys.size_mib ? "size_mib" : "size_bytes";
    dram.size_bytes = keys.size_mib ? *keys.size_mib << 20 : *keys.size_bytes;
    const std::uint64_t bus_bytes = dram.bus_bits / 8;
    if (dram.size_bytes % bus_bytes != 0)
      fail_key(mark(size_key), path + "." + size_key,
               fmt::format("{} bytes are no whole number of {}-bit beats; allowed: multiples of {}",
                           dram.size_bytes, dram.bus_bits, bus_bytes));
    if (dram.base % bus_bytes != 0)
      fail_key(mark("base"), path + ".base",
               fmt::format("{:#x} is not on a {}-bit beat; allowed: multiples of {}", dram.base,
                           dram.bus_bits, bus_bytes));
    if (dram.wrap && dram.base % dram.size_bytes != 0)
      fail_key(
          mark("base"), path + ".base",
          fmt::format(
              "wrap takes addresses modulo {:#x} bytes, so base {:#x} must be a multiple of that (0 is one)",
              dram.size_bytes, dram.base));
    if (!dram.wrap && dram.base + dram.size_bytes > kLocalSpace)
      fail_key(mark(size_key), path + "." + size_key,
               fmt::format("base {:#x} + {:#x} bytes ends beyond the {:#x} bytes of a mesh (memory.md 3)",
                           dram.base, dram.size_bytes, kLocalSpace));
    if (dram.model == DramModel::kBanked) {
      if (dram.banked.row_hit > dram.banked.row_closed || dram.banked.row_closed > dram.banked.row_conflict)
        fail_key(mark("row_closed"), path,
                 fmt::format("row_hit {} <= row_closed {} <= row_conflict {} must hold", dram.banked.row_hit,
                             dram.banked.row_closed, dram.banked.row_conflict));
    }
    dram.clock = clock_index(keys.clock, mark("clock"), path + ".clock");
    mesh_.dram = dram;
  }

  // Of the clock called `name`; empty: the fabric's.
  unsigned clock_index(const std::string& name, const Mark& mark, const std::string& path) const {
    if (name.empty()) return 0;
    std::vector<std::string> names;
    for (const Clock& clock : clocks_) names.push_back(clock.name);
    const auto it = std::find(names.begin(), names.end(), name);
    if (it == names.end())
      fail_key(mark, path,
               fmt::format("there is no clock {}{}; defined: {}", show_text(name), did_you_mean(name, names),
                           join(names)));
    return static_cast<unsigned>(it - names.begin());
  }

  void finish_node(Node& node, const Unit& unit) {
    node.impl = unit.common.impl;
    node.module = unit.common.module;
    node.quirks = unit.common.quirks;
    node.adapter = unit.common.adapter;
    node.clock = clock_index(unit.common.clock, unit.clock_mark, unit.path + ".clock");
    node.crossing = unit.common.crossing;
    if (node.clock != 0 && !node.crossing) {
      if (unit.crossing_given)
        fail_key(
            unit.crossing_mark, unit.path + ".crossing",
            fmt::format("a unit on the clock '{}' reaches the fabric through a crossing; none is for units "
                        "on the clock 'fabric'",
                        clocks_[node.clock].name));
      node.crossing.emplace();
    }
    if (!uses_memory_port(node.kind())) return;
    if (mesh_.ports.empty())
      fail_key(unit.mark, unit.path,
               fmt::format("a {} needs a memory port, but the picture has none", kind_name(node.kind())));
    if (unit.common.port && *unit.common.port >= mesh_.ports.size())
      fail_key(unit.port_mark, unit.path + ".port",
               fmt::format("there is no memory port {}; allowed: 0..{}", *unit.common.port,
                           mesh_.ports.size() - 1));
    node.port = unit.common.port ? *unit.common.port : nearest_port(mesh_, node);
  }

  unsigned clock_of_traffic() const {
    for (const Node& node : mesh_.nodes)
      if (node.kind() == Kind::kTraffic) return node.clock;
    return 0;
  }

  void check_traffic() const {
    const auto sources = std::count_if(mesh_.nodes.begin(), mesh_.nodes.end(),
                                       [](const Node& n) { return n.kind() == Kind::kTraffic; });
    for (std::size_t i = 0; i < mesh_.nodes.size(); ++i) {
      const Traffic* traffic = mesh_.nodes[i].get<Traffic>();
      if (traffic == nullptr) continue;
      const Unit& unit = units_of_[i];
      if (traffic->pattern != Pattern::kScript && mesh_.nodes[i].clock != clock_of_traffic())
        fail_key(
            unit.mark, unit.path + ".clock",
            "traffic nodes measure times from node to node in cycles: all that send by a pattern, and those "
            "they send to, are on one clock");
      if (traffic->pattern == Pattern::kUniform && sources < 2)
        fail_key(unit.mark, unit.path, "pattern uniform needs a second traffic node to send to");
      if (!traffic->hotspot) continue;
      const Node* target = mesh_.node_at(*traffic->hotspot);
      if (target == nullptr || target->kind() != Kind::kTraffic)
        fail_key(unit.hotspot_mark, unit.path + ".hotspot",
                 fmt::format("no traffic node at ({},{})", traffic->hotspot->x, traffic->hotspot->y));
    }
  }

  // With routers left out of the rectangle, X-then-Y paths may run into a hole, where flits are lost
  // (fabric.md section 6.1).
  void check_paths() const {
    if (mesh_.routers.size() == std::size_t(mesh_.hi.x) * mesh_.hi.y) return;
    for (const Node& from : mesh_.nodes)
      for (const Node& to : mesh_.nodes) {
        Coord at = from.router;
        while (at != to.router) {
          if (at.x != to.router.x)
            at.x = static_cast<std::uint8_t>(at.x < to.router.x ? at.x + 1 : at.x - 1);
          else
            at.y = static_cast<std::uint8_t>(at.y < to.router.y ? at.y + 1 : at.y - 1);
          if (mesh_.router_at(at) == nullptr)
            fail_key(
                keys_.grid->mark, reader_.path("grid"),
                fmt::format(
                    "flits from ({},{}) to ({},{}) go through router ({},{}), which the picture leaves out",
                    from.at.x, from.at.y, to.at.x, to.at.y, at.x, at.y));
        }
      }
  }

  MapReader reader_;
  const std::vector<Clock>& clocks_;
  Quirks default_quirks_;
  MeshKeys keys_;
  Grid grid_;
  std::map<std::string, Unit> units_;
  const DocEntry* unused_ = nullptr;
  std::vector<Unit> units_of_;  // of mesh_.nodes[i], `nodes` keys included
  Mesh mesh_;
};

}  // namespace

Mesh read_mesh(const Doc& doc, unsigned index, const std::vector<Clock>& clocks, Quirks default_quirks) {
  return MeshBuilder(doc, index, clocks, default_quirks).build();
}

}  // namespace ktpu::topo
