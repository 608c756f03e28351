// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/pairing.h"

#include "arch/error.h"

namespace ktpu::schedule {

std::string Spread::print() const {
  switch (kind_) {
    case Kind::kCopied:
      return "copied";
    case Kind::kSplit:
      return fmt::format("split on axis {}", axis_);
    case Kind::kPartial:
      break;
  }
  return "partial";
}

Spread pair_matmul(Spread a, Spread b) {
  // Axis 0 of either operand is an axis of the result; axis 1 of both is the sum.
  if (a.is_copied() && b.is_copied()) return Spread::copied();
  if (a.is_copied() && b == Spread::split(0)) return Spread::split(1);
  if (a == Spread::split(0) && b.is_copied()) return Spread::split(0);
  if (a == Spread::split(1) && b == Spread::split(1)) return Spread::partial();
  throw arch::UserError::make(
      "a {} times b {}: no mesh has what its part needs; copy one operand, split one on axis 0, or both on "
      "axis 1 (a partial one has to be reduced first)",
      a.print(), b.print());
}

std::uint64_t share(std::uint64_t extent, unsigned meshes) {
  if (meshes == 0 || extent % meshes != 0)
    throw arch::UserError::make("an axis of {} does not split evenly over {} meshes", extent, meshes);
  return extent / meshes;
}

}  // namespace ktpu::schedule
