// SPDX-License-Identifier: Apache-2.0
// How much of a vector core's L1 a program may use (compiler.md sections 2 and 18.6).
#pragma once

#include <cstdint>

namespace ktpu::base {

inline constexpr std::uint64_t kVectorL1Words = 512;  // of 32 bytes
// From the next word up to, but without, all of L1: results were seen to be corrupted on the card.
inline constexpr std::uint64_t kVectorL1Safe = 320;

// `held`: words the core has, at most kVectorL1Words.
constexpr bool fits_vector_l1(std::uint64_t words, std::uint64_t held = kVectorL1Words) {
  return words <= held && (words <= kVectorL1Safe || words == kVectorL1Words);
}

}  // namespace ktpu::base
