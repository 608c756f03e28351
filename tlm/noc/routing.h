// SPDX-License-Identifier: Apache-2.0
// Where a flit leaves a router (fabric.md section 6).
#pragma once

#include <array>

#include "arch/flit.h"

namespace ktpu::noc {

// Port order of the machine: request bits, arbiter inputs and waves all use it (fabric.md section 6).
enum Direction : unsigned { kNorth = 0, kEast = 1, kSouth = 2, kWest = 3, kLocal = 4 };
inline constexpr unsigned kPorts = 5;
inline constexpr std::array<const char*, kPorts> kPortNames{"north", "east", "south", "west", "local"};

// The router rectangle that destinations are clamped into (fabric.md section 4).
struct Grid {
  unsigned x_lo = 1, x_hi = 1;  // columns that hold routers, 1..14
  unsigned y_lo = 1, y_hi = 1;  // rows
};

// The output a flit for `destination` leaves the router at `position` by.
Direction route(arch::Coord position, const Grid& grid, arch::Coord destination);
// Whether the turn mask drops a request that arrived on `from` and wants `to`.
bool turn_suppressed(arch::Coord position, const Grid& grid, Direction from, Direction to);
// The attachment any raw destination ends at (fabric.md section 6.1); a coordinate of the rectangle or its
// ring.
arch::Coord final_slot(const Grid& grid, arch::Coord destination);

}  // namespace ktpu::noc
