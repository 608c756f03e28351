// SPDX-License-Identifier: Apache-2.0
#include "apps/common/machine_facts.h"

#include <algorithm>

namespace ktpu::apps {

arch::MachineNeeds machine_facts(const topo::Machine& machine) {
  arch::MachineNeeds facts;
  facts.machine = machine.name;
  facts.meshes = static_cast<std::uint32_t>(machine.meshes.size());
  for (std::size_t m = 0; m < machine.meshes.size(); ++m) {
    const topo::Mesh& mesh = machine.meshes[m];
    if (mesh.agent) facts.staging_flits = std::max(facts.staging_flits, mesh.agent->staging_flits);
    const topo::Dram dram = mesh.dram.value_or(topo::Dram{});
    if (!dram.wrap)
      facts.memory.push_back({static_cast<std::uint8_t>(m), dram.base, dram.base + dram.size_bytes});
    for (const topo::Node& node : mesh.nodes) {
      arch::UnitNeed unit;
      unit.mesh = static_cast<std::uint8_t>(m);
      unit.at = node.at;
      unit.kind = topo::kind_name(node.kind());
      if (const auto* cluster = node.get<topo::MatmulCluster>()) {
        unit.tiles = cluster->tiles;
        unit.l1_a = cluster->l1_a;
        unit.l1_b = cluster->l1_b;
        unit.inst_depth = cluster->inst_depth;
      } else if (const auto* core = node.get<topo::VectorCore>()) {
        unit.inst_depth = core->inst_depth;
      }
      facts.units.push_back(std::move(unit));
    }
  }
  return facts;
}

}  // namespace ktpu::apps
