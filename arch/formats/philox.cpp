// SPDX-License-Identifier: Apache-2.0
#include "arch/formats/philox.h"

namespace ktpu::arch {

namespace {
constexpr unsigned kRounds = 10;
constexpr std::uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
}  // namespace

std::array<std::uint32_t, 4> philox4x32_10(const std::array<std::uint32_t, 4>& counter, std::uint64_t key) {
  std::array<std::uint32_t, 4> c = counter;
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (unsigned round = 0; round < kRounds; ++round) {
    const std::uint64_t p0 = kMultiplier0 * c[0], p1 = kMultiplier1 * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(p0)};
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
  return c;
}

std::array<std::uint64_t, 4> generated_word(std::uint64_t seed, std::uint64_t addr) {
  const std::uint64_t position = addr >> 5 & ((1ull << 35) - 1);
  std::array<std::uint64_t, 4> word{};
  for (std::uint32_t half = 0; half < 2; ++half) {
    const auto out = philox4x32_10(
        {static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(position >> 32) << 1 | half, 0, 0},
        seed);
    for (unsigned i = 0; i < 2; ++i)
      word[2 * half + i] = out[2 * i] | static_cast<std::uint64_t>(out[2 * i + 1]) << 32;
  }
  return word;
}

}  // namespace ktpu::arch
