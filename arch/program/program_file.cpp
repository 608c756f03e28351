// SPDX-License-Identifier: Apache-2.0
#include "arch/program/program_file.h"

#include <cstring>
#include <fstream>

#include "arch/error.h"
#include "arch/hash.h"
#include "arch/program/fbs_reader.h"
#include "arch/program/fbs_writer.h"
#include "arch/program/validate.h"

namespace ktpu::arch {
namespace {

// The trailer, all numbers little endian: magic[8], version u32, 0 u32, body bytes u64, hash u64. The hash
// covers everything in front of it.
constexpr std::size_t kTrailerBytes = 32;
constexpr std::size_t kHashOffset = 24;  // within the trailer
constexpr std::array<std::uint8_t, 8> kMagic{'K', 'T', 'P', 'U', '-', 'E', 'N', 'D'};
constexpr std::string_view kIdentifier = "KTPU";  // bytes 4..7 of the file
constexpr std::size_t kMinimum = kTrailerBytes + 16;

void put(std::uint8_t* to, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) to[i] = static_cast<std::uint8_t>(value >> (8 * i));
}
std::uint64_t fetch(const std::uint8_t* from, unsigned bytes) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) value |= std::uint64_t{from[i]} << (8 * i);
  return value;
}

// Checks everything around the body and returns it.
std::span<const std::uint8_t> checked_body(std::span<const std::uint8_t> bytes, std::string_view name) {
  if (bytes.size() < kMinimum)
    throw UserError::make(
        "{}: not a program file, or cut short: {} bytes, the smallest program has more than {}", name,
        bytes.size(), kMinimum);
  if (std::memcmp(&bytes[4], kIdentifier.data(), kIdentifier.size()) != 0)
    throw UserError::make("{}: identifier: not a program file (no \"{}\" in bytes 4..7)", name, kIdentifier);
  const auto body = bytes.first(bytes.size() - kTrailerBytes);
  const std::uint8_t* trailer = body.data() + body.size();
  if (std::memcmp(trailer, kMagic.data(), kMagic.size()) != 0)
    throw UserError::make("{}: trailer: missing, so the file is cut short or something was added to it",
                          name);
  const std::uint64_t version = fetch(trailer + 8, 4);
  if (version != kProgramVersion)
    throw UserError::make("{}: version: the file has format {}, this build reads {}; assemble it again", name,
                          version, kProgramVersion);
  const std::uint64_t stored_size = fetch(trailer + 16, 8);
  if (stored_size != body.size())
    throw UserError::make("{}: size: the contents have {} bytes, the trailer says {}", name, body.size(),
                          stored_size);
  const std::uint64_t stored = fetch(trailer + kHashOffset, 8);
  const std::uint64_t actual = fnv1a(bytes.first(body.size() + kHashOffset));
  if (stored != actual)
    throw UserError::make("{}: content hash: {:016x}, the trailer says {:016x}; the file was altered", name,
                          actual, stored);
  return body;
}

std::vector<std::uint8_t> read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const bool folder = std::filesystem::is_directory(path);
  if (!in || folder)
    throw UserError::make("{}: {}", path.string(), folder ? "is a folder" : "can't be opened");
  const auto size = in.tellg();
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
  in.seekg(0);
  if (!in.read(reinterpret_cast<char*>(bytes.data()), size))
    throw UserError::make("{}: can't be read", path.string());
  return bytes;
}

}  // namespace

Program parse_program(std::span<const std::uint8_t> bytes, std::string_view name) {
  const auto body = checked_body(bytes, name);
  // A copy, because the buffer must be aligned to 8 bytes.
  const std::vector<std::uint8_t> aligned(body.begin(), body.end());
  try {
    Program program = read_fbs(aligned);
    validate(program);
    return program;
  } catch (const UserError& e) {
    throw UserError::make("{}: {}", name, e.what());
  }
}

Program load_program(const std::filesystem::path& path) {
  return parse_program(read_file(path), path.string());
}

std::vector<std::uint8_t> serialize_program(const Program& program) {
  validate(program);
  std::vector<std::uint8_t> bytes = write_fbs(program);
  const std::size_t body = bytes.size();
  bytes.resize(body + kTrailerBytes);
  std::memcpy(&bytes[body], kMagic.data(), kMagic.size());
  put(&bytes[body + 8], kProgramVersion, 4);
  return rehash(std::move(bytes));
}

void save_program(const Program& program, const std::filesystem::path& path) {
  const std::vector<std::uint8_t> bytes = serialize_program(program);
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw UserError::make("{}: can't be written", path.string());
}

std::uint64_t program_hash(std::span<const std::uint8_t> bytes, std::string_view name) {
  const auto body = checked_body(bytes, name);
  return fetch(body.data() + body.size() + kHashOffset, 8);
}

std::vector<std::uint8_t> rehash(std::vector<std::uint8_t> bytes) {
  if (bytes.size() < kTrailerBytes) return bytes;
  const std::size_t body = bytes.size() - kTrailerBytes;
  put(&bytes[body + 16], body, 8);
  put(&bytes[body + kHashOffset], fnv1a(std::span(bytes).first(body + kHashOffset)), 8);
  return bytes;
}

}  // namespace ktpu::arch
