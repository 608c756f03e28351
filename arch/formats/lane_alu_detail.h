// SPDX-License-Identifier: Apache-2.0
// The vectorised form of the lane arithmetic; equal to the scalar one in every bit.
#pragma once

#include <cstdint>

#include "arch/encoding/vector_word.h"

namespace ktpu::arch::detail {

// VADD, VSUB, VMUL, VFMA and VFNMA of `n` elements, four at a time. False, and nothing done: not in use here
// (formats/simd.h), or n is no multiple of 4. `r` may be one of the operands.
bool lane_fma_simd(VectorOpcode op, const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c,
                   std::uint32_t* r, unsigned n);

}  // namespace ktpu::arch::detail
