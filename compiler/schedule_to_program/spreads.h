// SPDX-License-Identifier: Apache-2.0
// Operands of a vector program, and how those are filled that are read again and again (compiler.md section
// 18.7).
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/schedule/schedule.h"
#include "compiler/schedule_to_program/image.h"

namespace ktpu::schedule_to_program {

// What a program uses and does not make itself.
struct BandOperand {
  schedule::BufferId buffer = 0;
  std::uint64_t at = 0;                // element of the batch element's block
  std::uint64_t period = 0, take = 0;  // a spread; 0: read straight on
  bool whole = false;                  // the same `take` elements over and over
  bool operator==(const BandOperand&) const = default;
};

// Throws base::Refusal (SPREAD_SHAPE): takes are whole memory words, periods whole takes.
void require_whole_takes(const BandOperand& operand);
// Whether a RUN over `batch` elements reads whole takes.
bool spread_fits(const BandOperand& operand, std::uint64_t batch, schedule::Policy policy);
// The fill of a RUN over `batch` elements.
std::vector<Dimension> fill_walk(const BandOperand& operand, std::uint64_t batch);
// The element at which a RUN begins to read when `passed` elements lie before it.
std::uint64_t fill_start(const BandOperand& operand, std::uint64_t passed);

}  // namespace ktpu::schedule_to_program
