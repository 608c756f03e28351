// SPDX-License-Identifier: Apache-2.0
// Blocks that recorded rows run alone and that are parts of a node: their RTL twins. In a build without RTL
// each throws UserError.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "arch/encoding/vector_word.h"
#include "arch/formats/operand.h"
#include "tlm/sim/cycle.h"

namespace ktpu::check {

inline constexpr unsigned kQuantiserBeats = 8;  // 256 bytes of FP16
using QuantiserBeats = std::array<std::array<std::uint64_t, 4>, kQuantiserBeats>;

// One entry through a quantiser.
struct Conversion {
  sim::Cycle fill_cycles = 0;        // first to last beat
  sim::Cycle last_beat_to_done = 0;  // cycles between them
  std::vector<arch::Word256> words;
  bool operator==(const Conversion&) const = default;
};
Conversion convert_on_rtl(const QuantiserBeats& beats, bool b_layout);

// Some operations of one lane's ALU, back to back, with quirk V7.
struct LaneOperands {
  std::uint32_t a = 0, b = 0, c = 0;
};
struct LaneResults {
  std::vector<std::uint32_t> values;
  sim::Cycle latency = 0;  // from the operands to the result
};
LaneResults operate_on_rtl(arch::VectorOpcode op, std::span<const LaneOperands> operands);

}  // namespace ktpu::check
