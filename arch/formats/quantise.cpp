// SPDX-License-Identifier: Apache-2.0
#include "arch/formats/quantise.h"

#include <algorithm>

#include "arch/formats/quantise_detail.h"
#include "arch/formats/simd.h"

namespace ktpu::arch {
namespace {

// Section 4.4: reciprocal of the scale mantissa 8..15, 12 fraction bits. Not an exact division: the table is
// what decides the bits.
constexpr std::array<std::uint32_t, 8> kReciprocal{4096, 3641, 3277, 2979, 2731, 2520, 2341, 2185};

struct Scale {
  int exponent = 0;       // sexp of section 4.3, -20..11
  unsigned mantissa = 8;  // m8, 8..15
};

Scale choose_scale(std::uint32_t peak) {
  int ep = std::max<int>(1, static_cast<int>(peak >> 10));
  std::uint32_t sp = (peak & 0x3FF) | (peak >> 10 ? 0x400 : 0);
  if (sp == 0) return {};
  while (sp < 1024) {
    sp <<= 1;
    --ep;
  }
  const std::uint32_t c = (sp + 125) / 126;  // 9..17
  Scale scale = c <= 15 ? Scale{ep - 21, c} : Scale{ep - 20, c - 8};
  scale.exponent = std::clamp(scale.exponent, -20, 11);  // the mantissa is not revised
  return scale;
}

std::uint32_t find_peak(const std::uint16_t* block) {
  std::uint16_t peak = 0;
  for (unsigned k = 0; k < kBlockK; ++k) peak = std::max(peak, static_cast<std::uint16_t>(block[k] & 0x7FFF));
  return peak;
}

void round_elements(const std::uint16_t* block, int exponent, std::uint32_t reciprocal, std::int8_t* q) {
  for (unsigned k = 0; k < kBlockK; ++k) {
    const std::uint32_t h = block[k];
    const std::uint32_t field = (h >> 10) & 31;
    const std::uint32_t significand = (h & 0x3FF) | (field != 0 ? 0x400u : 0u);
    // t of section 4.5 is never negative because the peak has the smallest one; >= 8 leaves nothing.
    const int t = 21 + exponent - static_cast<int>(std::max(field, 1u));
    const std::uint32_t window = (significand * reciprocal) >> (15 + std::min(t, 8));
    const auto magnitude = static_cast<int>(std::min((window >> 1) + (window & 1), 63u));
    q[k] = static_cast<std::int8_t>(h & 0x8000 ? -magnitude : magnitude);
  }
}

// Fills `q` and returns the scale field.
std::uint8_t quantise(const std::uint16_t* block, std::int8_t* q) {
  const bool simd = simd_in_use();
  const Scale scale = choose_scale(simd ? detail::peak_avx2(block) : find_peak(block));
  (simd ? detail::round_avx2 : round_elements)(block, scale.exponent, kReciprocal[scale.mantissa - 8], q);
  return static_cast<std::uint8_t>((scale.exponent + 20) * 8 + static_cast<int>(scale.mantissa) - 8);
}

}  // namespace

QuantisedBlock quantise_block(std::span<const std::uint16_t, kBlockK> block) {
  QuantisedBlock result;
  result.scale = quantise(block.data(), result.q.data());
  return result;
}

OperandEntry quantise_entry(std::span<const std::uint16_t, kLanes * kBlockK> source) {
  OperandEntry entry;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    entry.scale[lane] = quantise(source.data() + lane * kBlockK, entry.q[lane]);
  return entry;
}

}  // namespace ktpu::arch
