// SPDX-License-Identifier: Apache-2.0
// A machine as far as placing and packing need it (compiler.md sections 2 and 13).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "arch/flit.h"

namespace ktpu::framework {

struct Mesh {
  unsigned index = 0;
  std::map<std::string, std::vector<arch::Coord>> units;  // by type; one that is not there is not listed
  std::vector<arch::Coord> memory_ports;
};
struct Machine {
  std::string name = "generic";
  std::vector<Mesh> meshes;
  unsigned default_mesh = 0;  // its index
  std::uint32_t stage_flits = 128, ncmd = 128, inst_depth = 32;

  const Mesh& mesh(unsigned index) const;  // throws UserError
  // Throws UserError that names the meshes which have such units.
  const std::vector<arch::Coord>& coords(unsigned mesh, std::string_view type) const;
};
// Throws UserError: no meshes, two of one index, a type without units, a coordinate twice, limits of 0.
void verify(const Machine& machine);

}  // namespace ktpu::framework
