// SPDX-License-Identifier: Apache-2.0
// The accumulator format ACC = {sign, 7-bit exponent, MW-bit mantissa} and its arithmetic, on bit patterns
// (number-formats.md sections 7 to 9). These are the reference the vectorised kernels are tested against.
//
// Every ACC value is a uint32_t whose bits above MW+7 are zero; MW is any of 9..24 (section 2).
#pragma once

#include <bit>
#include <cstdint>

namespace ktpu::arch {

inline constexpr unsigned kMinAccMw = 9;       // number-formats.md section 2: narrowest legal mantissa
inline constexpr unsigned kMaxAccMw = 24;      // ... and widest
inline constexpr unsigned kDefaultAccMw = 14;  // section 1: ACC_MW of every generated top
inline constexpr unsigned kGemmAnchor = 40;    // section 3: 2 * scale bias, what a GEMM carries
inline constexpr unsigned kAccExponentBias = 63;
inline constexpr unsigned kAccGuardBits = 8;  // section 3: extra low bits inside the adder

constexpr bool acc_mw_is_legal(unsigned mw) { return mw >= kMinAccMw && mw <= kMaxAccMw; }
constexpr unsigned acc_bits(unsigned mw) { return mw + 8; }
constexpr unsigned acc_exponent(std::uint32_t acc, unsigned mw) { return (acc >> mw) & 127; }
constexpr std::uint32_t acc_mantissa(std::uint32_t acc, unsigned mw) { return acc & ((1u << mw) - 1); }
constexpr std::uint32_t acc_sign(std::uint32_t acc, unsigned mw) { return (acc >> (mw + 7)) & 1; }
constexpr std::uint32_t acc_pack(std::uint32_t sign, unsigned exponent, std::uint32_t mantissa, unsigned mw) {
  return sign << (mw + 7) | exponent << mw | mantissa;
}

// Section 7: integer dot product times both block scales, rounded once. `part` is a 22-bit signed number
// (|part| <= 2^17 from legal operands), `fa`/`fb` are E5M3 scale fields, `anchor` is 0..255. The exponent
// wraps modulo 128, so an anchor other than 40 may give an exponent field of 0 with mantissa bits set.
constexpr std::uint32_t normalise(std::int32_t part, unsigned fa, unsigned fb, unsigned anchor, unsigned mw) {
  const std::uint32_t sign = part < 0 ? 1 : 0;
  const std::uint32_t magnitude =
      sign ? 0u - static_cast<std::uint32_t>(part) : static_cast<std::uint32_t>(part);
  const std::uint32_t m = magnitude * (8 + (fa & 7)) * (8 + (fb & 7));
  if (m == 0) return 0;
  const int x =
      static_cast<int>((fa >> 3) & 31) + static_cast<int>((fb >> 3) & 31) - static_cast<int>(anchor) - 6;
  const int high = 31 - std::countl_zero(m);
  const std::uint32_t justified = m << (29 - high);
  const unsigned drop = 29 - mw;
  std::uint32_t significand = justified >> drop;
  const std::uint32_t guard = (justified >> (drop - 1)) & 1;
  const bool sticky = (justified & ((1u << (drop - 1)) - 1)) != 0;
  significand += guard & (static_cast<std::uint32_t>(sticky) | (significand & 1));
  const int carry = static_cast<int>(significand >> (mw + 1));
  const unsigned exponent =
      static_cast<unsigned>(high + x + static_cast<int>(kAccExponentBias) + carry) & 127;
  return acc_pack(sign, exponent, acc_mantissa(significand, mw), mw);
}

// Section 8: the accumulator's adder; `a` is the tile side. A forced zero operand is ignored whatever its
// bits. Underflow gives +0, overflow the largest magnitude; x + 0 passes x through bit for bit.
constexpr std::uint32_t acc_add(std::uint32_t a, std::uint32_t b, unsigned mw, bool force_zero_a = false,
                                bool force_zero_b = false) {
  const bool zero_a = force_zero_a || acc_exponent(a, mw) == 0;
  const bool zero_b = force_zero_b || acc_exponent(b, mw) == 0;
  if (zero_a && zero_b) return 0;
  if (zero_a) return b;
  if (zero_b) return a;

  const std::uint32_t magnitude_mask = (1u << (mw + 7)) - 1;
  const bool a_is_big = (a & magnitude_mask) >= (b & magnitude_mask);
  const std::uint32_t big = a_is_big ? a : b;
  const std::uint32_t small = a_is_big ? b : a;
  const unsigned width = mw + 1 + kAccGuardBits;  // significand and guard bits
  unsigned distance = acc_exponent(big, mw) - acc_exponent(small, mw);
  if (distance > width) distance = width;

  const std::uint64_t hidden = 1ull << mw;
  const std::uint64_t big_significand = (hidden | acc_mantissa(big, mw)) << kAccGuardBits;
  const std::uint64_t small_significand = (hidden | acc_mantissa(small, mw)) << kAccGuardBits;
  const std::uint64_t aligned = small_significand >> distance;
  const bool lost = (aligned << distance) != small_significand;
  // The lost bits stay positive sticky even after a subtraction: that is what the hardware does.
  const bool same_sign = acc_sign(a, mw) == acc_sign(b, mw);
  const std::uint64_t sum = same_sign ? big_significand + aligned : big_significand - aligned;
  if (sum == 0) return 0;

  const unsigned shift = width - static_cast<unsigned>(63 - std::countl_zero(sum));
  const std::uint64_t normal = sum << shift;
  int exponent = static_cast<int>(acc_exponent(big, mw)) + 1 - static_cast<int>(shift);
  std::uint64_t significand = normal >> (kAccGuardBits + 1);
  const bool guard = (normal >> kAccGuardBits) & 1;
  const bool sticky = lost || (normal & ((1u << kAccGuardBits) - 1)) != 0;
  if (guard && (sticky || (significand & 1))) {
    ++significand;
    if (significand >> (mw + 1)) ++exponent;  // all ones: the stored fraction wraps to 0
  }
  if (exponent <= 0) return 0;
  if (exponent >= 127) return acc_pack(acc_sign(big, mw), 127, static_cast<std::uint32_t>(hidden - 1), mw);
  return acc_pack(acc_sign(big, mw), static_cast<unsigned>(exponent),
                  acc_mantissa(static_cast<std::uint32_t>(significand), mw), mw);
}

// Section 9: rounds to FP16; results below 2^-14 become a signed zero, large ones saturate to 65504.
constexpr std::uint16_t acc_to_fp16(std::uint32_t acc, unsigned mw) {
  const std::uint32_t sign = acc_sign(acc, mw) << 15;
  if (acc_exponent(acc, mw) == 0) return static_cast<std::uint16_t>(sign);
  int exponent = static_cast<int>(acc_exponent(acc, mw)) - 48;  // bias 63 to bias 15
  const std::uint32_t m = acc_mantissa(acc, mw);
  std::uint32_t kept = 0;
  if (mw > 10) {
    const unsigned drop = mw - 10;
    kept = m >> drop;
    const std::uint32_t guard = (m >> (drop - 1)) & 1;
    const bool sticky = (m & ((1u << (drop - 1)) - 1)) != 0;
    kept += guard & (static_cast<std::uint32_t>(sticky) | (kept & 1));
  } else {
    kept = m << (10 - mw);
  }
  if (kept == 1024) {
    ++exponent;
    kept = 0;
  }
  if (exponent <= 0) return static_cast<std::uint16_t>(sign);
  if (exponent >= 31) return static_cast<std::uint16_t>(sign | 0x7BFF);
  return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(exponent) << 10 | kept);
}

}  // namespace ktpu::arch
