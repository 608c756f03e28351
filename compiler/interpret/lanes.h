// SPDX-License-Identifier: Apache-2.0
// Lane operations of the vector core on E8M15 patterns, by one of the two roundings: the machine's tables and
// corners (vector.md section 6), or doubles rounded to 16 significant bits (compiler.md section 23.1).
#pragma once

#include <cstdint>
#include <span>

#include "arch/encoding/vector_word.h"
#include "compiler/interpret/machine.h"

namespace ktpu::interpret {

struct LaneArithmetic {
  Rounding rounding = Rounding::kHardware;
  bool wrap_exp2 = false;  // quirk V7; hardware only

  // r[i] = op(a[i], b[i], c[i]); comparisons give 1.0 or 0.0. r may be one of the operands.
  void apply(arch::VectorOpcode op, const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c,
             std::uint32_t* r, unsigned n) const;
  // Pairwise tree over a power of two of values, in place (section 8); `op`: VADD, VMAX or VMIN.
  std::uint32_t tree(arch::VectorOpcode op, std::span<std::uint32_t> values) const;
  std::uint32_t combine(arch::VectorOpcode op, std::uint32_t left, std::uint32_t right) const;
};

// Values of the reference model: no subnormals, NaNs without payload.
double e8m15_to_double(std::uint32_t bits);
std::uint32_t double_to_e8m15(double value);

}  // namespace ktpu::interpret
