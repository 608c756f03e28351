// SPDX-License-Identifier: Apache-2.0
// A mesh's memory as a sparse map of bytes by 40-bit address (memory.md section 3). It starts as zeros and
// knows, by words of 32 bytes, who wrote it: a stamp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

#include "compiler/interpret/machine.h"

namespace ktpu::interpret {

class Memory {
 public:
  explicit Memory(const MeshFacts& mesh);

  // Both throw UserError with the address when a byte lies outside what the mesh has.
  void read(std::uint64_t address, std::span<std::uint8_t> out) const;
  void write(std::uint64_t address, std::span<const std::uint8_t> bytes, std::uint32_t stamp);
  // Bytes from `address` on until the first one of a word with that stamp; `bytes` if there is none.
  std::uint64_t until(std::uint32_t stamp, std::uint64_t address, std::uint64_t bytes) const;

  static constexpr std::uint32_t kNobody = 0, kHost = 1, kFirstUnit = 2;

 private:
  static constexpr std::uint64_t kPageBytes = 1 << 16, kWordBytes = 32;
  struct Page {
    std::array<std::uint8_t, kPageBytes> bytes{};
    std::array<std::uint32_t, kPageBytes / kWordBytes> stamps{};
  };
  // The place of `address` in the store, and for how many of `bytes` it is contiguous.
  struct Piece {
    std::uint64_t place, bytes;
  };
  Piece piece(std::uint64_t address, std::uint64_t bytes) const;
  Page* find(std::uint64_t place) const;
  Page& page(std::uint64_t place);
  template <typename Body>
  void each_piece(std::uint64_t address, std::uint64_t bytes, Body&& body) const;

  std::uint64_t base_, size_;
  bool wrap_, staging_;
  unsigned mesh_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  mutable std::uint64_t last_number_ = ~0ull;
  mutable Page* last_ = nullptr;
};

}  // namespace ktpu::interpret
