// SPDX-License-Identifier: Apache-2.0
// The value of an FP16 word in double arithmetic, worked out apart from arch/formats, which the tests are
// about.
#pragma once

#include <cmath>
#include <cstdint>

namespace ktpu::test {

inline double value_of_half(std::uint16_t half) {
  const int exponent = half >> 10 & 31;
  const double mantissa = half & 1023;
  const double value = exponent == 0    ? std::ldexp(mantissa, -24)
                       : exponent == 31 ? std::nan("")
                                        : std::ldexp(1024 + mantissa, exponent - 25);
  return (half & 0x8000) != 0 ? -value : value;
}

}  // namespace ktpu::test
