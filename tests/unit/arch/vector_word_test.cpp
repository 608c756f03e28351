// SPDX-License-Identifier: Apache-2.0
// vector.md section 3: every word survives decoding and encoding.
#include "arch/encoding/vector_word.h"

#include <gtest/gtest.h>

#include <iostream>
#include <random>

namespace ktpu::arch {
namespace {

TEST(VectorWord, Vector_S3_RandomWordsComeBack) {
  constexpr std::uint64_t kSeed = 41;
  std::cout << "seed " << kSeed << '\n';
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 10'000'000; ++i) {
    const auto word = static_cast<std::uint32_t>(random());
    ASSERT_EQ(encode_vector_word(decode_vector_word(word)), word) << std::hex << word;
  }
}

// Each bit alone and each bit missing, in every opcode.
TEST(VectorWord, Vector_S3_EveryBitOfEveryOpcodeComesBack) {
  for (std::uint32_t op = 0; op < 32; ++op)
    for (std::uint32_t bit = 0; bit < 27; ++bit)
      for (const std::uint32_t low : {1u << bit, 0x7FFFFFFu & ~(1u << bit)}) {
        const std::uint32_t word = op << 27 | low;
        EXPECT_EQ(encode_vector_word(decode_vector_word(word)), word) << std::hex << word;
        EXPECT_EQ(decode_vector_word(word).op, op);
      }
}

}  // namespace
}  // namespace ktpu::arch
