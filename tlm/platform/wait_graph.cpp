// SPDX-License-Identifier: Apache-2.0
#include "tlm/platform/wait_graph.h"

#include <algorithm>

#include "arch/flit.h"
#include "tlm/noc/routing.h"

namespace ktpu::platform {

namespace {

constexpr std::array<unsigned, 4> kOpposite{noc::kSouth, noc::kWest, noc::kNorth, noc::kEast};

std::string input_of(unsigned side) { return fmt::format("in {}", noc::kPortNames[side]); }

const MeshSystem* mesh_of(const System& system, const sim::Unit* unit) {
  for (const MeshSystem& mesh : system.meshes()) {
    const auto has = [unit](const auto& list) {
      return std::find(list.begin(), list.end(), unit) != list.end();
    };
    if (unit == mesh.memory_unit || unit == mesh.engine_unit || has(mesh.endpoints) || has(mesh.routers) ||
        has(mesh.adapters))
      return &mesh;
  }
  return system.meshes().empty() ? nullptr : &system.meshes().front();
}

}  // namespace

WaitGraph::WaitGraph(const System& system) {
  for (const sim::Timeline::Clock& clock : system.timeline().clocks())
    for (const sim::Unit* unit : clock.engine->units()) {
      for (const sim::Unit* part : unit->parts()) whole_[part] = unit;
      if (system.source_of(*unit) == "rtl") silent_.insert(unit);
    }
  for (const MeshSystem& mesh : system.meshes())
    if (mesh.memory_agent != nullptr) told_by_part_.insert(mesh.memory_unit);
  map_links(system);
  add_units(system);
  add_links(system);
  add_polls(system);
}

std::size_t WaitGraph::node(const sim::Unit* unit, std::string_view part) {
  const auto [it, fresh] = index_.try_emplace({unit, std::string(part)}, nodes_.size());
  if (fresh) {
    Node node{unit == nullptr ? std::string() : unit->name(), unit, std::string(part), {}};
    if (!part.empty() && !node.name.empty()) node.name += ' ';
    node.name += part;
    nodes_.push_back(std::move(node));
  }
  return it->second;
}

std::size_t WaitGraph::find(const sim::Unit* unit, std::string_view part) const {
  const auto it = index_.find(std::pair{unit, std::string(part)});
  return it == index_.end() ? kNobody : it->second;
}

bool WaitGraph::waits(const sim::Unit* unit, std::string_view part) const {
  const auto it = waiting_.find(unit);
  return it != waiting_.end() && std::find(it->second.begin(), it->second.end(), part) != it->second.end();
}

void WaitGraph::add(std::size_t from, std::size_t to, std::string what, std::string_view kind,
                    sim::Cycle since) {
  nodes_[from].out.push_back(edges_.size());
  edges_.push_back({from, to, std::move(what), kind, since});
}

// Which input of which router a link leads to (its receiver is the unit that runs the routers of the mesh),
// and which part of an adapter.
void WaitGraph::map_links(const System& system) {
  for (const MeshSystem& mesh : system.meshes()) {
    const topo::Mesh& description = *mesh.description;
    const auto router_at = [&](arch::Coord at) -> const sim::Unit* {
      for (std::size_t r = 0; r < description.routers.size(); ++r)
        if (description.routers[r].at == at) return mesh.routers[r];
      return nullptr;
    };
    const auto enter = [&](const std::string& link, arch::Coord router, unsigned side) {
      const sim::LinkBase* found = system.link(link);
      if (const sim::Unit* unit = router_at(router); unit != nullptr && found != nullptr)
        inputs_[found] = {unit, input_of(side)};
    };
    for (unsigned p = 0; p < description.ports.size(); ++p)
      if (const topo::Node* n = description.node_at(description.ports[p]); n != nullptr)
        if (const auto* link = system.link(topo::node_id(system.machine(), description, *n) + ".in"))
          inputs_[link] = {mesh.memory_unit, memory::MemoryAgent::port_part(p, "input")};
    for (const topo::Router& router : description.routers) {
      const std::string id = topo::node_id(system.machine(), description, router);
      constexpr std::array<std::pair<int, int>, 4> kSteps{{{0, -1}, {1, 0}, {0, 1}, {-1, 0}}};
      for (unsigned side = 0; side < kSteps.size(); ++side)
        enter(fmt::format("{}.{}", id, noc::kPortNames[side]),
              {static_cast<std::uint8_t>(router.at.x + kSteps[side].first),
               static_cast<std::uint8_t>(router.at.y + kSteps[side].second)},
              kOpposite[side]);
    }
    for (const topo::Node& n : description.nodes) {
      const std::string id = topo::node_id(system.machine(), description, n);
      const std::string prefix =
          system.meshes().size() > 1 ? fmt::format("m{}.", description.id) : std::string();
      const char* last = n.adapter ? "adapter" : n.crossing ? "crossing" : nullptr;  // before the router
      enter(last != nullptr ? fmt::format("{}{}@{},{}.out", prefix, last, n.at.x, n.at.y) : id + ".out",
            n.router, static_cast<unsigned>(n.side));
    }
    for (const noc::StagingAdapter* adapter : mesh.adapters) {
      if (adapter == nullptr) continue;
      inputs_[&adapter->from_unit()] = {adapter, noc::StagingAdapter::kUp};
      inputs_[&adapter->from_router()] = {adapter, noc::StagingAdapter::kDown};
    }
  }
}

std::size_t WaitGraph::resolve(const sim::Unit* unit, std::string_view part) {
  if (const auto it = whole_.find(unit); it != whole_.end()) unit = it->second;
  if (waits(unit, part) || told_by_part_.contains(unit)) return node(unit, part);
  if (const auto it = waiting_.find(unit); it != waiting_.end()) {
    if (waits(unit, "sequencer")) return node(unit, "sequencer");
    return node(unit, it->second.front());
  }
  const std::size_t at = node(unit, "");
  if (silent_.contains(unit)) add_untold(at, "what it waits for, if anything");
  return at;
}

void WaitGraph::add_untold(std::size_t from, std::string_view what) {
  if (nodes_[from].out.empty())
    add(from, kNobody, fmt::format("its RTL does not tell {}", what), "rtl", sim::kNever);
}

std::size_t WaitGraph::place(const MeshSystem& mesh, arch::Coord at, std::string_view part) {
  const topo::Mesh& description = *mesh.description;
  for (unsigned p = 0; p < description.ports.size(); ++p)
    if (description.ports[p] == at) return resolve(mesh.memory_unit, memory::MemoryAgent::port_part(p, part));
  if (const sim::Unit* unit = mesh.endpoint_at(at)) return resolve(unit, part);
  return node(nullptr, fmt::format("({},{}), where nothing is", at.x, at.y));
}

std::size_t WaitGraph::end_of(const sim::LinkBase& link) {
  if (const auto it = inputs_.find(&link); it != inputs_.end())
    return resolve(it->second.first, it->second.second);
  return resolve(link.receiver(), "input");
}

void WaitGraph::add_units(const System& system) {
  std::vector<std::pair<const sim::Unit*, sim::Wait>> all;
  for (const sim::Timeline::Clock& clock : system.timeline().clocks())
    for (const sim::Unit* unit : clock.engine->units())
      for (sim::Wait& wait : unit->waits(clock.engine->now())) {
        if (wait.note) continue;
        std::vector<std::string>& parts = waiting_[unit];
        if (std::find(parts.begin(), parts.end(), wait.part) == parts.end()) parts.push_back(wait.part);
        all.emplace_back(unit, std::move(wait));
      }
  for (const sim::Unit* unit : silent_)
    if (!unit->resting() && !waiting_.contains(unit)) resolve(unit, "");
  for (auto& [unit, wait] : all) {
    const std::size_t from = node(unit, wait.part);
    std::size_t to = kNobody;
    if (wait.over != nullptr) {
      to = end_of(*wait.over);
    } else if (wait.on != nullptr) {
      to = resolve(wait.on, wait.on_part);
    } else if (wait.node) {
      if (const MeshSystem* mesh = mesh_of(system, unit)) to = place(*mesh, *wait.node, wait.on_part);
    } else if (!wait.on_part.empty()) {
      to = waits(unit, wait.on_part)      ? node(unit, wait.on_part)
           : told_by_part_.contains(unit) ? node(unit, wait.on_part)
                                          : kNobody;  // that part has nothing to do
    }
    add(from, to, std::move(wait.what), wait.kind, wait.since);
  }
}

// Flits that stand on a link whose sender does not tell of it.
void WaitGraph::add_links(const System& system) {
  std::vector<const sim::LinkBase*> links;
  for (const sim::Timeline::Clock& clock : system.timeline().clocks())
    links.insert(links.end(), clock.engine->links().begin(), clock.engine->links().end());
  for (const sim::LinkBase* base : links) {
    const auto* link = dynamic_cast<const sim::FlitLink*>(base);
    if (link == nullptr || !link->valid() || !link->busy() || link->sender() == nullptr) continue;
    const auto part = whole_.find(link->sender());
    const sim::Unit* sender = part == whole_.end() ? link->sender() : part->second;
    if (waiting_.contains(sender) || link->name().starts_with("router@") ||
        link->name().find(".router@") != std::string::npos || link->name().ends_with(".in"))
      continue;
    const arch::Flit& flit = link->data();
    waiting_[sender] = {"output"};
    add(node(sender, "output"), end_of(*link),
        fmt::format("its {} flit for ({},{}) to be taken", arch::flit_type_name(flit.type_code()),
                    flit.dst_x(), flit.dst_y()),
        "output", sim::kNever);
  }
}

std::vector<bool> WaitGraph::reach(std::size_t from) const {
  std::vector<bool> seen(nodes_.size());
  if (from >= nodes_.size()) return seen;
  std::vector<std::size_t> open{from};
  seen[from] = true;
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    for (const std::size_t e : nodes_[at].out)
      if (const std::size_t to = edges_[e].to; to != kNobody && !seen[to]) {
        seen[to] = true;
        open.push_back(to);
      }
  }
  return seen;
}

