// SPDX-License-Identifier: Apache-2.0
#include "apps/common/cost_machine.h"

namespace ktpu::apps {
namespace {

cost::DramCost dram_cost(const topo::Machine& machine, const topo::Mesh& mesh) {
  cost::DramCost out;
  const topo::Dram& dram = *mesh.dram;
  out.bus_bits = dram.bus_bits;
  out.fabric_per_cycle = machine.clocks.front().mhz / machine.clocks[dram.clock].mhz;
  if (dram.model == topo::DramModel::kSimple) {
    const topo::DramSimple& s = dram.simple;
    out.first_read_beat = s.first_read_beat;
    out.read_gaps.assign(s.read_gaps.begin(), s.read_gaps.end());
    out.first_write_beat = s.first_write_beat;
    out.write_gaps.assign(s.write_gaps.begin(), s.write_gaps.end());
    out.write_response = s.write_response;
    return out;
  }
  const topo::DramBanked& b = dram.banked;
  out.in_flight = b.reads_outstanding;
  out.write_response = b.write_response;
  out.banks = b.banks;
  out.row_bytes = b.row_bytes;
  out.row_hit = b.row_hit;
  out.row_closed = b.row_closed;
  out.row_conflict = b.row_conflict;
  out.bytes_per_cycle = b.bytes_per_cycle;
  return out;
}

cost::MeshCost mesh_cost(const topo::Machine& machine, const topo::Mesh& mesh) {
  cost::MeshCost out;
  out.id = mesh.id;
  out.fabric.hop = mesh.router.fifo_latency + 2;  // fabric.md section 7.3
  for (const arch::Coord at : mesh.ports) {
    const topo::Node* node = mesh.node_at(at);
    out.ports.push_back({at, node != nullptr ? node->router : at});
  }
  if (mesh.dram) out.dram = dram_cost(machine, mesh);
  for (const topo::Node& node : mesh.nodes) {
    cost::UnitCost unit;
    if (node.kind() == topo::Kind::kMatmulCluster)
      unit.kind = cost::UnitKind::kCluster;
    else if (node.kind() == topo::Kind::kVectorCore)
      unit.kind = cost::UnitKind::kVectorCore;
    else
      continue;
    unit.at = node.at;
    unit.router = node.router;
    unit.port = node.port.value_or(0);
    unit.adapter = node.adapter.has_value();
    unit.crossing = node.crossing.has_value();
    unit.fabric_per_cycle = machine.clocks.front().mhz / machine.clocks[node.clock].mhz;
    // Without the defects of the reference the scoreboard counts every write (quirks.md, V6).
    if (node.quirks == topo::Quirks::kNone) unit.vector.scoreboard = 0;
    out.units.push_back(unit);
  }
  return out;
}

}  // namespace

cost::CostMachine cost_machine(const topo::Machine& machine) {
  cost::CostMachine out;
  out.name = machine.name;
  out.fabric_mhz = machine.clocks.front().mhz;
  out.host.engine = machine.host.kind == topo::HostKind::kCommandEngine;
  if (machine.host.kind == topo::HostKind::kScript) {
    out.host.write = machine.host.script.write_cycles;
    out.host.read = machine.host.script.read_cycles;
    out.host.start = machine.host.script.start_cycles;
  }
  for (const topo::Mesh& mesh : machine.meshes) {
    out.meshes.push_back(mesh_cost(machine, mesh));
    if (mesh.agent) out.host.engine_commands = mesh.agent->commands;
  }
  return out;
}

}  // namespace ktpu::apps
