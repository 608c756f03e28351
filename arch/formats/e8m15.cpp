// SPDX-License-Identifier: Apache-2.0
#include "arch/formats/e8m15.h"

#include <bit>

#include "arch/formats/acc.h"

namespace ktpu::arch {
namespace {

constexpr std::uint32_t pack(std::uint32_t sign, std::uint32_t exponent, std::uint32_t mantissa) {
  return sign << 23 | exponent << 15 | mantissa;
}

// Drops the low `drop` (>= 1) bits of `value`, rounding to nearest even.
constexpr std::uint64_t round_even(std::uint64_t value, unsigned drop) {
  const std::uint64_t kept = value >> drop;
  const std::uint64_t guard = (value >> (drop - 1)) & 1;
  const bool sticky = (value & ((1ull << (drop - 1)) - 1)) != 0;
  return kept + (guard & (static_cast<std::uint64_t>(sticky) | (kept & 1)));
}

}  // namespace

std::uint32_t acc_to_e8m15(std::uint32_t acc, unsigned mw) {
  const std::uint32_t sign = acc_sign(acc, mw), exponent = acc_exponent(acc, mw), m = acc_mantissa(acc, mw);
  if (exponent == 0) return pack(sign, 0, 0);
  const std::uint32_t truncated = mw > 15 ? m >> (mw - 15) : m << (15 - mw);
  if (exponent == 127) return pack(sign, 255, m != 0 && truncated == 0 ? 1 : truncated);
  if (mw <= 15) return pack(sign, exponent + 64, truncated);  // bias 63 to bias 127
  const auto kept = static_cast<std::uint32_t>(round_even(m, mw - 15));
  return pack(sign, exponent + 64 + (kept >> 15), kept & 0x7FFF);
}

std::uint32_t fp16_to_e8m15(std::uint16_t fp16) {
  const std::uint32_t sign = fp16 >> 15, exponent = (fp16 >> 10) & 31, m = fp16 & 0x3FF;
  if (exponent == 31) return pack(sign, 255, m << 5);
  if (exponent != 0) return pack(sign, exponent + 112, m << 5);
  if (m == 0) return pack(sign, 0, 0);
  const auto high = static_cast<std::uint32_t>(31 - std::countl_zero(m));
  return pack(sign, 103 + high, (m << (15 - high)) & 0x7FFF);
}

std::uint32_t fp32_to_e8m15(std::uint32_t fp32) {
  const std::uint32_t sign = fp32 >> 31, exponent = (fp32 >> 23) & 255, m = fp32 & 0x7FFFFF;
  if (exponent == 0) return pack(sign, 0, 0);
  if (exponent == 255) return pack(sign, 255, m == 0 ? 0 : 0x4000 | ((m >> 8) & 0x3FFF));
  const auto kept = static_cast<std::uint32_t>(round_even(m, 8));
  // A carry leaves a mantissa of zero, so the exponent that reaches 255 is an infinity without a special
  // case.
  return pack(sign, exponent + (kept >> 15), kept & 0x7FFF);
}

std::uint16_t e8m15_to_fp16(std::uint32_t e8m15) {
  const std::uint32_t sign = ((e8m15 >> 23) & 1) << 15, m = e8m15 & 0x7FFF;
  const int exponent = static_cast<int>((e8m15 >> 15) & 255);
  if (exponent == 0) return static_cast<std::uint16_t>(sign);
  if (exponent == 255)
    return static_cast<std::uint16_t>(sign | 0x7C00 | (m == 0 ? 0 : 0x200 | ((m >> 5) & 0x1FF)));
  const std::uint32_t significand = 0x8000 | m;
  const auto kept = static_cast<std::uint32_t>(round_even(significand, 5));  // 12 bits: bit 11 is a carry
  const int x = exponent - 112 + static_cast<int>(kept >> 11);
  if (x >= 31) return static_cast<std::uint16_t>(sign | 0x7BFF);
  if (x <= 0) {  // subnormal: rounded once from the whole significand; the carry lands in the exponent field
    unsigned shift = static_cast<unsigned>(118 - exponent) & 255;
    if (shift > 31) shift = 31;
    const std::uint64_t wide = (static_cast<std::uint64_t>(significand) << 32) >> shift;
    return static_cast<std::uint16_t>(sign | (round_even(wide, 32) & 0x7FF));
  }
  return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(x) << 10 |
                                    (kept >> 11 ? 0 : kept & 0x3FF));
}

std::uint32_t e8m15_to_fp32(std::uint32_t e8m15) {
  const std::uint32_t sign = ((e8m15 >> 23) & 1) << 31, exponent = (e8m15 >> 15) & 255;
  return exponent == 0 ? sign : sign | exponent << 23 | (e8m15 & 0x7FFF) << 8;
}

}  // namespace ktpu::arch