// Depth first; a step back into the path closes a circle.
std::vector<std::size_t> WaitGraph::circle() const {
  std::vector<std::uint8_t> state(nodes_.size());  // 1 on the path, 2 left for good
  for (std::size_t start = 0; start < nodes_.size(); ++start) {
    if (state[start] != 0) continue;
    struct Step {
      std::size_t node, next;
    };
    std::vector<Step> path{{start, 0}};
    state[start] = 1;
    while (!path.empty()) {
      Step& step = path.back();
      if (step.next == nodes_[step.node].out.size()) {
        state[step.node] = 2;
        path.pop_back();
        continue;
      }
      const std::size_t to = edges_[nodes_[step.node].out[step.next++]].to;
      if (to == kNobody || state[to] == 2) continue;
      if (state[to] == 0) {
        state[to] = 1;
        path.push_back({to, 0});
        continue;
      }
      std::vector<std::size_t> edges;
      bool inside = false;
      for (const Step& s : path) {
        inside = inside || s.node == to;
        if (inside) edges.push_back(nodes_[s.node].out[s.next - 1]);
      }
      return edges;
    }
  }
  return {};
}

std::string WaitGraph::text(std::size_t lines) const {
  std::vector<bool> first(nodes_.size());
  for (const Poll& poll : polls_) {
    const std::vector<bool> seen = reach(poll.node);
    for (std::size_t n = 0; n < seen.size(); ++n) first[n] = first[n] || seen[n];
  }
  std::vector<std::size_t> order(edges_.size());
  for (std::size_t e = 0; e < order.size(); ++e) order[e] = e;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto rank = [&](std::size_t e) {
      const std::size_t from = edges_[e].from;
      const bool polls =
          std::any_of(polls_.begin(), polls_.end(), [&](const Poll& p) { return p.node == from; });
      return polls ? 0 : first[from] ? 1 : 2;
    };
    return rank(a) < rank(b);
  });
  std::string text;
  for (std::size_t k = 0; k < std::min(lines, order.size()); ++k) {
    const Edge& edge = edges_[order[k]];
    text += fmt::format("\n  {}{}: {}", nodes_[edge.from].name,
                        edge.to == kNobody ? std::string() : fmt::format(" -> {}", nodes_[edge.to].name),
                        edge.what);
    if (edge.since != sim::kNever) text += fmt::format(" (since cycle {})", edge.since);
  }
  if (order.size() > lines) text += fmt::format("\n  and {} more", order.size() - lines);
  return text;
}

}  // namespace ktpu::platform
