// SPDX-License-Identifier: Apache-2.0
// prog.bin: a FlatBuffer (program.fbs, identifier KTPU) followed by a 32-byte trailer with format version,
// body size and content hash. Every error is a UserError that names the file and the part that is wrong.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "arch/program/program.h"

namespace ktpu::arch {

inline constexpr std::uint32_t kProgramVersion = 1;

// Bytes to program: identifier, trailer, version, hash, FlatBuffers verifier, then validate() of validate.h.
// `name` is what messages call the input.
Program parse_program(std::span<const std::uint8_t> bytes, std::string_view name);
Program load_program(const std::filesystem::path& path);

// Validates, then writes; equal programs give equal bytes.
std::vector<std::uint8_t> serialize_program(const Program& program);
void save_program(const Program& program, const std::filesystem::path& path);

// Content hash stored in the trailer of a well-formed file, e.g. for a run's manifest. Throws like
// parse_program.
std::uint64_t program_hash(std::span<const std::uint8_t> bytes, std::string_view name);

// For tests: rewrites body size and hash of the trailer so that damaged contents reach the parser. Bytes too
// short to have a trailer are returned as they are.
std::vector<std::uint8_t> rehash(std::vector<std::uint8_t> bytes);

}  // namespace ktpu::arch
