// SPDX-License-Identifier: Apache-2.0
// Bytes that units read and wrote, by round, unit and buffer, and bytes that they sent one another.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "arch/flit.h"
#include "arch/program/program.h"

namespace ktpu::interpret {

// A named part of a mesh's memory: [begin, end) byte addresses.
struct BufferRange {
  std::string name;
  std::uint8_t mesh = 0;
  std::uint64_t begin = 0, end = 0;
};

// The buffers a program names: lines "NAME ADDRESS BYTES [MESH]" of its debug text "buffers" (address
// hexadecimal with 0x, bytes decimal), then its inputs and outputs. Ranges are clipped so that none overlap,
// the first to name a byte keeps it. Throws UserError on a line of another form.
std::vector<BufferRange> buffers_of(const arch::Program& program);

struct Bytes {
  std::uint64_t read = 0, written = 0, sent = 0;
  Bytes& operator+=(const Bytes& other);
  bool operator==(const Bytes&) const = default;
};

class Traffic {
 public:
  struct Key {
    std::size_t round = 0;  // index of rounds(); 0 = before the first
    std::uint8_t mesh = 0;
    arch::Coord unit;
    std::size_t buffer = 0;  // index of buffers()
    auto operator<=>(const Key&) const = default;
  };

  explicit Traffic(std::vector<BufferRange> buffers);

  void begin_round(std::string name);
  void read(std::uint8_t mesh, arch::Coord unit, std::uint64_t address, std::uint64_t bytes);
  void write(std::uint8_t mesh, arch::Coord unit, std::uint64_t address, std::uint64_t bytes);
  // To another unit; counted under the buffer "units".
  void send(std::uint8_t mesh, arch::Coord unit, std::uint64_t bytes);

  const std::vector<std::string>& rounds() const { return rounds_; }
  // Names: those of the ranges in address order, then "units", then "other" for what no range names.
  const std::vector<std::string>& buffers() const { return names_; }
  const std::map<Key, Bytes>& rows() const { return rows_; }
  Bytes total() const;

  // Three tables: by round, by unit, by buffer.
  std::string table() const;
  // {"rows": [{"round", "mesh", "unit": [x, y], "buffer", "read", "written", "sent"}], "total": {...}}
  std::string json() const;

 private:
  template <typename Count>
  void split(std::uint8_t mesh, arch::Coord unit, std::uint64_t address, std::uint64_t bytes, Count&& count);

  std::vector<BufferRange> ranges_;  // by mesh and address
  std::vector<std::string> names_, rounds_{"start"};
  std::map<Key, Bytes> rows_;
};

}  // namespace ktpu::interpret
