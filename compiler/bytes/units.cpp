// SPDX-License-Identifier: Apache-2.0
#include "compiler/bytes/units.h"

#include <algorithm>

#include "arch/error.h"

namespace ktpu::bytes {
namespace {

void need_units(std::size_t units) {
  if (units == 0)
    throw arch::UserError(
        "dispatch: a stage has no units to run on; the machine lacks units of the kind it needs");
}

}  // namespace

Units::Units(const std::vector<arch::Coord>& coords) {
  constexpr unsigned kSide = 1u << arch::kPosBits;
  for (const arch::Coord at : coords) {
    if (at.x >= kSide || at.y >= kSide)
      throw arch::UserError::make("unit ({},{}): coordinates are 0 to {}", at.x, at.y, kSide - 1);
    nodes_.push_back(Node(at));
  }
}

std::vector<std::size_t> deal_in_turn(std::size_t instances, std::size_t units) {
  need_units(units);
  std::vector<std::size_t> where(instances);
  for (std::size_t i = 0; i < instances; ++i) where[i] = i % units;
  return where;
}

std::vector<std::size_t> deal_in_blocks(std::size_t instances, std::size_t units) {
  need_units(units);
  const std::size_t live = std::min(instances, units);  // no unit stays idle between two that work
  std::vector<std::size_t> where(instances);
  for (std::size_t i = 0; i < instances; ++i) where[i] = i * live / instances;
  return where;
}

}  // namespace ktpu::bytes
