// SPDX-License-Identifier: Apache-2.0
#include "tlm/noc/routing.h"

#include <algorithm>

namespace ktpu::noc {

Direction route(arch::Coord position, const Grid& grid, arch::Coord destination) {
  const unsigned px = destination.x, py = destination.y, mx = position.x, my = position.y;
  const unsigned cx = std::clamp(px, grid.x_lo, grid.x_hi), cy = std::clamp(py, grid.y_lo, grid.y_hi);
  const bool here = cx == mx && cy == my;
  if (cx < mx || (here && px < mx)) return kWest;
  if (cx > mx || (here && px > mx)) return kEast;
  if (cy < my || (here && py < my)) return kNorth;
  if (cy > my || (here && py > my)) return kSouth;
  return kLocal;
}

bool turn_suppressed(arch::Coord position, const Grid& grid, Direction from, Direction to) {
  const bool north = position.y > grid.y_lo, south = position.y < grid.y_hi;
  const bool west = position.x > grid.x_lo, east = position.x < grid.x_hi;
  switch (from) {
    case kNorth:
      return north && (to == kNorth || (to == kEast && east) || (to == kWest && west));
    case kSouth:
      return south && (to == kSouth || (to == kEast && east) || (to == kWest && west));
    case kWest:
      return west && to == kWest;
    case kEast:
      return east && to == kEast;
    case kLocal:
      break;
  }
  return false;
}

arch::Coord final_slot(const Grid& grid, arch::Coord destination) {
  const unsigned ex = std::clamp<unsigned>(destination.x, grid.x_lo - 1, grid.x_hi + 1);
  const bool outside = ex == grid.x_lo - 1 || ex == grid.x_hi + 1;
  const unsigned ey = outside ? std::clamp<unsigned>(destination.y, grid.y_lo, grid.y_hi)
                              : std::clamp<unsigned>(destination.y, grid.y_lo - 1, grid.y_hi + 1);
  return {static_cast<std::uint8_t>(ex), static_cast<std::uint8_t>(ey)};
}

}  // namespace ktpu::noc
