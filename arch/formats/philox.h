// SPDX-License-Identifier: Apache-2.0
// The mover's number generator (memory.md section 10.3): Philox4x32 with ten rounds (J. K. Salmon et al.,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
#pragma once

#include <array>
#include <cstdint>

namespace ktpu::arch {

// Word 0 first, both counter and result; `key` holds its low word in bits [31:0].
std::array<std::uint32_t, 4> philox4x32_10(const std::array<std::uint32_t, 4>& counter, std::uint64_t key);

// The 32-byte word the mover generates for byte address `addr` (bits [39:5] count), word [63:0] first.
std::array<std::uint64_t, 4> generated_word(std::uint64_t seed, std::uint64_t addr);

}  // namespace ktpu::arch
