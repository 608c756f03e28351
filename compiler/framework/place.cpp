// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <set>
#include <tuple>

#include "arch/error.h"
#include "compiler/framework/passes.h"

namespace ktpu::framework {
namespace {

// The mesh of all regions; none when there are no regions.
std::optional<unsigned> mesh_of(TaskId task, const std::vector<Region>& regions, std::string_view what) {
  std::set<unsigned> meshes;
  for (const Region& region : regions) meshes.insert(region.mesh);
  if (meshes.empty()) return std::nullopt;
  if (meshes.size() > 1)
    throw arch::UserError::make("task {} {} memory of {} meshes: say on which it runs", task, what,
                                meshes.size());
  return *meshes.begin();
}

unsigned mesh_for(TaskId id, const Task& task, const Machine& machine) {
  if (machine.meshes.size() == 1) return machine.meshes[0].index;
  if (task.mesh) return *task.mesh;
  if (const auto mesh = mesh_of(id, task.reads, "reads")) return *mesh;
  return mesh_of(id, task.writes, "writes").value_or(machine.default_mesh);
}

unsigned hops_to_memory(const Mesh& mesh, arch::Coord at) {
  if (mesh.memory_ports.empty()) return 0;
  unsigned nearest = std::numeric_limits<unsigned>::max();
  for (const arch::Coord port : mesh.memory_ports)
    nearest = std::min(nearest, static_cast<unsigned>(std::abs(port.x - at.x) + std::abs(port.y - at.y)));
  return nearest;
}

bool has(const std::vector<arch::Coord>& coords, arch::Coord at) {
  return std::find(coords.begin(), coords.end(), at) != coords.end();
}

}  // namespace

std::vector<Place> place(const TaskGraph& graph, const Machine& machine) {
  std::map<Place, double> load;
  std::vector<Place> places;
  for (TaskId id = 0; id < graph.tasks.size(); ++id) {
    const Task& task = graph.tasks[id];
    const unsigned mesh = mesh_for(id, task, machine);
    const std::vector<arch::Coord>& coords = machine.coords(mesh, task.unit_type);
    Place chosen{mesh, coords.front()};
    if (task.policy == Policy::kPinned) {
      if (!task.coord || !has(coords, *task.coord))
        throw arch::UserError::make("task {} is pinned to ({},{}) of mesh {}, where no unit of type {} is",
                                    id, task.coord ? task.coord->x : 0, task.coord ? task.coord->y : 0, mesh,
                                    task.unit_type);
      chosen.at = *task.coord;
    } else {
      const auto rank = [&](arch::Coord at) {
        const unsigned hops = task.policy == Policy::kAffine ? hops_to_memory(machine.mesh(mesh), at) : 0;
        return std::tuple(hops, load[{mesh, at}], at);
      };
      chosen.at = *std::min_element(coords.begin(), coords.end(),
                                    [&](arch::Coord a, arch::Coord b) { return rank(a) < rank(b); });
    }
    load[chosen] += task.cost;
    places.push_back(chosen);
  }
  return places;
}

void verify(const std::vector<Place>& places, const TaskGraph& graph, const Machine& machine) {
  if (places.size() != graph.tasks.size())
    throw arch::UserError::make("{} places for {} tasks", places.size(), graph.tasks.size());
  for (TaskId id = 0; id < places.size(); ++id) {
    const Task& task = graph.tasks[id];
    if (!has(machine.coords(places[id].mesh, task.unit_type), places[id].at) ||
        (task.policy == Policy::kPinned && task.coord != places[id].at))
      throw arch::UserError::make("task {} is placed where it cannot run", id);
  }
}

}  // namespace ktpu::framework
