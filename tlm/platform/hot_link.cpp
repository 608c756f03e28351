// SPDX-License-Identifier: Apache-2.0
#include "tlm/platform/hot_link.h"

#include <algorithm>
#include <set>

#include "tlm/noc/routing.h"

namespace ktpu::platform {

namespace {

constexpr double kRefusedShare = 0.25;  // of the cycles: from here on a sender is held up
constexpr double kPassedOn = 0.10;      // a router output refused that often hands the blame on

struct Output {
  sim::FlitLink* link;
  const topo::Router* next;  // the router it leads to; null: a unit
};

}  // namespace

std::string HotLink::text() const {
  return fmt::format(
      "the network is full and delivers; {} of the units' outputs are refused in a quarter of the cycles or "
      "more, and "
      "the link they queue for is {}: {:.2f} flits a cycle, refused by its receiver in {:.0f} % of the "
      "cycles",
      senders, link->name(), flits_per_cycle, 100 * refused);
}

std::optional<HotLink> hot_link(System& system) {
  const auto cycles = static_cast<double>(system.engine().now());
  if (cycles == 0) return std::nullopt;
  HotLink hot;
  std::uint64_t worst = 0;
  const topo::Router* at = nullptr;
  const MeshSystem* where = nullptr;
  for (const MeshSystem& mesh : system.meshes())
    for (const topo::Node& node : mesh.description->nodes) {
      sim::LinkBase* out = system.link(topo::node_id(system.machine(), *mesh.description, node) + ".out");
      if (out == nullptr || static_cast<double>(out->stalled_cycles()) < kRefusedShare * cycles) continue;
      ++hot.senders;
      if (out->stalled_cycles() <= worst) continue;
      worst = out->stalled_cycles();
      at = mesh.description->router_at(node.router);
      where = &mesh;
    }
  if (at == nullptr) return std::nullopt;

  std::set<const topo::Router*> seen;
  while (at != nullptr && seen.insert(at).second) {
    const topo::Mesh& mesh = *where->description;
    std::vector<Output> outputs;
    const std::string id = topo::node_id(system.machine(), mesh, *at);
    constexpr std::array<std::pair<int, int>, 4> kSteps{{{0, -1}, {1, 0}, {0, 1}, {-1, 0}}};
    for (unsigned side = 0; side < kSteps.size(); ++side)
      if (auto* link =
              dynamic_cast<sim::FlitLink*>(system.link(fmt::format("{}.{}", id, noc::kPortNames[side]))))
        outputs.push_back(
            {link, mesh.router_at({static_cast<std::uint8_t>(at->at.x + kSteps[side].first),
                                   static_cast<std::uint8_t>(at->at.y + kSteps[side].second)})});
    for (const topo::Node& node : mesh.nodes)
      if (node.router == at->at)
        if (auto* link = dynamic_cast<sim::FlitLink*>(
                system.link(topo::node_id(system.machine(), mesh, node) + ".in")))
          outputs.push_back({link, nullptr});
    const auto refused = [](const Output& o) { return o.link->stalled_cycles(); };
    const auto used = [](const Output& o) { return o.link->transferred(); };
    if (outputs.empty()) break;
    const Output* most =
        &*std::max_element(outputs.begin(), outputs.end(),
                           [&](const auto& a, const auto& b) { return refused(a) < refused(b); });
    const bool passed_on = static_cast<double>(refused(*most)) >= kPassedOn * cycles;
    if (!passed_on)
      most = &*std::max_element(outputs.begin(), outputs.end(),
                                [&](const auto& a, const auto& b) { return used(a) < used(b); });
    hot.link = most->link;
    hot.flits_per_cycle = static_cast<double>(used(*most)) / cycles;
    hot.refused = static_cast<double>(refused(*most)) / cycles;
    if (!passed_on) break;
    at = most->next;
  }
  if (hot.link == nullptr || hot.flits_per_cycle == 0) return std::nullopt;
  return hot;
}

}  // namespace ktpu::platform
