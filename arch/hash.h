// SPDX-License-Identifier: Apache-2.0
// FNV-1a, 64 bits: content hashes and fingerprints. Finds accidents, not attackers.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ktpu::arch {

inline constexpr std::uint64_t kFnvBasis = 0xcbf29ce484222325ull;
inline constexpr std::uint64_t kFnvPrime = 0x100000001b3ull;

// Pass the previous result as `state` to hash in pieces.
constexpr std::uint64_t fnv1a(std::span<const std::uint8_t> bytes, std::uint64_t state = kFnvBasis) {
  for (const std::uint8_t b : bytes) state = (state ^ b) * kFnvPrime;
  return state;
}
constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t state = kFnvBasis) {
  for (const char c : text) state = (state ^ static_cast<std::uint8_t>(c)) * kFnvPrime;
  return state;
}

}  // namespace ktpu::arch
