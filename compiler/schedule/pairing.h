// SPDX-License-Identifier: Apache-2.0
// How a value lies over several meshes, and what a product of two such values is (compiler.md section 21).
#pragma once

#include <cstdint>
#include <string>

namespace ktpu::schedule {

class Spread {
 public:
  static Spread copied() { return Spread(Kind::kCopied, 0); }                // every mesh has all of it
  static Spread split(unsigned axis) { return Spread(Kind::kSplit, axis); }  // equal parts along an axis
  static Spread partial() { return Spread(Kind::kPartial, 0); }              // the meshes' values add up

  bool is_copied() const { return kind_ == Kind::kCopied; }
  bool is_partial() const { return kind_ == Kind::kPartial; }
  bool is_split() const { return kind_ == Kind::kSplit; }
  unsigned axis() const { return axis_; }  // of a split
  bool operator==(const Spread&) const = default;
  std::string print() const;

 private:
  enum class Kind : std::uint8_t { kCopied, kSplit, kPartial };
  Spread(Kind kind, unsigned axis) : kind_(kind), axis_(axis) {}
  Kind kind_;
  unsigned axis_;
};

// The result of a @ b.T computed by each mesh on what it has. Throws UserError for pairs that would need
// data of another mesh, and for partial operands.
Spread pair_matmul(Spread a, Spread b);
// What each of `meshes` holds of an axis. Throws UserError when the parts are not equal.
std::uint64_t share(std::uint64_t extent, unsigned meshes);

}  // namespace ktpu::schedule
