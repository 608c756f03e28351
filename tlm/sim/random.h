// SPDX-License-Identifier: Apache-2.0
// The project's own random numbers: the same seed gives the same bits with every library and compiler.
#pragma once

#include <cstdint>

namespace ktpu::sim {

// A bijection of 64 bits without visible structure (the output function of the splitmix64 generator).
constexpr std::uint64_t scramble(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// Probability 0..1 as the threshold that `Random::chance` compares 64 random bits with.
constexpr std::uint64_t chance_threshold(double probability) {
  if (!(probability > 0)) return 0;
  if (probability >= 1) return ~0ull;
  return static_cast<std::uint64_t>(probability * 18446744073709551616.0);
}

// splitmix64: 64 bits of state, one step and one scramble a number.
class Random {
 public:
  constexpr explicit Random(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() { return scramble(state_ += kStep); }
  // Uniform in 0 .. bound-1; `bound` >= 1.
  constexpr std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }
  constexpr bool chance(std::uint64_t threshold) { return next() < threshold || threshold == ~0ull; }

  // For a generator whose n-th number is needed without the ones before it.
  static constexpr std::uint64_t nth(std::uint64_t seed, std::uint64_t n) {
    return scramble(seed + (n + 1) * kStep);
  }
  constexpr std::uint64_t& state() { return state_; }

 private:
  static constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15ull;
  std::uint64_t state_;
};

}  // namespace ktpu::sim
