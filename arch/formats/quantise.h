// SPDX-License-Identifier: Apache-2.0
// The block quantiser: FP16 to MXFP7 (number-formats.md section 4).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "arch/formats/operand.h"

namespace ktpu::arch {

struct QuantisedBlock {
  std::uint8_t scale = 0;                // E5M3 field
  std::array<std::int8_t, kBlockK> q{};  // -63..63

  bool operator==(const QuantisedBlock&) const = default;
};

// 32 FP16 bit patterns of one lane, k = 0 first. Subnormals count; exponent 31 is an ordinary binade.
QuantisedBlock quantise_block(std::span<const std::uint16_t, kBlockK> block);

// A whole entry from its 256-byte source: FP16 element (lane, k) at index lane*32 + k (section 5.1).
OperandEntry quantise_entry(std::span<const std::uint16_t, kLanes * kBlockK> source);

}  // namespace ktpu::arch
