// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/live_machine.h"

#include <algorithm>
#include <map>
#include <vector>

#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/rig.h"
#include "arch/error.h"
#include "topologies/reader.h"

namespace ktpu::check {

using arch::Coord;
using arch::UserError;
using nlohmann::json;

namespace {

constexpr const char* kReference = "reference_6c4v";
using Units = std::map<Coord, topo::Kind>;

Units units_of(const json& machine) {
  Units units;
  const auto add = [&](const char* list, topo::Kind kind) {
    if (!machine.contains(list)) return;
    for (const json& at : machine[list]) {
      const Coord place{static_cast<std::uint8_t>(integer(at.at(0), list, 0, 15)),
                        static_cast<std::uint8_t>(integer(at.at(1), list, 0, 15))};
      if (!units.emplace(place, kind).second)
        throw UserError::make("field \"machine\": two units at ({},{})", place.x, place.y);
    }
  };
  add("MG", topo::Kind::kMatmulCluster);
  add("VC", topo::Kind::kVectorCore);
  return units;
}

bool has_all(const topo::Machine& machine, const Units& units) {
  return std::all_of(units.begin(), units.end(), [&](const auto& unit) {
    const topo::Node* node = machine.meshes.front().node_at(unit.first);
    return node != nullptr && node->kind() == unit.second;
  });
}

// Routers (1,1) to (columns, rows), edge slots around them.
struct Grid {
  unsigned columns, rows;
  bool inside(Coord at) const { return at.x >= 1 && at.x <= columns && at.y >= 1 && at.y <= rows; }
  bool edge(Coord at) const {
    const bool x_ring = at.x == 0 || at.x == columns + 1, y_ring = at.y == 0 || at.y == rows + 1;
    return at.x <= columns + 1 && at.y <= rows + 1 && x_ring != y_ring;
  }
  bool holds(const Units& units) const {
    return std::all_of(units.begin(), units.end(),
                       [&](const auto& unit) { return inside(unit.first) || edge(unit.first); });
  }
};

// The smallest grid with a place for every unit and an edge slot left for a memory port.
Grid grid_for(const Units& units) {
  for (unsigned routers = 1; routers <= topo::kMaxGrid * topo::kMaxGrid; ++routers)
    for (unsigned columns = 1; columns <= std::min(routers, topo::kMaxGrid); ++columns) {
      if (routers % columns != 0 || routers / columns > topo::kMaxGrid) continue;
      const Grid grid{columns, routers / columns};
      const auto used = static_cast<std::size_t>(
          std::count_if(units.begin(), units.end(), [&](const auto& unit) { return grid.edge(unit.first); }));
      if (grid.holds(units) && used < std::size_t{2} * (grid.columns + grid.rows)) return grid;
    }
  throw UserError::make("field \"machine\": no grid of routers has places for these units");
}

// Up to two memory ports: where the reference machine has them if that is free, else the next free edge
// slots.
std::vector<Coord> free_ports(const Grid& grid, const Units& units) {
  std::vector<Coord> ports;
  const auto take = [&](unsigned x, unsigned y) {
    const Coord at{static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y)};
    if (ports.size() < 2 && grid.edge(at) && !units.contains(at)) ports.push_back(at);
  };
  for (const unsigned x : {0u, grid.columns + 1})
    for (unsigned y = 1; y <= grid.rows; ++y) take(x, y);
  for (const unsigned y : {0u, grid.rows + 1})
    for (unsigned x = 1; x <= grid.columns; ++x) take(x, y);
  return ports;
}

std::string picture(const Grid& grid, const Units& units) {
  const std::vector<Coord> ports = free_ports(grid, units);
  std::string rows;
  for (unsigned y = 0; y <= grid.rows + 1; ++y) {
    std::string row;
    for (unsigned x = 0; x <= grid.columns + 1; ++x) {
      const Coord at{static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y)};
      const auto unit = units.find(at);
      const char* cell =
          unit != units.end() ? (unit->second == topo::Kind::kVectorCore ? "vec" : "mat") : ".";
      if (std::find(ports.begin(), ports.end(), at) != ports.end()) cell = "mem";
      row += fmt::format("{}{}", row.empty() ? "" : ", ", cell);
    }
    rows += fmt::format("      - [ {} ]\n", row);
  }
  return rows;
}

topo::Machine made_for(const Units& units, const json& machine) {
  const unsigned depth = static_cast<unsigned>(
      machine.contains("inst_depth") ? integer(machine["inst_depth"], "inst_depth", 1, 4096) : 512);
  const auto number = [&](const char* key) {
    return machine.contains(key) ? integer(machine[key], key, 1, 4096) : std::int64_t{128};
  };
  bool vectors = false, clusters = false;
  for (const auto& [at, kind] : units) (kind == topo::Kind::kVectorCore ? vectors : clusters) = true;
  std::string yaml = "version: 1\nname: recorded\nclock_mhz: 300\nmeshes:\n  - grid:\n";
  yaml += picture(grid_for(units), units);
  yaml += "    units:\n      mem: {kind: memory_port}\n";
  if (clusters)
    yaml += fmt::format(
        "      mat: {{kind: matmul_cluster, tiles: 4096, l1_a: 512, l1_b: 512, inst_depth: {}}}\n", depth);
  if (vectors)
    yaml += fmt::format("      vec: {{kind: vector_core, l1_words: 512, inst_depth: {}}}\n", depth);
  yaml +=
      fmt::format("    agent: {{staging_flits: {}, commands: {}}}\n", number("stage_flits"), number("ncmd"));
  yaml += "    dram: {model: simple, bus_bits: 512, base: 0x80000000, size_mib: 1024}\n";
  yaml += "host: {kind: command_engine}\n";
  return topo::read_string(yaml, "the recorded machine");
}

}  // namespace

topo::Machine live_machine(const json& file) {
  const json& recorded = member(file, "machine");
  const Units units = units_of(recorded);
  if (units.empty()) throw UserError::make("field \"machine\" has no units");
  topo::Machine reference = shipped_machine(kReference);
  const topo::Agent& agent = *reference.meshes.front().agent;
  const auto same = [&](const char* key, unsigned value) {
    return !recorded.contains(key) || recorded[key] == value;
  };
  if (has_all(reference, units) && same("stage_flits", agent.staging_flits) && same("ncmd", agent.commands) &&
      same("inst_depth", topo::MatmulCluster{}.inst_depth))
    return reference;
  return made_for(units, recorded);
}

}  // namespace ktpu::check
