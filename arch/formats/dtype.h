// SPDX-License-Identifier: Apache-2.0
// The number formats of the machine and its host as facts that the compiler reasons with (compiler.md section
// 3): what a value of one format loses when it is held in another. The bits themselves are number-formats.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "arch/encoding/vector_word.h"
#include "arch/formats/acc.h"

namespace ktpu::arch {

enum class NumberType : std::uint8_t {
  kFp32,
  kFp16,
  kE8m15,  // of the vector lanes
  kAcc24,  // of the accumulator, with the mantissa of 16 bits that the compiler reckons with
  kE5m3,   // scale of a block
  kMxfp7,  // 32 values of 7 bits along K that share a scale
  kI8,     // integers are indices and masks
  kI16,
  kI32,
};
inline constexpr std::size_t kNumberTypes = 9;

// Where values of a format may stand: any of these bits.
namespace place {
inline constexpr unsigned kHost = 1, kMemory = 2, kMesh = 4;
}

struct NumberFormat {
  enum class Kind : std::uint8_t { kFloat, kInt, kBlock };

  std::string_view name;
  unsigned bits = 0;  // of one element, without the scale of a block
  Kind kind = Kind::kFloat;
  unsigned exp_bits = 0, man_bits = 0;  // of a float; the leading one is not among them
  int bias = 0;
  bool has_subnormals = true;
  unsigned block = 0;                                               // elements that share a scale; 0: none do
  NumberType scale = NumberType::kE5m3, value = NumberType::kFp16;  // of a block: of its scale, and what it
                                                                    // holds
  unsigned places = 0;                                              // bits of arch::place

  bool is_float() const { return kind == Kind::kFloat; }
  // Of a float; the highest exponent field is kept for what is no number.
  int max_exp() const { return (1 << exp_bits) - 2 - bias; }
  int min_exp() const { return 1 - bias; }  // of normal numbers
  double max_finite() const;
  double eps() const;       // half of the distance from 1 to the next number: what rounding may cost
  double smallest() const;  // positive number
  bool operator==(const NumberFormat&) const = default;

  // Whether every power of two of the other is one here. Only floats have a range: anything else answers no.
  bool contains_range_of(const NumberFormat& other) const;
  // Every number of the other is one here.
  bool is_exact_from(const NumberFormat& other) const;
  // Numbers of the other may be too large, or too small, to be held.
  bool may_saturate_from(const NumberFormat& other) const { return !contains_range_of(other); }
};

const NumberFormat& number_format(NumberType type);
// "fp16" or "f16", "mxfp7", "i32" or "int32".
std::optional<NumberType> number_type(std::string_view name);
// What a vector core's load and store name.
NumberType number_type(VectorType type);
// The accumulator with another mantissa (kMinAccMw to kMaxAccMw).
NumberFormat accumulator_format(unsigned man_bits);

// What the units compute in.
inline constexpr NumberType kMatmulOperandType = NumberType::kMxfp7;
inline constexpr NumberType kMatmulResultType = NumberType::kAcc24;
inline constexpr NumberType kLaneType = NumberType::kE8m15;

// What a value has to be held in that any of `types` may flow into: one of them, a block by what it holds. No
// format is thought up. Throws UserError: floats with integers, unequal integers, floats of which none
// contains the others' range, no types.
NumberType converge(std::span<const NumberType> types);

// Throws UserError for a constant that the format cannot hold: its magnitude above the largest number, or
// below half of the smallest (it would turn into zero).
void require_constant(double value, NumberType type);

// What a store from one format into another does to values, in words; empty: nothing.
std::string saturation_note(NumberType from, NumberType to);  // to those that are too large
std::string conversion_note(NumberType from, NumberType to);  // to all

}  // namespace ktpu::arch
