// SPDX-License-Identifier: Apache-2.0
#include "compiler/device/interpreted_machine.h"

namespace ktpu::device {

interpret::MachineFacts interpreted_machine(const topo::Machine& machine) {
  interpret::MachineFacts facts;
  for (const topo::Mesh& mesh : machine.meshes) {
    interpret::MeshFacts m;
    m.id = mesh.id;
    m.ports = mesh.ports;
    m.staging = mesh.staging == topo::Presence::kBuilt;
    if (mesh.agent) m.staging_flits = mesh.agent->staging_flits;
    if (mesh.dram) {
      m.dram_base = mesh.dram->base;
      m.dram_size = mesh.dram->size_bytes;
      m.dram_wrap = mesh.dram->wrap;
    }
    for (const topo::Node& node : mesh.nodes) {
      interpret::UnitFacts unit;
      unit.at = node.at;
      unit.quirks = node.quirks == topo::Quirks::kReference;
      if (const auto* cluster = node.get<topo::MatmulCluster>()) {
        unit.kind = interpret::UnitKind::kCluster;
        unit.tiles = cluster->tiles;
        unit.l1_a = cluster->l1_a;
        unit.l1_b = cluster->l1_b;
        unit.acc_mw = cluster->acc_mw;
      } else if (const auto* vector = node.get<topo::VectorCore>()) {
        unit.kind = interpret::UnitKind::kVectorCore;
        unit.l1_words = vector->l1_words;
      } else {
        continue;
      }
      m.units.push_back(unit);
    }
    facts.meshes.push_back(std::move(m));
  }
  return facts;
}

}  // namespace ktpu::device
