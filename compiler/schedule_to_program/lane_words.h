// SPDX-License-Identifier: Apache-2.0
// The instruction words of one lane operation (compiler.md section 18.3).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/schedule_to_program/chains.h"
#include "compiler/schedule_to_program/image.h"

namespace ktpu::schedule_to_program {

inline constexpr std::uint32_t kRunningRegister = 7;  // the running result of a chain
inline constexpr std::uint32_t kScratchRegister = 8;  // of a division
inline constexpr std::uint32_t kSideRegister = 9;     // per-channel operand of an epilogue

// Reductions of one step take S1, S2, S3 in turn.
class ReductionScalars {
 public:
  std::uint32_t next() { return 1 + count_++ % 3; }

 private:
  std::uint32_t count_ = 0;
};

// How a value is chosen by a comparison. The reference moves both values behind the compare under its
// predicate, which the machine reads before it is written (quirk V3), and has no place for the result of a
// comparison as such.
struct Choosing {
  bool landed = false;  // the first of the two moves goes to all lanes, and the predicate lands behind it
  std::uint32_t length = 128;  // elements of a vector
};

// `sources` as many as the operation has, into vector register `destination`. Throws base::Refusal:
// LONE_COMPARE, NO_LANE_OP (sqrt, relu, cast), neither with `choosing.landed`.
std::vector<arch::VectorWord> lane_words(base::LaneOp op, bool chooses, std::uint32_t destination,
                                         std::span<const Operand> sources, ReductionScalars& scalars,
                                         const Choosing& choosing = {});

}  // namespace ktpu::schedule_to_program
