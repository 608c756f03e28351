// SPDX-License-Identifier: Apache-2.0
// The machine's arithmetic on plain tensors: MXFP7 operands and a rounded accumulator for products, E8M15 for
// every lane operation, FP16 for what goes through memory (compiler.md section 3). No tiles, no layouts, no
// instructions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "apps/ktpu-check/float64_kernels.h"
#include "arch/formats/acc.h"
#include "arch/formats/e8m15.h"
#include "arch/formats/lane_alu.h"

namespace ktpu::check {

// A value of a vector lane.
struct Lane {
  std::uint32_t bits = 0;
};
Lane operator+(Lane a, Lane b);
Lane operator-(Lane a, Lane b);
Lane operator*(Lane a, Lane b);
Lane operator/(Lane a, Lane b);  // times the reciprocal
Lane operator-(Lane a);
Lane exp2(Lane a);
Lane log2(Lane a);
Lane recip(Lane a);
Lane rsqrt(Lane a);
Lane absolute(Lane a);
Lane maximum(Lane a, Lane b);
Lane minimum(Lane a, Lane b);
bool is_less(Lane a, Lane b);
Lane fma(Lane a, Lane b, Lane c);
// Rounded at every node of a tree.
Lane sum(std::span<const Lane> row);
Lane largest(std::span<const Lane> row);

// A tensor in memory: FP16 patterns, row-major.
struct Half {
  std::vector<std::uint32_t> shape;
  std::vector<std::uint16_t> v;

  std::size_t columns() const { return shape.empty() ? 1 : shape.back(); }
  std::size_t rows() const { return v.size() / columns(); }
  Half rows_from(std::size_t first, std::size_t count) const;
};
Half half_of(const Real& real);
Real real_of(const Half& half);

class FormatArithmetic {
 public:
  // A constant reaches the lanes as an FP16 array, or as the top 24 bits of its FP32 form in a register
  // (compiler.md section 16).
  enum class Constants : std::uint8_t { kHalf, kTruncated };
  explicit FormatArithmetic(Constants constants, unsigned acc_mw = arch::kDefaultAccMw)
      : constants_(constants), acc_mw_(acc_mw) {}

  Lane constant(double value) const;
  static Lane lane(std::uint16_t half) { return {arch::fp16_to_e8m15(half)}; }
  static std::uint16_t store(Lane lane) { return arch::e8m15_to_fp16(lane.bits); }
  // x [rows, K] times w [N, K] transposed, in blocks of 32 along K.
  Half matmul(const Half& x, const Half& w) const;

  // Element by element, and row by row: `f` gets the operands' values and writes the results.
  static Half each(const std::vector<const Half*>& operands,
                   const std::function<Lane(std::span<const Lane>)>& f);
  static Half by_rows(const Half& x, const std::function<void(std::span<Lane>)>& f);

 private:
  Constants constants_;
  unsigned acc_mw_;
};

}  // namespace ktpu::check
