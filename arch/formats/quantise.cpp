// SPDX-License-Identifier: Apache-2.0
#include "arch/formats/quantise.h"

#include <algorithm>

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

}  // namespace

QuantisedBlock quantise_block(std::span<const std::uint16_t, kBlockK> block) {
  std::uint16_t peak = 0;
  for (const std::uint16_t h : block) peak = std::max(peak, static_cast<std::uint16_t>(h & 0x7FFF));
  const Scale scale = choose_scale(peak);
  const std::uint32_t reciprocal = kReciprocal[scale.mantissa - 8];

  QuantisedBlock result;
  result.scale = static_cast<std::uint8_t>((scale.exponent + 20) * 8 + static_cast<int>(scale.mantissa) - 8);
  for (unsigned k = 0; k < kBlockK; ++k) {
    const std::uint32_t h = block[k];
    const std::uint32_t field = (h >> 10) & 31;
    const std::uint32_t significand = (h & 0x3FF) | (field != 0 ? 0x400u : 0u);
    // t of section 4.5 is never negative because the peak has the smallest one; >= 8 leaves nothing.
    const int t = 21 + scale.exponent - static_cast<int>(std::max(field, 1u));
    const std::uint32_t window = (significand * reciprocal) >> (15 + std::min(t, 8));
    const auto magnitude = static_cast<int>(std::min((window >> 1) + (window & 1), 63u));
    result.q[k] = static_cast<std::int8_t>(h & 0x8000 ? -magnitude : magnitude);
  }
  return result;
}

OperandEntry quantise_entry(std::span<const std::uint16_t, kLanes * kBlockK> source) {
  OperandEntry entry;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const QuantisedBlock block = quantise_block(source.subspan(lane * kBlockK).first<kBlockK>());
    std::copy(block.q.begin(), block.q.end(), entry.q[lane]);
    entry.scale[lane] = block.scale;
  }
  return entry;
}

}  // namespace ktpu::arch
