// SPDX-License-Identifier: Apache-2.0
// The vector core as a programmer sees it: one instruction after the other, each finished before the next, no
// pipeline, no cycles, behaviour as intended (`quirks: none`). Shares the arithmetic of one lane with the
// model and nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "arch/encoding/vector_word.h"

namespace ktpu::test {

class VectorIsa {
 public:
  using Word256 = std::array<std::uint64_t, 4>;
  struct Walk {
    std::uint64_t base = 0;
    std::array<std::int64_t, 4> stride{};
    std::array<std::uint64_t, 4> bound{1, 1, 1, 1};
    // Address of step `k`; past the last one it stays.
    std::uint64_t at(std::uint64_t k) const;
    std::uint64_t total() const;
  };

  std::array<std::uint32_t, 512> imem{};
  std::array<Walk, 8> walks{};
  std::map<std::uint64_t, Word256> memory;  // by byte address / 32
  std::array<std::array<std::uint32_t, 128>, 16> v{};
  std::array<std::uint32_t, 16> s{};
  std::array<std::uint32_t, 4> k{0, 0x3F8000, 0xBF8000, 0};
  std::array<std::array<bool, 128>, 4> p{};
  std::array<Word256, 512> l1{};
  unsigned vl = 128, mode = 0;

  // Runs until VHALT (0) or a fault (its code). `limit`: instructions; reached: -1.
  int run(unsigned pc, unsigned limit);

 private:
  int arithmetic(const arch::VectorWord& head);
  int reduce(const arch::VectorWord& w);
  void move(const arch::VectorWord& w);
  unsigned chunks() const { return (vl + 15) / 16; }

  unsigned pc_ = 0;
  bool looping_ = false;
  unsigned top_ = 0, end_ = 0;
  std::uint32_t count_ = 0;
};

}  // namespace ktpu::test
