// SPDX-License-Identifier: Apache-2.0
// Coefficients of the vector core's seed functions (vector.md section 6.6), worked out when first asked for:
// a quadratic through three Chebyshev nodes of each segment. The closest coefficient to a rounding tie is
// 3.1e-4 away from it, so every libm gives the same table.
#pragma once

#include <array>
#include <cstdint>

namespace ktpu::arch {

enum class SeedFunction : std::uint8_t { kExp2, kLog2, kInv, kRsqrt };

struct SeedSegment {
  std::int32_t c0, c1, c2;  // weights 2^-20, 2^-24, 2^-28; 22 bits each
  bool operator==(const SeedSegment&) const = default;
};

// Segments 0..31 each; rsqrt has 32..63, too, for the other parity of the exponent.
struct SeedTable {
  std::array<std::array<SeedSegment, 64>, 4> of{};
  const SeedSegment& at(SeedFunction f, unsigned index) const { return of[static_cast<unsigned>(f)][index]; }
};
inline constexpr unsigned seed_segments(SeedFunction f) { return f == SeedFunction::kRsqrt ? 64 : 32; }

const SeedTable& seed_table();

}  // namespace ktpu::arch
