// SPDX-License-Identifier: Apache-2.0
#include "tlm/platform/checkpoint_file.h"

#include <unistd.h>
#include <zlib.h>

#include <cereal/archives/portable_binary.hpp>
#include <cereal/types/string.hpp>
#include <fstream>
#include <iterator>
#include <sstream>

#include "arch/error.h"
#include "arch/hash.h"
#include "tlm/platform/checkpoint.h"

namespace ktpu::platform {

namespace fs = std::filesystem;
using arch::UserError;

namespace {

// Little endian: magic, format version, zero, bytes of the whole file, hash of everything but the hash.
constexpr std::string_view kMagic = "KTPUCKPT";
constexpr std::size_t kVersionAt = 8, kSizeAt = 16, kHashAt = 24, kPrefix = 32;
constexpr std::string_view kTakeAnother = "fix: take another copy of it, or save the run again";
constexpr std::string_view kGiveSaved = "fix: give --restore a file that --checkpoint has written";
constexpr std::uint64_t kMostInflated = 1100;  // bytes a deflated byte can stand for, rounded up

template <typename T>
void put(std::string& file, std::size_t at, T value) {
  for (std::size_t i = 0; i < sizeof value; ++i) file[at + i] = static_cast<char>(value >> (8 * i));
}
template <typename T>
T get(const std::string& file, std::size_t at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i)
    value |= static_cast<T>(static_cast<std::uint8_t>(file[at + i])) << (8 * i);
  return value;
}

std::uint64_t hash_of(const std::string& file) {
  const std::string_view all(file);
  return arch::fnv1a(all.substr(kPrefix), arch::fnv1a(all.substr(0, kHashAt)));
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  const int result = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), Z_BEST_SPEED);
  KTPU_CHECK(result == Z_OK, "zlib: {}", result);
  out.resize(size);
  return out;
}

template <typename A>
void fields(A& archive, CheckpointHeader& header, std::uint64_t& state_bytes, std::string& packed) {
  archive(header.machine, header.topology, header.fingerprint, header.program, header.program_hash,
          header.cycle, state_bytes, packed);
}

std::string read_all(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (fs::is_directory(path))
    throw UserError::make("{}: is a folder, not a file; {}", path.string(), kGiveSaved);
  if (!file) throw UserError::make("{}: cannot be opened; {}", path.string(), kGiveSaved);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) throw UserError::make("{}: cannot be read", path.string());
  return bytes;
}

}  // namespace

void write_checkpoint_file(const fs::path& path, const CheckpointHeader& header, const std::string& state) {
  std::ostringstream content(std::ios::binary);
  {
    cereal::PortableBinaryOutputArchive archive(content,
                                                cereal::PortableBinaryOutputArchive::Options::LittleEndian());
    CheckpointHeader copy = header;
    std::uint64_t bytes = state.size();
    std::string packed = deflated(state);
    fields(archive, copy, bytes, packed);
  }
  std::string file(kPrefix, '\0');
  file += std::move(content).str();
  std::copy(kMagic.begin(), kMagic.end(), file.begin());
  put(file, kVersionAt, kCheckpointVersion);
  put(file, kSizeAt, std::uint64_t{file.size()});
  put(file, kHashAt, hash_of(file));

  fs::path part = path;
  part += fmt::format(".{}.part", getpid());
  {
    std::ofstream out(part, std::ios::binary | std::ios::trunc);
    out.write(file.data(), static_cast<std::streamsize>(file.size()));
    out.close();
    std::error_code ignored;
    if (!out) {
      fs::remove(part, ignored);
      throw UserError::make("{}: the checkpoint cannot be written", path.string());
    }
  }
  std::error_code error;
  fs::rename(part, path, error);
  if (!error) return;
  std::error_code ignored;
  fs::remove(part, ignored);
  throw UserError::make("{}: the checkpoint cannot be written: {}", path.string(), error.message());
}

CheckpointHeader read_checkpoint_file(const fs::path& path, std::string& state) {
  const std::string name = path.string();
  const std::string file = read_all(path);
  if (file.substr(0, kMagic.size()) != kMagic)
    throw UserError::make("{}: is not a checkpoint of ktpu-sim (those start with \"{}\"); {}", name, kMagic,
                          kGiveSaved);
  if (file.size() < kPrefix)
    throw UserError::make("{}: is truncated: {} bytes; {}", name, file.size(), kTakeAnother);
  if (const auto version = get<std::uint32_t>(file, kVersionAt); version != kCheckpointVersion)
    throw UserError::make(
        "{}: is a checkpoint of format version {}, and this version of the simulator reads {}; fix: "
        "restore it with the version that saved it, or save the run again with this one",
        name, version, kCheckpointVersion);
  if (const auto size = get<std::uint64_t>(file, kSizeAt); size != file.size())
    throw UserError::make("{}: is {}: it has {} bytes and says it has {}; {}", name,
                          file.size() < size ? "truncated" : "too long", file.size(), size, kTakeAnother);
  if (get<std::uint64_t>(file, kHashAt) != hash_of(file))
    throw UserError::make("{}: was altered: its content does not have the hash it was written with; {}", name,
                          kTakeAnother);

  CheckpointHeader header;
  std::uint64_t state_bytes = 0;
  std::string packed;
  try {
    std::istringstream content(file.substr(kPrefix), std::ios::binary);
    cereal::PortableBinaryInputArchive archive(content);
    fields(archive, header, state_bytes, packed);
  } catch (const std::exception& error) {
    throw UserError::make("{}: its header cannot be read: {}", name, error.what());
  }
  if (state_bytes > packed.size() * kMostInflated)
    throw UserError::make("{}: its state cannot be unpacked: {} bytes cannot hold {}", name, packed.size(),
                          state_bytes);
  state.resize(state_bytes);
  uLongf size = state_bytes;
  const int result = uncompress(reinterpret_cast<Bytef*>(state.data()), &size,
                                reinterpret_cast<const Bytef*>(packed.data()), packed.size());
  if (result != Z_OK || size != state_bytes)
    throw UserError::make("{}: its state cannot be unpacked (zlib: {})", name, result);
  return header;
}

}  // namespace ktpu::platform
