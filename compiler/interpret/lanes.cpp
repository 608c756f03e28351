// SPDX-License-Identifier: Apache-2.0
#include "compiler/interpret/lanes.h"

#include <bit>
#include <cmath>

#include "arch/formats/lane_alu.h"

namespace ktpu::interpret {

using arch::VectorOpcode;

namespace {

double model_op(VectorOpcode op, double a, double b, double c) {
  switch (op) {
    case VectorOpcode::kVmov:
      return a;
    case VectorOpcode::kVneg:
      return -a;
    case VectorOpcode::kVabs:
      return std::fabs(a);
    case VectorOpcode::kVadd:
      return a + c;
    case VectorOpcode::kVsub:
      return a - c;
    case VectorOpcode::kVmul:
      return a * b;
    case VectorOpcode::kVfma:
      return a * b + c;
    case VectorOpcode::kVfnma:
      return -(a * b) + c;
    case VectorOpcode::kVmax:
      return a < b ? b : a;
    case VectorOpcode::kVmin:
      return a > b ? b : a;
    case VectorOpcode::kVsel:
      return c != 0 ? a : b;
    case VectorOpcode::kVcmplt:
      return a < b ? 1 : 0;
    case VectorOpcode::kVcmpgt:
      return a > b ? 1 : 0;
    case VectorOpcode::kVcmpeq:
      return a == b ? 1 : 0;
    case VectorOpcode::kVexp2:
      return std::exp2(a);
    case VectorOpcode::kVlog2:
      return std::log2(a);
    case VectorOpcode::kVinv:
      return 1 / a;
    default:
      return 1 / std::sqrt(a);
  }
}

}  // namespace

double e8m15_to_double(std::uint32_t bits) {
  constexpr int kBias = 127, kDoubleBias = 1023;
  const std::uint64_t sign = std::uint64_t{bits >> 23 & 1} << 63;
  const unsigned exponent = bits >> 15 & 255;
  const std::uint64_t fraction = std::uint64_t{bits & 0x7FFF} << 37;
  if (exponent == 0) return std::bit_cast<double>(sign);
  if (exponent == 255) return std::bit_cast<double>(sign | 0x7FFull << 52 | fraction);
  return std::bit_cast<double>(sign | static_cast<std::uint64_t>(exponent - kBias + kDoubleBias) << 52 |
                               fraction);
}

std::uint32_t double_to_e8m15(double value) {
  constexpr unsigned kDrop = 53 - 16;
  if (std::isnan(value)) return arch::kE8m15NaN;
  std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  const std::uint32_t sign = bits >> 63 ? arch::kE8m15Sign : 0;
  if (!std::isinf(value)) bits += (1ull << (kDrop - 1)) - 1 + (bits >> kDrop & 1);
  const int exponent = static_cast<int>(bits >> 52 & 0x7FF) - 1023 + 127;
  if (exponent >= 255) return sign | arch::kE8m15Inf;
  if (exponent <= 0) return sign;
  return sign | static_cast<std::uint32_t>(exponent) << 15 |
         static_cast<std::uint32_t>(bits >> kDrop & 0x7FFF);
}

void LaneArithmetic::apply(VectorOpcode op, const std::uint32_t* a, const std::uint32_t* b,
                           const std::uint32_t* c, std::uint32_t* r, unsigned n) const {
  if (rounding == Rounding::kHardware) return arch::lane_ops(op, a, b, c, r, n, wrap_exp2);
  for (unsigned i = 0; i < n; ++i)
    r[i] = double_to_e8m15(model_op(op, e8m15_to_double(a[i]), e8m15_to_double(b[i]), e8m15_to_double(c[i])));
}

std::uint32_t LaneArithmetic::combine(VectorOpcode op, std::uint32_t left, std::uint32_t right) const {
  if (rounding == Rounding::kHardware) return arch::lane_combine(op, left, right);
  const double b = e8m15_to_double(right);
  return double_to_e8m15(model_op(op, e8m15_to_double(left), b, b));
}

std::uint32_t LaneArithmetic::tree(VectorOpcode op, std::span<std::uint32_t> values) const {
  if (rounding == Rounding::kHardware) return arch::lane_tree(op, values);
  for (std::size_t n = values.size(); n > 1; n /= 2)
    for (std::size_t i = 0; i < n / 2; ++i) values[i] = combine(op, values[2 * i], values[2 * i + 1]);
  return values[0];
}

}  // namespace ktpu::interpret
