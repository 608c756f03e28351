// SPDX-License-Identifier: Apache-2.0
// Random entries for the quantiser.
#pragma once

#include <array>
#include <cstdint>
#include <random>

namespace ktpu::test {

using Halves = std::array<std::uint16_t, 128>;

// Entries of every kind: random patterns, subnormals, zeros, one binade, wide ranges, exponent 31, single
// peaks at the edges of the scale's choice.
inline Halves random_entry(std::mt19937_64& rng) {
  Halves h{};
  for (unsigned lane = 0; lane < 4; ++lane) {
    const unsigned kind = static_cast<unsigned>(rng() % 8), base = static_cast<unsigned>(rng() % 31);
    for (unsigned k = 0; k < 32; ++k) {
      const std::uint32_t r = static_cast<std::uint32_t>(rng());
      std::uint32_t v = r & 0xFFFF;
      if (kind == 1) v &= 0x83FF;                              // subnormals
      if (kind == 2) v = (v & 0x8000);                         // zeros
      if (kind == 3) v = (v & 0x83FF) | base << 10;            // one binade
      if (kind == 4) v = (v & 0x83FF) | (base + r % 2) << 10;  // two
      if (kind == 5) v |= 0x7C00;                              // exponent 31
      if (kind == 6) v &= 0x8000 | (0xFu >> (r % 4));          // tiny
      h[lane * 32 + k] = static_cast<std::uint16_t>(v);
    }
    if (kind == 7) {  // a peak next to a threshold, the rest small
      static constexpr std::array<unsigned, 8> kEdges{1134, 1260, 1386, 1512, 1638, 1764, 1890, 2016};
      for (unsigned k = 0; k < 32; ++k)
        h[lane * 32 + k] = static_cast<std::uint16_t>(h[lane * 32 + k] & 0x83FF);
      const unsigned peak = kEdges[rng() % 8] + static_cast<unsigned>(rng() % 2);
      h[lane * 32 + rng() % 32] =
          static_cast<std::uint16_t>((rng() & 1) << 15 | (base + 1) << 10 | (peak & 1023));
    }
  }
  return h;
}

}  // namespace ktpu::test
