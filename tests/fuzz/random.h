// SPDX-License-Identifier: Apache-2.0
// Choices of a mutant: a stream of its own from (seed, index), so that any mutant can be made again alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <type_traits>

namespace ktpu::fuzz {

class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t index) {
    std::seed_seq mix{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                      static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32)};
    engine_.seed(mix);
  }

  std::uint64_t bits() { return engine_(); }
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(engine_() % n); }
  // True once in `n`.
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <typename List>
  auto& pick(List& list) {
    return list[below(list.size())];
  }

  // A number where things tend to break: ends of ranges and their neighbours, or `old` slightly changed.
  std::uint64_t number(std::uint64_t old) {
    static constexpr std::array<std::uint64_t, 36> kEdges{
        0,          1,          2,          3,          4,          5,          7,          8,
        15,         16,         17,         31,         32,         63,         64,         127,
        128,        129,        255,        256,        257,        511,        512,        4095,
        0xFFFF,     0x10000,    0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1ull << 36, 1ull << 39, (1ull << 40) - 1,
        1ull << 40, 1ull << 62, 1ull << 63, ~0ull};
    switch (below(6)) {
      case 0:
        return old + 1;
      case 1:
        return old - 1;
      case 2:
        return old ^ 1ull << below(64);
      case 3:
        return bits() >> below(64);
      default:
        return kEdges[below(kEdges.size())];
    }
  }
  template <typename T>
  void change(T& value) {
    static_assert(std::is_integral_v<T>);
    value = static_cast<T>(number(static_cast<std::uint64_t>(value)));
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace ktpu::fuzz
