// SPDX-License-Identifier: Apache-2.0
// What a vector core holds (compiler.md section 2), and where a buffer begins.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/base/vector_l1.h"
#include "compiler/schedule/schedule.h"

namespace ktpu::schedule_to_program {

inline constexpr std::uint32_t kLanes = 16, kLongestVector = 128;  // elements
inline constexpr std::uint32_t kStepWords = kLongestVector / kLanes;
inline constexpr std::uint32_t kDescriptors = 8, kImageWords = 512, kWalkWords = 256;
inline constexpr std::uint32_t kMostChunks = 8;  // longest vectors in a RUN, when nothing else bounds it
inline constexpr std::uint32_t kWordBytes = 32;  // of memory and of L1

constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }
// L1 words that a tile takes: vectors are read and written whole.
constexpr std::uint64_t whole_steps(std::uint64_t words) { return ceil_div(words, kStepWords) * kStepWords; }

// Throws base::Refusal (L1_FOOTPRINT): 321 to 511 words corrupt results on the card, more than 512 do not
// exist. `held`: words of a core's L1, the machine's vector_l1_words.
void require_l1(std::uint64_t words, std::uint64_t held = base::kVectorL1Words);
bool fits_l1(std::uint64_t words, std::uint64_t held = base::kVectorL1Words);
// "up to 320, or exactly 512,": what a program may use of `held` words.
std::string usable_l1(std::uint64_t held);
// Rows of `words_per_row` words that a row reduction holds at once, with their results. Throws base::Refusal
// (L1_FOOTPRINT) when not even one fits.
std::uint64_t rows_per_pass(std::uint64_t rows, std::uint64_t words_per_row,
                            std::uint64_t held = base::kVectorL1Words);

// First byte of batch element `batch`. Throws UserError for a buffer without an address.
std::uint64_t start_of(const schedule::Schedule& schedule, schedule::BufferId buffer, std::uint64_t batch);

}  // namespace ktpu::schedule_to_program
