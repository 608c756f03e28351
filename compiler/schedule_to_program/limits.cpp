// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule_to_program/limits.h"

#include <algorithm>

#include "compiler/base/refusal.h"
#include "compiler/base/vector_l1.h"

namespace ktpu::schedule_to_program {
namespace {

[[noreturn]] void refuse_l1(std::uint64_t words, std::uint64_t held) {
  throw base::Refusal(base::Phase::kBuild, "L1_FOOTPRINT",
                      fmt::format("a vector program of {} L1 words; {} can be used", words, usable_l1(held)),
                      held < base::kVectorL1Words
                          ? "make the part or the tile smaller, or give the vector cores a larger l1_words"
                          : "make the part or the tile smaller");
}

}  // namespace

std::string usable_l1(std::uint64_t held) {
  if (held < base::kVectorL1Words) return fmt::format("up to {}", std::min(held, base::kVectorL1Safe));
  return fmt::format("up to {}, or exactly {},", base::kVectorL1Safe, base::kVectorL1Words);
}

bool fits_l1(std::uint64_t words, std::uint64_t held) { return base::fits_vector_l1(words, held); }

void require_l1(std::uint64_t words, std::uint64_t held) {
  if (!fits_l1(words, held)) refuse_l1(words, held);
}

std::uint64_t rows_per_pass(std::uint64_t rows, std::uint64_t words_per_row, std::uint64_t held) {
  if (fits_l1(2 * rows * words_per_row, held)) return rows;
  const std::uint64_t most = std::min(held, base::kVectorL1Safe) / (2 * words_per_row);
  for (std::uint64_t tile = std::min(rows, most); tile > 0; --tile)
    if (rows % tile == 0) return tile;
  refuse_l1(2 * words_per_row, held);
}

std::uint64_t start_of(const schedule::Schedule& schedule, schedule::BufferId buffer, std::uint64_t batch) {
  const schedule::Buffer& b = schedule.buffers.at(buffer);
  if (!b.address) throw arch::UserError::make("buffer '{}' has no address yet: allocate first", b.name);
  return b.address->value() + batch * b.batch_stride;
}

}  // namespace ktpu::schedule_to_program
