// SPDX-License-Identifier: Apache-2.0
#include "compiler/driver/machine.h"

#include <algorithm>

#include "arch/encoding/address_map.h"
#include "arch/error.h"

namespace ktpu::driver {

using arch::UserError;

Machine make_machine(std::string name, const UnitList& units, const schedule::Resources& resources,
                     const bytes::Limits& limits) {
  Machine machine{
      name,
      resources,
      {name, bytes::Units(units.clusters), bytes::Units(units.vector_cores), std::nullopt, limits, 0}};
  if (units.agent) machine.bytes.agent = bytes::Units({*units.agent})[0];
  machine.resources.clusters = static_cast<std::uint32_t>(units.clusters.size());
  machine.resources.vector_cores = static_cast<std::uint32_t>(units.vector_cores.size());
  machine.resources.agent = units.agent.has_value();
  return machine;
}

Machine machine_of(const topo::Machine& machine, unsigned mesh) {
  if (mesh >= machine.meshes.size())
    throw UserError::make("machine {} has {} mesh{}, there is no mesh {}: meshes count from 0", machine.name,
                          machine.meshes.size(), machine.meshes.size() == 1 ? "" : "es", mesh);
  const topo::Mesh& of = machine.meshes[mesh];
  if (!of.agent || of.ports.empty() || !of.dram)
    throw UserError::make(
        "machine {}: a compiled program needs a control agent, a memory port and DRAM, and "
        "mesh {} lacks one: choose a machine or a mesh (--mesh) that has them",
        machine.name, of.id);
  UnitList units;
  schedule::Resources resources;
  bytes::Limits limits{of.agent->staging_flits, of.agent->commands, 512};
  for (const topo::Node& node : of.nodes) {
    if (const auto* cluster = node.get<topo::MatmulCluster>()) {
      units.clusters.push_back(node.at);
      resources.tiles = std::min<std::uint32_t>(resources.tiles, cluster->tiles);
      resources.bank_entries =
          std::min<std::uint32_t>(resources.bank_entries, std::min(cluster->l1_a, cluster->l1_b) / 2);
      limits.inst_depth = std::min<std::uint32_t>(limits.inst_depth, cluster->inst_depth);
    } else if (const auto* vector = node.get<topo::VectorCore>()) {
      units.vector_cores.push_back(node.at);
      resources.vector_l1_words = std::min<std::uint32_t>(resources.vector_l1_words, vector->l1_words);
      limits.inst_depth = std::min<std::uint32_t>(limits.inst_depth, vector->inst_depth);
    }
  }
  units.agent = of.ports.front();
  constexpr std::uint64_t kBelowArena = 1u << 20;
  const std::uint64_t bytes = of.dram->size_bytes;
  if (bytes <= kBelowArena)
    throw UserError::make(
        "machine {}: DRAM of {} MiB leaves no room for operands, which stand above the first "
        "MiB: give it a larger size_mib",
        machine.name, of.dram->size_bytes >> 20);
  resources.arena_base =
      schedule::global_address(of.id, arch::address::local(of.dram->base) + kBelowArena).value();
  resources.arena_bytes = bytes - kBelowArena;
  Machine made = make_machine(machine.name, units, resources, limits);
  made.bytes.mesh = static_cast<std::uint8_t>(mesh);
  return made;
}

}  // namespace ktpu::driver
