// SPDX-License-Identifier: Apache-2.0
// Which unit an instance of a stage runs on. A unit's coordinate comes from the machine's description and
// goes no further up than this level (compiler.md section 1).
#pragma once

#include <compare>
#include <cstddef>
#include <vector>

#include "arch/flit.h"

namespace ktpu::bytes {

// A unit of the machine. Only Units makes one, so no other level can think up a coordinate.
class Node {
 public:
  arch::Coord at() const { return at_; }
  auto operator<=>(const Node&) const = default;

 private:
  friend class Units;
  explicit Node(arch::Coord at) : at_(at) {}
  arch::Coord at_;
};

// The units of one kind, in the order the machine's description lists them.
class Units {
 public:
  // Throws UserError for a coordinate outside the grid a header can name.
  explicit Units(const std::vector<arch::Coord>& coords);
  std::size_t size() const { return nodes_.size(); }
  Node operator[](std::size_t i) const { return nodes_.at(i); }

 private:
  std::vector<Node> nodes_;
};

// The unit each of `instances` is dealt to, by position in sorted order. Both throw UserError without units.
// Dispatch deals round robin (section 12).
std::vector<std::size_t> deal_in_turn(std::size_t instances, std::size_t units);
// The cost model and the schedule path deal contiguous blocks (sections 7 and 23).
std::vector<std::size_t> deal_in_blocks(std::size_t instances, std::size_t units);

}  // namespace ktpu::bytes
