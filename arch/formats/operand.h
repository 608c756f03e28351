// SPDX-License-Identifier: Apache-2.0
// MXFP7 operands in memory order of the simulator and as the machine lays them out: 256-bit operand words and
// the 928-bit L1 entry (number-formats.md section 5).
#pragma once

#include <array>
#include <cstdint>

namespace ktpu::arch {

inline constexpr unsigned kBlockK = 32;      // number-formats.md section 3: elements of K sharing one scale
inline constexpr unsigned kLanes = 4;        // section 3: rows (A) or columns (B) per entry
inline constexpr unsigned kEntryWords = 4;   // section 5.2: operand words per entry
inline constexpr unsigned kEntryBits = 928;  // section 5.3

using Word256 = std::array<std::uint64_t, 4>;     // [0] holds bits 63:0
using EntryBits = std::array<std::uint64_t, 15>;  // 928 bits; the top 32 bits of [14] are zero

// Which operand a word is laid out for; the value is the layout bit of section 5.2.
enum class Side : std::uint8_t { kA = 0, kB = 1 };

// One L1 entry, lane-major on both sides: q[lane][k] is a sign-extended int7 (-64..63), scale[lane] an E5M3
// field. The layouts differ only in the bit views below.
struct OperandEntry {
  alignas(32) std::int8_t q[kLanes][kBlockK] = {};
  std::uint8_t scale[kLanes] = {};

  bool operator==(const OperandEntry&) const = default;
};

// Stores operand word `word` (0..3, the K slice 8*word .. 8*word+7) into an entry. The scales are taken from
// word 0 only; words 1..3 touch elements only (section 5.3). `payload` is four words, [0] = bits 63:0.
void store_operand_word(Side side, unsigned word, const std::uint64_t* payload, OperandEntry& entry);

// The operand word the quantiser would have sent for this entry: all four carry the scales.
Word256 operand_word(Side side, unsigned word, const OperandEntry& entry);

// The 928-bit view of section 5.3.
EntryBits entry_bits(Side side, const OperandEntry& entry);
OperandEntry entry_from_bits(Side side, const EntryBits& bits);

}  // namespace ktpu::arch
