// SPDX-License-Identifier: Apache-2.0
// Bit fields of a little-endian array of 64-bit words: word 0 holds bits [63:0].
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ktpu::arch {

// One named bit field [lsb+width-1 : lsb]. The tables made of these are the only place where a bit position
// stands: encoder, decoder, disassembler, SystemVerilog package and C header all read them.
struct Field {
  std::string_view name;
  unsigned lsb = 0;
  unsigned width = 0;  // 1..64
  std::string_view meaning = {};

  constexpr unsigned msb() const { return lsb + width - 1; }
  constexpr std::uint64_t mask() const { return width >= 64 ? ~0ull : (1ull << width) - 1; }
};

// Reads `width` (1..64) bits from bit `lsb` on.
constexpr std::uint64_t get_bits(const std::uint64_t* words, unsigned lsb, unsigned width) {
  const unsigned word = lsb / 64, shift = lsb % 64;
  std::uint64_t value = words[word] >> shift;
  if (shift + width > 64) value |= words[word + 1] << (64 - shift);
  return width >= 64 ? value : value & ((1ull << width) - 1);
}

// Writes the low `width` bits of `value` (the rest is ignored) to bit `lsb` on.
constexpr void set_bits(std::uint64_t* words, unsigned lsb, unsigned width, std::uint64_t value) {
  const std::uint64_t mask = width >= 64 ? ~0ull : (1ull << width) - 1;
  const unsigned word = lsb / 64, shift = lsb % 64;
  value &= mask;
  words[word] = (words[word] & ~(mask << shift)) | (value << shift);
  if (shift + width > 64) {
    const unsigned low = 64 - shift;
    words[word + 1] = (words[word + 1] & ~(mask >> low)) | (value >> low);
  }
}

constexpr std::uint64_t get(const std::uint64_t* words, const Field& f) {
  return get_bits(words, f.lsb, f.width);
}
constexpr void set(std::uint64_t* words, const Field& f, std::uint64_t value) {
  set_bits(words, f.lsb, f.width, value);
}

}  // namespace ktpu::arch
