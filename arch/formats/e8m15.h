// SPDX-License-Identifier: Apache-2.0
// The vector lane's format E8M15 = {sign, 8-bit exponent (bias 127), 15-bit mantissa} in the low 24 bits of a
// uint32_t, and its conversions at the memory and accumulator edges (number-formats.md sections 10 and 11).
#pragma once

#include <cstdint>

namespace ktpu::arch {

// Section 10. Exact for MW <= 15. The accumulator's top binade (exponent 127) is read as infinity or NaN
// here, so a saturated accumulator becomes a NaN.
std::uint32_t acc_to_e8m15(std::uint32_t acc, unsigned mw);

// Section 11. FP16 is exact for all 65,536 patterns. FP32 is rounded to nearest even, its subnormals flushed.
std::uint32_t fp16_to_e8m15(std::uint16_t fp16);
std::uint32_t fp32_to_e8m15(std::uint32_t fp32);

// Section 11. FP32 is exact; FP16 rounds to nearest even, makes subnormals and saturates finite overflow.
std::uint16_t e8m15_to_fp16(std::uint32_t e8m15);
std::uint32_t e8m15_to_fp32(std::uint32_t e8m15);

}  // namespace ktpu::arch
