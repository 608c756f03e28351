// SPDX-License-Identifier: Apache-2.0
// The arithmetic of a vector lane: E8M15 operands in the low 24 bits of a uint32_t (vector.md section 6).
// This is the reference every faster form is compared with.
#pragma once

#include <cstdint>
#include <span>

#include "arch/encoding/vector_word.h"

namespace ktpu::arch {

inline constexpr std::uint32_t kE8m15One = 0x3F8000;
inline constexpr std::uint32_t kE8m15NaN = 0x7FC000;
inline constexpr std::uint32_t kE8m15Inf = 0x7F8000;
inline constexpr std::uint32_t kE8m15Sign = 0x800000;

// Section 6.2: normalises, rounds and packs a magnitude of up to 48 bits whose bit 0 weighs 2^(eb-127).
std::uint32_t e8m15_pack(std::uint32_t sign, std::uint64_t magnitude, int eb, bool sticky, bool cancel);

// Section 6.3: a * b + c with one rounding, specials and corners as built.
std::uint32_t e8m15_fma(std::uint32_t a, std::uint32_t b, std::uint32_t c);

// a * 1 + 0 without the arithmetic: zeros lose their sign, NaNs their payload, the rest stays.
std::uint32_t e8m15_copy(std::uint32_t a);

// Section 6.4. All three are false when an operand is a NaN.
struct E8m15Order {
  bool less, greater, equal;
};
E8m15Order e8m15_compare(std::uint32_t a, std::uint32_t b);

// Section 6.5. `wrap_exp2`: operands of magnitude 128 up to 256 wrap as in the reference machine (quirk V7).
std::uint32_t e8m15_exp2(std::uint32_t a, bool wrap_exp2);
std::uint32_t e8m15_log2(std::uint32_t a);
std::uint32_t e8m15_inv(std::uint32_t a);
std::uint32_t e8m15_rsqrt(std::uint32_t a);
// Whether VEXP2 of `a` meets quirk V7.
constexpr bool exp2_wraps(std::uint32_t a) { return ((a >> 15) & 255) == 134; }

// One operation of section 3.3 on the values of its slots; comparisons give 1.0 or 0.0.
std::uint32_t lane_op(VectorOpcode op, std::uint32_t a, std::uint32_t b, std::uint32_t c, bool wrap_exp2);

// The same for `n` elements at once; r may be one of the operands.
void lane_ops(VectorOpcode op, const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c,
              std::uint32_t* r, unsigned n, bool wrap_exp2);

// The balanced pairwise tree of section 8 over a power of two of values, in place; the result is values[0].
// `op`: VADD, VMAX or VMIN.
std::uint32_t lane_tree(VectorOpcode op, std::span<std::uint32_t> values);
// One node of it: left operand first.
std::uint32_t lane_combine(VectorOpcode op, std::uint32_t left, std::uint32_t right);

}  // namespace ktpu::arch
