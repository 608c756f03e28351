// SPDX-License-Identifier: Apache-2.0
// Whether a program makes sense by itself: ranges, sizes, references. What a machine can hold is checked by
// the platform against `needs`; what is legal on the hardware but illegal to rely on is lint.h.
#pragma once

#include <cstdint>

#include "arch/program/program.h"

namespace ktpu::arch {

// Bounds that keep a hostile file from asking for the moon.
inline constexpr std::uint64_t kMaxImageBytes = 1ull
                                                << 30;  // all images and loads together, after generation
inline constexpr std::uint64_t kMaxRelayoutBytes = 1ull << 28;  // one relayout
inline constexpr std::uint32_t kMaxWaitCycles = 1u << 24;       // quiet waits and resets
inline constexpr std::uint32_t kMaxMeshes = 4;                  // mesh ids are 2 bits
inline constexpr std::uint32_t kMaxStagingFlits =
    13107;  // 16-bit offsets end the window, orchestrator.md 3.3

// Throws UserError naming the part, e.g. "step 12 (kick): count 0 ...".
void validate(const Program& program);

}  // namespace ktpu::arch
