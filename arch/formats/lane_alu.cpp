// SPDX-License-Identifier: Apache-2.0
#include "arch/formats/lane_alu.h"

#include <algorithm>
#include <bit>

#include "arch/formats/lane_alu_detail.h"
#include "arch/formats/seed_table.h"

namespace ktpu::arch {
namespace {

constexpr std::uint32_t sign_of(std::uint32_t v) { return (v >> 23) & 1; }
constexpr int exponent_of(std::uint32_t v) { return static_cast<int>((v >> 15) & 255); }
constexpr std::uint32_t mantissa_of(std::uint32_t v) { return v & 0x7FFF; }
constexpr bool is_zero(std::uint32_t v) { return exponent_of(v) == 0; }
constexpr bool is_inf(std::uint32_t v) { return (v & 0x7FFFFF) == kE8m15Inf; }
constexpr bool is_nan(std::uint32_t v) { return exponent_of(v) == 255 && mantissa_of(v) != 0; }
constexpr std::uint32_t infinity(std::uint32_t sign) { return sign << 23 | kE8m15Inf; }

// Section 6.5: the quadratic of a segment at u / 4096, in units of 2^-20. `identity`: this operand is an
// exact power of two and takes `identity_value` for the constant coefficient.
std::int64_t evaluate(const SeedSegment& segment, unsigned u, bool identity, std::int64_t identity_value,
                      std::int64_t added) {
  constexpr std::int64_t kHalf = 1 << 15;
  const std::int64_t h = (segment.c2 * static_cast<std::int64_t>(u) + segment.c1 * 65536ll + kHalf) >> 16;
  const std::int64_t c0 = (identity ? identity_value : segment.c0) + added;
  return (h * u + c0 * 65536 + kHalf) >> 16;
}

const SeedTable& kSeeds = seed_table();

constexpr std::int64_t kUnit = 1 << 20;  // 1.0 of the seed functions

}  // namespace

std::uint32_t e8m15_pack(std::uint32_t sign, std::uint64_t magnitude, int eb, bool sticky, bool cancel) {
  if (magnitude == 0) return cancel ? 0 : sign << 23;
  const int position = 63 - std::countl_zero(magnitude);
  const std::uint64_t n = magnitude << (47 - position);
  auto significand = static_cast<std::uint32_t>(n >> 32);
  const auto guard = static_cast<std::uint32_t>(n >> 31) & 1;
  const bool below = (n & 0x7FFFFFFF) != 0 || sticky;
  significand += guard & (static_cast<std::uint32_t>(below) | (significand & 1));
  // A carry out of the mantissa leaves it zero.
  const int exponent = position + eb + static_cast<int>(significand >> 16);
  if (exponent >= 255) return infinity(sign);
  if (exponent <= 0) return sign << 23;
  return sign << 23 | static_cast<std::uint32_t>(exponent) << 15 |
         (significand >> 16 ? 0 : significand & 0x7FFF);
}

std::uint32_t e8m15_fma(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint32_t product_sign = sign_of(a) ^ sign_of(b), addend_sign = sign_of(c);
  const bool negative = product_sign != addend_sign;
  const bool product_zero = is_zero(a) || is_zero(b), addend_zero = is_zero(c);
  int ea = exponent_of(a), eb = exponent_of(b);
  const int ec = exponent_of(c);
  if (ea == 255 || eb == 255 || ec == 255) {
    const bool product_inf = is_inf(a) || is_inf(b);
    const bool product_nan = is_nan(a) || is_nan(b) || (product_inf && product_zero);
    if (product_nan || is_nan(c) || (product_inf && is_inf(c) && negative)) return kE8m15NaN;
    return infinity(product_inf ? product_sign : addend_sign);
  }
  std::uint64_t m = 0;
  if (product_zero)
    ea = eb = 1;
  else
    m = static_cast<std::uint64_t>(0x8000 | mantissa_of(a)) * (0x8000 | mantissa_of(b));
  const std::uint64_t g =
      0x8000 | mantissa_of(c);  // not zeroed for a zero addend: that makes its ties sticky
  int shift = 17 + (ea + eb - 127 - ec);
  int base = ea + eb - 157;
  if (addend_zero) {
    shift = 48;
  } else if (shift < 0) {  // the addend dominates
    shift = 0;
    m = 0;
    base = ec - 47;
  } else {
    shift = std::min(shift, 48);
  }
  const std::uint64_t addend = (g << 32) >> shift;
  const bool sticky = shift > 32 && (g & ((1ull << (shift - 32)) - 1)) != 0;
  constexpr std::uint64_t kMask48 = (1ull << 48) - 1, kMask33 = (1ull << 33) - 1;
  const std::uint64_t p = (negative ? addend - m : addend + m) & kMask48;
  const bool flip = negative && shift != 0 && (p >> 47) != 0;
  const std::uint64_t magnitude = flip ? (0 - p) & kMask33 : p;
  const std::uint32_t sign = negative && !flip ? addend_sign : product_sign;
  return e8m15_pack(sign, magnitude, base, sticky, negative && !product_zero && !addend_zero);
}

E8m15Order e8m15_compare(std::uint32_t a, std::uint32_t b) {
  if (is_nan(a) || is_nan(b)) return {false, false, false};
  const std::uint32_t x = a & 0x7FFFFF, y = b & 0x7FFFFF;
  if ((x | y) == 0 || a == b) return {false, false, true};
  bool less = false;
  if (sign_of(a) != sign_of(b))
    less = sign_of(a) != 0;
  else
    less = sign_of(a) ? x > y : x < y;
  return {less, !less, false};
}

std::uint32_t e8m15_copy(std::uint32_t v) {
  if (exponent_of(v) == 0) return 0;
  return is_nan(v) ? kE8m15NaN : v;
}

std::uint32_t e8m15_exp2(std::uint32_t a, bool wrap_exp2) {
  if (is_nan(a)) return kE8m15NaN;
  const std::uint32_t sign = sign_of(a);
  const int exponent = exponent_of(a);
  if (exponent > (wrap_exp2 ? 134 : 133)) return sign ? 0 : kE8m15Inf;
  const int shift = std::min(134 - exponent, 26);
  const std::uint32_t t = ((0x8000 | mantissa_of(a)) << 10) >> shift;
  const std::uint32_t rounded = (t >> 1) + (t & 1);
  // 25 bits, two's complement.
  const auto v = static_cast<std::int32_t>((sign ? 0 - rounded : rounded) << 7) >> 7;
  const int k = v >> 17;
  const auto fraction = static_cast<std::uint32_t>(v) & 0x1FFFF;
  const unsigned u = fraction & 0xFFF;
  const std::int64_t f = evaluate(kSeeds.at(SeedFunction::kExp2, fraction >> 12), u, fraction == 0, 0, kUnit);
  return e8m15_pack(0, static_cast<std::uint64_t>(f), k + 107, false, false);
}

std::uint32_t e8m15_log2(std::uint32_t a) {
  if (is_zero(a)) return infinity(1);
  if (is_nan(a) || sign_of(a)) return kE8m15NaN;
  if (is_inf(a)) return kE8m15Inf;
  const unsigned u = (a & 0x3FF) << 2;
  const std::int64_t f = evaluate(kSeeds.at(SeedFunction::kLog2, (a >> 10) & 31), u, mantissa_of(a) == 0, 0,
                                  (exponent_of(a) - 127) * kUnit);
  return e8m15_pack(f < 0, static_cast<std::uint64_t>(f < 0 ? -f : f), 107, false, false);
}

std::uint32_t e8m15_inv(std::uint32_t a) {
  if (is_nan(a)) return kE8m15NaN;
  const std::uint32_t sign = sign_of(a);
  if (is_zero(a)) return infinity(sign);
  if (is_inf(a)) return sign << 23;
  const std::int64_t f = evaluate(kSeeds.at(SeedFunction::kInv, (a >> 10) & 31), (a & 0x3FF) << 2,
                                  mantissa_of(a) == 0, kUnit, 0);
  return e8m15_pack(sign, static_cast<std::uint64_t>(f), 234 - exponent_of(a), false, false);
}

std::uint32_t e8m15_rsqrt(std::uint32_t a) {
  if (is_zero(a)) return kE8m15Inf;
  if (is_nan(a) || sign_of(a)) return kE8m15NaN;
  if (is_inf(a)) return 0;
  const int exponent = exponent_of(a);
  const unsigned odd = (exponent & 1) == 0;  // of the unbiased exponent
  const std::int64_t f = evaluate(kSeeds.at(SeedFunction::kRsqrt, odd << 5 | ((a >> 10) & 31)),
                                  (a & 0x3FF) << 2, odd == 0 && mantissa_of(a) == 0, kUnit, 0);
  return e8m15_pack(0, static_cast<std::uint64_t>(f), 107 - ((exponent - 127) >> 1), false, false);
}

std::uint32_t lane_op(VectorOpcode op, std::uint32_t a, std::uint32_t b, std::uint32_t c, bool wrap_exp2) {
  using O = VectorOpcode;
  const auto choose = [](std::uint32_t winner) { return e8m15_copy(winner); };
  const auto truth = [](bool value) { return value ? kE8m15One : 0; };
  switch (op) {
    case O::kVneg:
      return choose(a ^ kE8m15Sign);
    case O::kVabs:
      return choose(a & ~kE8m15Sign);
    case O::kVadd:
      return e8m15_fma(a, kE8m15One, c);
    case O::kVsub:
      return e8m15_fma(a, kE8m15One, c ^ kE8m15Sign);
    case O::kVmul:
      return e8m15_fma(a, b, 0);
    case O::kVfma:
      return e8m15_fma(a, b, c);
    case O::kVfnma:
      return e8m15_fma(a ^ kE8m15Sign, b, c);
    case O::kVmax:
      return choose(e8m15_compare(a, b).less ? b : a);
    case O::kVmin:
      return choose(e8m15_compare(a, b).greater ? b : a);
    case O::kVsel:
      return choose((c & 0x7FFFFF) != 0 ? a : b);
    case O::kVcmplt:
      return truth(e8m15_compare(a, b).less);
    case O::kVcmpgt:
      return truth(e8m15_compare(a, b).greater);
    case O::kVcmpeq:
      return truth(e8m15_compare(a, b).equal);
    case O::kVexp2:
      return e8m15_exp2(a, wrap_exp2);
    case O::kVlog2:
      return e8m15_log2(a);
    // 0x12 and 0x13 are no lane operations, but a chain hands their numbers to the ALU (section 14, Q10).
    case O::kVinv:
    case O::kVcvt:
      return e8m15_inv(a);
    case O::kVrsqrt:
    case O::kVred:
      return e8m15_rsqrt(a);
    default:
      return choose(a);  // VMOV, and what else a chain hands over
  }
}

// The operations kernels are made of have loops of their own: no choice per element.
void lane_ops(VectorOpcode op, const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c,
              std::uint32_t* r, unsigned n, bool wrap_exp2) {
  using O = VectorOpcode;
  if (op >= O::kVadd && op <= O::kVfnma && detail::lane_fma_simd(op, a, b, c, r, n)) return;
  const auto each = [&](auto operation) {
    for (unsigned i = 0; i < n; ++i) r[i] = operation(i);
  };
  switch (op) {
    case O::kVmov:
      return each([&](unsigned i) { return e8m15_copy(a[i]); });
    case O::kVexp2:
      return each([&](unsigned i) { return e8m15_exp2(a[i], wrap_exp2); });
    case O::kVinv:
      return each([&](unsigned i) { return e8m15_inv(a[i]); });
    case O::kVrsqrt:
      return each([&](unsigned i) { return e8m15_rsqrt(a[i]); });
    default:
      return each([&](unsigned i) { return lane_op(op, a[i], b[i], c[i], wrap_exp2); });
  }
}

std::uint32_t lane_combine(VectorOpcode op, std::uint32_t left, std::uint32_t right) {
  return op == VectorOpcode::kVadd ? e8m15_fma(left, kE8m15One, right)
                                   : lane_op(op, left, right, right, true);
}

std::uint32_t lane_tree(VectorOpcode op, std::span<std::uint32_t> values) {
  for (std::size_t n = values.size() / 2; n > 0; n /= 2)
    for (std::size_t i = 0; i < n; ++i) values[i] = lane_combine(op, values[2 * i], values[2 * i + 1]);
  return values[0];
}

}  // namespace ktpu::arch
