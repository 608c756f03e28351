// SPDX-License-Identifier: Apache-2.0
// Which meshes are linked, and the order in which partial results travel (compiler.md section 21).
#pragma once

#include <span>
#include <string>
#include <vector>

namespace ktpu::schedule {

struct Hop {
  unsigned from = 0;
  unsigned to = 0;
  bool operator==(const Hop&) const = default;
};

class Fabric {
 public:
  // The machine's four meshes: the path 0-1-3-2.
  Fabric() : Fabric({{0, 1}, {1, 3}, {3, 2}}) {}
  // Links go both ways.
  explicit Fabric(std::vector<Hop> links);

  std::vector<unsigned> neighbours(unsigned mesh) const;  // ascending
  // Fewest links between two meshes. Throws UserError when no way leads there.
  unsigned hops(unsigned from, unsigned to) const;
  // The given meshes in the order of the links between them, from the end that is named first. Throws
  // UserError when they are no path: a fork, a ring, a gap, or a mesh named twice.
  std::vector<unsigned> path(std::span<const unsigned> meshes) const;

  std::string print() const;
  std::string verify() const;  // empty, or the first link that is none

 private:
  std::vector<Hop> links_;
};

// Every mesh of a path sends what it has one link towards `into`: first the arm before it, then the arm
// behind it, each from its far end.
std::vector<Hop> converge(std::span<const unsigned> path, unsigned into);
// Links from `into` to the farthest mesh of the path.
unsigned hops_to(std::span<const unsigned> path, unsigned into);

}  // namespace ktpu::schedule
