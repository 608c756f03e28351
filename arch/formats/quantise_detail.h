// SPDX-License-Identifier: Apache-2.0
// Between quantise.cpp and its AVX2 form; nothing else includes it.
#pragma once

#include <cstdint>

namespace ktpu::arch::detail {

// Section 4.2: the largest magnitude pattern of 32 FP16 values.
std::uint32_t peak_avx2(const std::uint16_t* block);
// Section 4.5 for 32 elements: `exponent` is sexp, `reciprocal` the table entry of the scale's mantissa. The
// scale belongs to the block's true peak, so the shift t is never negative. `q` is 32-byte aligned or not.
void round_avx2(const std::uint16_t* block, int exponent, std::uint32_t reciprocal, std::int8_t* q);

}  // namespace ktpu::arch::detail
