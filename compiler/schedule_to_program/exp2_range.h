// SPDX-License-Identifier: Apache-2.0
// Which exp2 of an expression needs its argument clamped: the machine as shipped wraps arguments of 128 to
// 256 in magnitude (vector.md section 6.5, quirk V7). Outside of [-127, 127] the power is zero or above all
// FP16, so a clamped argument gives the same result.
#pragma once

#include <limits>
#include <vector>

#include "arch/encoding/vector_word.h"
#include "compiler/base/expr.h"
#include "compiler/schedule_to_program/image.h"

namespace ktpu::schedule_to_program {

inline constexpr double kLeastExponent = -127, kGreatestExponent = 127;

struct ExponentClamp {
  bool below = false, above = false;  // arguments may lie there
  bool any() const { return below || above; }
};

// Values a leaf may have.
struct ValueRange {
  double least = -std::numeric_limits<double>::infinity();
  double greatest = std::numeric_limits<double>::infinity();
};
// What memory and a delivered tile hold. Their infinities need no clamp: they give what they should.
inline constexpr ValueRange kHalfRange{-65504, 65504};
constexpr ValueRange constant_range(double value) { return {value, value}; }

// By node of the expression; `leaves` by leaf number. Of a difference it is known when it can't be positive:
// a row less its largest element, a value less the larger of it and another.
std::vector<ExponentClamp> exponent_clamps(const base::Expr& expr, const std::vector<ValueRange>& leaves);

// One word for each side, into `destination`. `least` and `greatest` hold the bounds.
std::vector<arch::VectorWord> clamp_words(ExponentClamp clamp, std::uint32_t destination, Operand argument,
                                          Operand least, Operand greatest);

}  // namespace ktpu::schedule_to_program
