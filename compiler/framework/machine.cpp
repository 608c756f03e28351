// SPDX-License-Identifier: Apache-2.0
#include "compiler/framework/machine.h"

#include <algorithm>
#include <set>

#include "arch/error.h"

namespace ktpu::framework {

const Mesh& Machine::mesh(unsigned index) const {
  const auto found =
      std::find_if(meshes.begin(), meshes.end(), [&](const Mesh& m) { return m.index == index; });
  if (found == meshes.end()) throw arch::UserError::make("machine {} has no mesh {}", name, index);
  return *found;
}

const std::vector<arch::Coord>& Machine::coords(unsigned index, std::string_view type) const {
  const Mesh& here = mesh(index);
  const auto found = here.units.find(std::string(type));
  if (found != here.units.end()) return found->second;
  std::string others;
  for (const Mesh& m : meshes)
    if (m.units.contains(std::string(type)))
      others += fmt::format("{}{}", others.empty() ? "" : ", ", m.index);
  throw arch::UserError::make("mesh {} of machine {} has no units of type {}; meshes that have: {}", index,
                              name, type, others.empty() ? "none" : others);
}

void verify(const Machine& machine) {
  const auto fail = [&](const std::string& what) {
    throw arch::UserError::make("machine {}: {}", machine.name, what);
  };
  if (machine.meshes.empty()) fail("has no meshes");
  if (machine.stage_flits == 0 || machine.ncmd == 0 || machine.inst_depth == 0)
    fail("staging RAM, command RAM and instruction FIFOs hold at least 1");
  std::set<unsigned> indices;
  for (const Mesh& mesh : machine.meshes) {
    if (!indices.insert(mesh.index).second) fail(fmt::format("mesh {} stands twice", mesh.index));
    std::set<arch::Coord> seen;
    for (const auto& [type, coords] : mesh.units) {
      if (coords.empty()) fail(fmt::format("mesh {}: type {} without units is left out", mesh.index, type));
      for (const arch::Coord at : coords)
        if (!seen.insert(at).second)
          fail(fmt::format("mesh {}: two units at ({},{})", mesh.index, at.x, at.y));
    }
  }
  machine.mesh(machine.default_mesh);
}

}  // namespace ktpu::framework
