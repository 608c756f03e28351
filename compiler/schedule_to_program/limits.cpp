// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule_to_program/limits.h"

#include <algorithm>

#include "compiler/base/refusal.h"
#include "compiler/base/vector_l1.h"

namespace ktpu::schedule_to_program {
namespace {

[[noreturn]] void refuse_l1(std::uint64_t words) {
  throw base::Refusal(base::Phase::kBuild, "L1_FOOTPRINT",
                      fmt::format("a vector program of {} L1 words; up to {}, or exactly {}, can be used",
                                  words, base::kVectorL1Safe, base::kVectorL1Words),
                      "make the part or the tile smaller");
}

}  // namespace

bool fits_l1(std::uint64_t words) { return base::fits_vector_l1(words); }

void require_l1(std::uint64_t words) {
  if (!fits_l1(words)) refuse_l1(words);
}

std::uint64_t rows_per_pass(std::uint64_t rows, std::uint64_t words_per_row) {
  if (fits_l1(2 * rows * words_per_row)) return rows;
  for (std::uint64_t tile = std::min(rows, base::kVectorL1Safe / (2 * words_per_row)); tile > 0; --tile)
    if (rows % tile == 0) return tile;
  refuse_l1(2 * words_per_row);
}

std::uint64_t start_of(const schedule::Schedule& schedule, schedule::BufferId buffer, std::uint64_t batch) {
  const schedule::Buffer& b = schedule.buffers.at(buffer);
  if (!b.address) throw arch::UserError::make("buffer '{}' has no address yet: allocate first", b.name);
  return b.address->value() + batch * b.batch_stride;
}

}  // namespace ktpu::schedule_to_program
