// SPDX-License-Identifier: Apache-2.0
// The picture of a mesh. Internal to topologies/.
#pragma once

#include <string>
#include <vector>

#include "topologies/document.h"

namespace ktpu::topo {

inline constexpr std::string_view kEmptyCell = ".";  // ring: empty slot; inside: a router without an endpoint
inline constexpr std::string_view kNoRouterCell =
    "x";  // inside only: the rectangle goes on, but no router is built

struct Cell {
  Coord at;
  std::string symbol;
  Mark mark;
  std::string path;
};

struct Grid {
  Coord hi;                    // the rectangle is (1,1)..hi
  std::vector<Coord> routers;  // row-major
  std::vector<Cell> cells;     // those with a symbol, row-major
};

// Checks shape, ring, corners and spelling. A symbol is a letter or '_' followed by letters, digits and '_',
// other than the word x.
Grid read_grid(const Doc& doc, const std::string& path);
bool is_symbol(std::string_view text);

// The router and its side that the endpoint at `at` hangs on (fabric.md section 4).
Coord router_of(Coord at, Coord hi);
Side side_of(Coord at, Coord hi);

}  // namespace ktpu::topo
