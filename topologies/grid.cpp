// SPDX-License-Identifier: Apache-2.0
#include "topologies/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "topologies/map_reader.h"
#include "topologies/suggest.h"

namespace ktpu::topo {

bool is_symbol(std::string_view text) {
  if (text.empty() || text.size() > 32 || text == kNoRouterCell || is_null_word(text)) return false;
  if (std::isdigit(static_cast<unsigned char>(text[0]))) return false;
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c < 0x80 && (std::isalnum(c) || c == '_'); });
}

Coord router_of(Coord at, Coord hi) {
  return {std::clamp<std::uint8_t>(at.x, kGridLo, hi.x), std::clamp<std::uint8_t>(at.y, kGridLo, hi.y)};
}

Side side_of(Coord at, Coord hi) {
  if (at.y < kGridLo) return Side::kNorth;
  if (at.x > hi.x) return Side::kEast;
  if (at.y > hi.y) return Side::kSouth;
  if (at.x < kGridLo) return Side::kWest;
  return Side::kLocal;
}

Grid read_grid(const Doc& doc, const std::string& path) {
  const auto size_fault = [&](const Mark& mark, const std::string& where, std::string_view what,
                              std::size_t n) {
    fail_key(mark, where,
             fmt::format("{} {}; allowed: 3..{} (1..{} routers and one edge slot at each end)", n, what,
                         kMaxGrid + 2, kMaxGrid));
  };
  if (!doc.is_sequence())
    fail_key(doc.mark, path, fmt::format("{} where a list of rows is needed", doc.what()));
  const std::size_t height = doc.items.size();
  if (height < 3 || height > kMaxGrid + 2) size_fault(doc.mark, path, "rows", height);
  std::size_t width = 0;
  for (std::size_t y = 0; y < height; ++y) {
    const Doc& row = doc.items[y];
    const std::string row_path = fmt::format("{}.{}", path, y);
    if (!row.is_sequence())
      fail_key(row.mark, row_path, fmt::format("{} where a list of cells is needed", row.what()));
    if (y == 0) width = row.items.size();
    if (width < 3 || width > kMaxGrid + 2) size_fault(row.mark, row_path, "cells", width);
    if (row.items.size() != width)
      fail_key(row.mark, row_path,
               fmt::format("{} cells, but the first row has {}; all rows are equally long", row.items.size(),
                           width));
  }

  Grid grid;
  grid.hi = {static_cast<std::uint8_t>(width - 2), static_cast<std::uint8_t>(height - 2)};
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x) {
      const Doc& cell = doc.items[y].items[x];
      const std::string where = fmt::format("{}.{}.{}", path, y, x);
      const Coord at{static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y)};
      const bool edge_x = x == 0 || x == width - 1, edge_y = y == 0 || y == height - 1;
      if (!cell.is_scalar() ||
          (cell.text != kEmptyCell && cell.text != kNoRouterCell && !is_symbol(cell.text)))
        fail_key(cell.mark, where,
                 fmt::format("{} in a cell; allowed: a symbol of 'units', '.' (nothing), or inside the ring "
                             "'x' (no router)",
                             cell.what()));
      if (edge_x && edge_y && cell.text != kEmptyCell)
        fail_key(cell.mark, where,
                 fmt::format("{} in a corner: the four corners touch no router and are '.'",
                             show_text(cell.text)));
      if (cell.text == kNoRouterCell && (edge_x || edge_y))
        fail_key(cell.mark, where,
                 "'x' in the outer ring: it says that a router is missing; an empty edge slot is '.'");
      if (!edge_x && !edge_y && cell.text != kNoRouterCell) grid.routers.push_back(at);
      if (cell.text != kEmptyCell && cell.text != kNoRouterCell)
        grid.cells.push_back({at, cell.text, cell.mark, where});
    }
  if (grid.routers.empty()) fail_key(doc.mark, path, "no router at all");
  if (grid.cells.empty()) fail_key(doc.mark, path, "no endpoint at all: every cell is empty");
  return grid;
}

}  // namespace ktpu::topo
