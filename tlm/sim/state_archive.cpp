// SPDX-License-Identifier: Apache-2.0
#include "tlm/sim/state_archive.h"

#include <cereal/archives/portable_binary.hpp>
#include <cstring>
#include <istream>
#include <ostream>

#include "arch/error.h"
#include "arch/hash.h"

namespace ktpu::sim {

namespace {

[[noreturn]] void refuse(std::string_view part, std::string_view what) {
  throw arch::UserError::make(
      "{} cannot be saved in a checkpoint: it is {}. Use models there (impl: model) and a host and a DRAM of "
      "the machine",
      part, what);
}

[[noreturn]] void foreign(std::string_view part, std::string_view why) {
  throw arch::UserError::make(
      "the state of {} is not what this version of the simulator keeps ({}): make the checkpoint again with "
      "it",
      part, why);
}

}  // namespace

void StateArchive::see(std::string_view name, std::size_t bytes) {
  layout_ = arch::fnv1a(name, layout_);
  layout_ = (layout_ ^ (bytes + 1)) * arch::kFnvPrime;
}

void StateArchive::begin(std::string_view name) {
  part_ = name;
  layout_ = arch::kFnvBasis;
  part_name(name);
}

void StateArchive::end() { part_layout(layout_); }

// --- Save

struct SaveArchive::Bytes {
  explicit Bytes(std::ostream& out)
      : archive(out, cereal::PortableBinaryOutputArchive::Options::LittleEndian()) {}
  cereal::PortableBinaryOutputArchive archive;
};

SaveArchive::SaveArchive(std::ostream& out) : out_(std::make_unique<Bytes>(out)) {}
SaveArchive::~SaveArchive() = default;

void SaveArchive::unreachable(std::string_view what) { refuse(where(), what); }

void SaveArchive::on_value(std::string_view name, void* value, std::size_t bytes, const ValueInfo&) {
  on_memory(name, value, bytes, 1);
}

void SaveArchive::on_memory(std::string_view name, void* data, std::size_t element_bytes, std::size_t count) {
  see(name, element_bytes);
  const auto bytes = static_cast<std::streamsize>(element_bytes * count);
  switch (element_bytes) {
    case 8:
      return out_->archive.saveBinary<8>(data, bytes);
    case 4:
      return out_->archive.saveBinary<4>(data, bytes);
    case 2:
      return out_->archive.saveBinary<2>(data, bytes);
    default:
      return out_->archive.saveBinary<1>(data, bytes);
  }
}

void SaveArchive::on_text(std::string_view name, std::string& text) {
  std::uint64_t length = text.size();
  on_length(name, length);
  out_->archive.saveBinary<1>(text.data(), static_cast<std::streamsize>(text.size()));
}

void SaveArchive::on_length(std::string_view name, std::uint64_t& length) {
  on_memory(name, &length, sizeof length, 1);
}

void SaveArchive::part_name(std::string_view name) {
  std::string text(name);
  on_text("part", text);
}

void SaveArchive::part_layout(std::uint64_t layout) { out_->archive.saveBinary<8>(&layout, sizeof layout); }

// --- Restore

struct RestoreArchive::Bytes {
  Bytes(std::istream& in, std::uint64_t bytes)
      : archive(in, cereal::PortableBinaryInputArchive::Options::LittleEndian()), left(bytes - 1) {}
  cereal::PortableBinaryInputArchive archive;
  std::uint64_t left;  // bytes; one says which byte order was written
};

RestoreArchive::RestoreArchive(std::istream& in, std::uint64_t bytes) {
  if (bytes == 0) foreign("the machine", "there is none");
  in_ = std::make_unique<Bytes>(in, bytes);
}
RestoreArchive::~RestoreArchive() = default;

void RestoreArchive::unreachable(std::string_view what) { refuse(where(), what); }

void RestoreArchive::on_value(std::string_view name, void* value, std::size_t bytes, const ValueInfo&) {
  on_memory(name, value, bytes, 1);
}

void RestoreArchive::on_memory(std::string_view name, void* data, std::size_t element_bytes,
                               std::size_t count) {
  see(name, element_bytes);
  if (count != 0 && element_bytes > in_->left / count)
    foreign(where(), fmt::format("it ends in \"{}\"", name));
  const auto bytes = static_cast<std::streamsize>(element_bytes * count);
  in_->left -= element_bytes * count;
  switch (element_bytes) {
    case 8:
      return in_->archive.loadBinary<8>(data, bytes);
    case 4:
      return in_->archive.loadBinary<4>(data, bytes);
    case 2:
      return in_->archive.loadBinary<2>(data, bytes);
    default:
      return in_->archive.loadBinary<1>(data, bytes);
  }
}

void RestoreArchive::on_text(std::string_view name, std::string& text) {
  std::uint64_t length = 0;
  on_length(name, length);
  text.resize(length);
  in_->left -= length;
  in_->archive.loadBinary<1>(text.data(), static_cast<std::streamsize>(length));
}

// Every element of a list takes at least a byte.
void RestoreArchive::on_length(std::string_view name, std::uint64_t& length) {
  on_memory(name, &length, sizeof length, 1);
  if (length > in_->left) foreign(where(), fmt::format("\"{}\" has {} elements", name, length));
}

void RestoreArchive::part_name(std::string_view name) {
  std::string saved;
  on_text("part", saved);
  if (saved != name) foreign(name, fmt::format("\"{}\" stands in its place", saved));
}

void RestoreArchive::part_layout(std::uint64_t layout) {
  std::uint64_t saved = 0;
  if (in_->left >= sizeof saved) {
    in_->left -= sizeof saved;
    in_->archive.loadBinary<8>(&saved, sizeof saved);
  }
  if (saved != layout) foreign(where(), "other names or sizes");
}

void ReachArchive::unreachable(std::string_view what) { refuse(part_, what); }

}  // namespace ktpu::sim
