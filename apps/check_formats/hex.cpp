// SPDX-License-Identifier: Apache-2.0
#include "apps/check_formats/hex.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/bits.h"
#include "arch/error.h"

namespace ktpu::check {
namespace {

using arch::UserError;

std::uint64_t digit(char c, const char* field) {
  if (c >= '0' && c <= '9') return static_cast<std::uint64_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint64_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<std::uint64_t>(c - 'A' + 10);
  throw UserError::make("field \"{}\": \"{}\" is not a hex digit", field, c);
}

}  // namespace

const nlohmann::json& member(const nlohmann::json& row, const char* field) {
  if (!row.is_object()) throw UserError::make("the row is not a JSON object");
  const auto found = row.find(field);
  if (found == row.end()) throw UserError::make("the row has no field \"{}\"", field);
  return *found;
}

const nlohmann::json& list(const nlohmann::json& row, const char* field, std::size_t size) {
  const nlohmann::json& value = member(row, field);
  if (!value.is_array() || value.size() != size)
    throw UserError::make("field \"{}\" is not a list of {} values", field, size);
  return value;
}

std::int64_t integer(const nlohmann::json& value, const char* field, std::int64_t low, std::int64_t high) {
  const bool fits =
      value.is_number_integer() && !(value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX);
  const std::int64_t number = fits ? value.get<std::int64_t>() : 0;
  if (!fits || number < low || number > high)
    throw UserError::make("field \"{}\" is not an integer in {}..{}", field, low, high);
  return number;
}

const std::string& text(const nlohmann::json& value, const char* field) {
  if (!value.is_string()) throw UserError::make("field \"{}\" is not a string", field);
  return value.get_ref<const std::string&>();
}

void hex_words(const nlohmann::json& value, const char* field, unsigned bits, std::uint64_t* words) {
  const std::string& digits = text(value, field);
  std::fill(words, words + (bits + 63) / 64, 0);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::uint64_t v = digit(digits[digits.size() - 1 - i], field);
    const std::size_t lsb = 4 * i;
    if (lsb + 4 > bits && (lsb >= bits ? v : v >> (bits - lsb)) != 0)
      throw UserError::make("field \"{}\": \"{}\" has more than {} bits", field, digits, bits);
    if (lsb < bits) words[lsb / 64] |= v << (lsb % 64);
  }
}

std::uint64_t hex_value(const nlohmann::json& value, const char* field, unsigned bits) {
  std::uint64_t word = 0;
  hex_words(value, field, bits, &word);
  return word;
}

std::vector<std::uint16_t> hex_halves(const nlohmann::json& value, const char* field, std::size_t count) {
  const std::string& digits = text(value, field);
  if (digits.size() != 4 * count)
    throw UserError::make("field \"{}\" has {} hex digits, not {}", field, digits.size(), 4 * count);
  std::vector<std::uint16_t> halves(count);
  for (std::size_t i = 0; i < digits.size(); ++i)
    halves[i / 4] = static_cast<std::uint16_t>(halves[i / 4] << 4 | digit(digits[i], field));
  return halves;
}

std::string to_hex(std::uint64_t value, std::size_t digits) { return fmt::format("{:0{}x}", value, digits); }

std::string to_hex(const std::uint64_t* words, unsigned bits) {
  std::string hex;
  for (unsigned lsb = (bits + 3) / 4 * 4; lsb != 0; lsb -= 4)
    hex += "0123456789abcdef"[(words[(lsb - 4) / 64] >> ((lsb - 4) % 64)) & 15];
  return hex;
}

}  // namespace ktpu::check
