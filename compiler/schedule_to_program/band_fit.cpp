// SPDX-License-Identifier: Apache-2.0
// How many steps a RUN does (compiler.md sections 18.5 and 18.7).
#include <algorithm>

#include "compiler/base/refusal.h"
#include "compiler/schedule_to_program/band.h"
#include "compiler/schedule_to_program/limits.h"

namespace ktpu::schedule_to_program {
namespace {

using base::Phase;
using base::Refusal;

std::string elements(std::uint64_t count) { return fmt::format("{} elements", count); }

}  // namespace

void Band::require(std::uint64_t steps) const {
  const std::uint64_t run = steps * length_ / kLanes;
  require_l1((operands_.size() + statements_.size()) * run, schedule_.resources.vector_l1_words);
  if (image_words(steps) > kImageWords)
    throw Refusal(Phase::kBuild, "IMAGE_TOO_LONG", fmt::format("an image of {} words", image_words(steps)),
                  fmt::format("the instruction memory holds {}: split the expression", kImageWords));
  for (const BandOperand& operand : operands_)
    if (!spread_fits(operand, steps * length_, schedule_.policy))
      throw Refusal(Phase::kBuild, "SPREAD_SHAPE",
                    fmt::format("a RUN over {} reads {} out of every {}", elements(steps * length_),
                                operand.take, operand.period),
                    "make the part a whole number of groups");
}

bool Band::fits(std::uint64_t steps) const {
  const std::uint64_t run = steps * length_ / kLanes;
  return fits_l1((operands_.size() + statements_.size()) * run, schedule_.resources.vector_l1_words) &&
         run <= kWalkWords && image_words(steps) <= kImageWords &&
         std::all_of(operands_.begin(), operands_.end(),
                     [&](const BandOperand& o) { return spread_fits(o, steps * length_, schedule_.policy); });
}

void Band::choose_steps() {
  bool spread = false;
  for (const BandOperand& operand : operands_) {
    if (operand.period == 0) continue;
    spread = true;
    require_whole_takes(operand);
  }
  if (!row_ && !spread) {
    const std::uint64_t steps = std::max<std::uint64_t>(1, ceil_div(span_, kLongestVector));
    chunks_ = std::min<std::uint64_t>(steps, kMostChunks);
    // As many steps as fit, and with so many RUNs as few as possible behind the end.
    if (schedule_.policy == schedule::Policy::kBest)
      for (std::uint64_t most = chunks_; most >= 1; --most)
        if (const std::uint64_t even = ceil_div(steps, ceil_div(steps, most)); fits(even)) {
          chunks_ = even;
          break;
        }
    require(chunks_);
    return;
  }
  // A RUN stores all of its batch, so it has to divide what there is.
  const std::uint64_t steps = std::max<std::uint64_t>(1, span_ / length_);
  for (chunks_ = steps; chunks_ > 1; --chunks_)
    if (steps % chunks_ == 0 && fits(chunks_)) return;
  require(chunks_);
}

// Stores go on to the end of the last batch. That is harmless where the result's own padding takes them.
bool Band::stores_stay_inside() const {
  const std::uint64_t batch = chunks_ * length_;
  const std::uint64_t stored = ceil_div(span_, batch) * batch;
  if (stored == span_) return true;
  for (const schedule::Chain* statement : statements_) {
    const schedule::Buffer& buffer = schedule_.buffers.at(statement->result.buffer);
    const std::uint64_t alignment = schedule_.resources.alignment;
    const std::uint64_t block =
        buffer.batch_stride != 0 ? buffer.batch_stride : ceil_div(buffer.nbytes, alignment) * alignment;
    if (!(statement->last || statement->result.at + span_ >= buffer.held_widest) ||
        2 * (statement->result.at + stored) > block)
      return false;
  }
  return true;
}

// Shorter vectors, so that nothing is stored behind the result.
void Band::choose_exact_steps() {
  const std::uint64_t span = ceil_div(span_, kLanes) * kLanes;
  const bool fixed_length = row_ || std::any_of(operands_.begin(), operands_.end(),
                                                [](const BandOperand& o) { return o.period != 0; });
  if (!fixed_length) {
    for (length_ = kLongestVector; length_ >= kLanes; length_ -= kLanes) {
      if (span % length_ != 0) continue;
      measure_step();
      const std::uint64_t steps = span / length_;
      for (chunks_ = std::min<std::uint64_t>(steps, kMostChunks); chunks_ >= 1; --chunks_)
        if (steps % chunks_ == 0 && fits(chunks_) && stores_stay_inside()) return;
    }
  }
  throw Refusal(
      Phase::kBuild, "RUN_PAST_END",
      fmt::format("results of {} can't be stored without writing what lies behind them", elements(span_)),
      fmt::format("make part a multiple of {}", kLongestVector));
}

void Band::require_alignment() const {
  const auto require_at = [](std::uint64_t at) {
    if (at % kLanes != 0)
      throw Refusal(Phase::kBuild, "PART_UNALIGNED",
                    fmt::format("element {} is not the first of a memory word", at),
                    fmt::format("make part and offsets multiples of {}", kLanes));
  };
  for (const BandOperand& operand : operands_) require_at(operand.at);
  for (const BandRegion& region : regions_) require_at(region.at);
}

}  // namespace ktpu::schedule_to_program
