// SPDX-License-Identifier: Apache-2.0
// Bit patterns as hex strings, most significant digit first, and typed access to the fields of a row.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ktpu::check {

// All throw arch::UserError naming the field when it is missing or of another shape.
const nlohmann::json& member(const nlohmann::json& row, const char* field);
const nlohmann::json& list(const nlohmann::json& row, const char* field, std::size_t size);
std::int64_t integer(const nlohmann::json& value, const char* field, std::int64_t low, std::int64_t high);
const std::string& text(const nlohmann::json& value, const char* field);

// `value` as at most `bits` (1..64) bits.
std::uint64_t hex_value(const nlohmann::json& value, const char* field, unsigned bits);
// `value` into little-endian words; exactly `bits` bits (a multiple of 4) are read, leading zeros may be
// missing.
void hex_words(const nlohmann::json& value, const char* field, unsigned bits, std::uint64_t* words);
// `value` as a run of 16-bit patterns of four digits each, the first one first.
std::vector<std::uint16_t> hex_halves(const nlohmann::json& value, const char* field, std::size_t count);

std::string to_hex(std::uint64_t value, std::size_t digits);
std::string to_hex(const std::uint64_t* words, unsigned bits);

}  // namespace ktpu::check
