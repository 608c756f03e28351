// SPDX-License-Identifier: Apache-2.0
#include "topologies/description.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "topologies/grid.h"
#include "topologies/names.h"

namespace ktpu::topo {

std::uint64_t Clock::hertz() const { return static_cast<std::uint64_t>(std::llround(mhz * 1e6)); }

std::string Place::text() const { return line > 0 ? fmt::format("{}:{}:{}", file, line, column) : file; }

std::string_view kind_name(Kind kind) { return word_of(kKindWords, kind); }
std::string_view kind_short(Kind kind) { return kKindShort[static_cast<std::size_t>(kind)]; }
std::string_view impl_name(Impl impl) { return word_of(kImplWords, impl); }
std::string_view quirks_name(Quirks quirks) { return word_of(kQuirksWords, quirks); }
std::string_view pattern_name(Pattern pattern) { return word_of(kPatternWords, pattern); }
std::string_view presence_name(Presence presence) { return word_of(kPresenceWords, presence); }
std::string_view staging_placement_name(StagingPlacement placement) {
  return word_of(kStagingPlacementWords, placement);
}
std::string_view dram_model_name(DramModel model) { return word_of(kDramModelWords, model); }
std::string_view host_kind_name(HostKind kind) { return word_of(kHostKindWords, kind); }

bool uses_memory_port(Kind kind) {
  return kind == Kind::kMatmulCluster || kind == Kind::kVectorCore || kind == Kind::kController ||
         kind == Kind::kPe;
}

namespace {

// `list` is row-major by coordinate.
template <typename T>
const T* find_at(const std::vector<T>& list, Coord at) {
  const auto before = [](const T& item, Coord c) { return item.at.node_byte() < c.node_byte(); };
  const auto it = std::lower_bound(list.begin(), list.end(), at, before);
  return it != list.end() && it->at == at ? &*it : nullptr;
}

std::string id_of(const Machine& machine, const Mesh& mesh, std::string_view kind, Coord at) {
  const std::string prefix = machine.meshes.size() > 1 ? fmt::format("m{}.", mesh.id) : std::string();
  return fmt::format("{}{}@{},{}", prefix, kind, at.x, at.y);
}

}  // namespace

const Node* Mesh::node_at(Coord at) const { return find_at(nodes, at); }
const Router* Mesh::router_at(Coord at) const { return find_at(routers, at); }

unsigned Mesh::requesters() const {
  return static_cast<unsigned>(ports.size()) + 2 + (interlink == Presence::kAbsent ? 0 : 1);
}

unsigned nearest_port(const Mesh& mesh, const Node& node) {
  unsigned best = 0, best_distance = ~0u;
  for (unsigned i = 0; i < mesh.ports.size(); ++i) {
    const Coord port = router_of(mesh.ports[i], mesh.hi);
    const int dx = int(port.x) - int(node.router.x), dy = int(port.y) - int(node.router.y);
    const unsigned distance = static_cast<unsigned>(std::abs(dx) + std::abs(dy));
    if (distance < best_distance) best = i, best_distance = distance;
  }
  return best;
}

std::string node_id(const Machine& machine, const Mesh& mesh, const Node& node) {
  return id_of(machine, mesh, kind_short(node.kind()), node.at);
}

std::string node_id(const Machine& machine, const Mesh& mesh, const Router& router) {
  return id_of(machine, mesh, kRouterShort, router.at);
}

std::vector<std::string> node_ids(const Machine& machine) {
  std::vector<std::string> ids;
  for (const Mesh& mesh : machine.meshes) {
    for (const Node& node : mesh.nodes) ids.push_back(node_id(machine, mesh, node));
    for (const Router& router : mesh.routers) ids.push_back(node_id(machine, mesh, router));
  }
  return ids;
}

}  // namespace ktpu::topo
