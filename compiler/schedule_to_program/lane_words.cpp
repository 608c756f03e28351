// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule_to_program/lane_words.h"

#include <array>
#include <optional>

#include "compiler/base/refusal.h"

namespace ktpu::schedule_to_program {
namespace {

using arch::VectorOpcode;
using arch::VectorWord;
using base::LaneOp;

enum class Slot : std::uint8_t { kA, kB, kC };

void put(VectorWord& word, Slot slot, Operand operand) {
  const auto source = static_cast<std::uint32_t>(operand.source);
  switch (slot) {
    case Slot::kA:
      word.sa = source;
      word.va = operand.number;
      return;
    case Slot::kB:
      word.sb = source;
      word.vb = operand.number;
      return;
    case Slot::kC:
      word.sc = source;
      word.vc = operand.number;
      return;
  }
}

// Operations that are one word: the opcode, and the slots its sources go to in their order.
struct OneWord {
  LaneOp op;
  VectorOpcode opcode;
  std::array<Slot, 3> slots;
};
constexpr std::array<OneWord, 13> kOneWord{{
    {LaneOp::kNeg, VectorOpcode::kVneg, {Slot::kA}},
    {LaneOp::kAbs, VectorOpcode::kVabs, {Slot::kA}},
    {LaneOp::kExp2, VectorOpcode::kVexp2, {Slot::kA}},
    {LaneOp::kLog2, VectorOpcode::kVlog2, {Slot::kA}},
    {LaneOp::kRecip, VectorOpcode::kVinv, {Slot::kA}},
    {LaneOp::kRsqrt, VectorOpcode::kVrsqrt, {Slot::kA}},
    // Sums read slot c, products and choices slot b.
    {LaneOp::kAdd, VectorOpcode::kVadd, {Slot::kA, Slot::kC}},
    {LaneOp::kSub, VectorOpcode::kVsub, {Slot::kA, Slot::kC}},
    {LaneOp::kMul, VectorOpcode::kVmul, {Slot::kA, Slot::kB}},
    {LaneOp::kMax, VectorOpcode::kVmax, {Slot::kA, Slot::kB}},
    {LaneOp::kMin, VectorOpcode::kVmin, {Slot::kA, Slot::kB}},
    {LaneOp::kFma, VectorOpcode::kVfma, {Slot::kA, Slot::kB, Slot::kC}},
    // The condition comes first in the expression and stands in slot c.
    {LaneOp::kSelect, VectorOpcode::kVsel, {Slot::kC, Slot::kA, Slot::kB}},
}};

std::optional<VectorOpcode> compare_opcode(LaneOp op) {
  switch (op) {
    case LaneOp::kLess:
      return VectorOpcode::kVcmplt;
    case LaneOp::kGreater:
      return VectorOpcode::kVcmpgt;
    case LaneOp::kEqual:
      return VectorOpcode::kVcmpeq;
    default:
      return std::nullopt;
  }
}

arch::ReduceKind reduce_kind(LaneOp op) {
  switch (op) {
    case LaneOp::kRowMax:
      return arch::ReduceKind::kMax;
    case LaneOp::kRowMin:
      return arch::ReduceKind::kMin;
    case LaneOp::kRowSumsq:
      return arch::ReduceKind::kSumsq;
    default:
      return arch::ReduceKind::kSum;
  }
}

VectorWord set_mode(arch::VectorMode mode) {
  VectorWord word = vector_word(VectorOpcode::kVsetmode);
  word.va = static_cast<std::uint32_t>(mode);
  return word;
}

std::vector<VectorWord> reduction(LaneOp op, std::uint32_t destination, Operand source,
                                  std::uint32_t scalar) {
  VectorWord reduce = vector_word(VectorOpcode::kVred);
  reduce.vd = scalar;
  reduce.va = reduce.vb = source.number;
  reduce.kind = static_cast<std::uint32_t>(reduce_kind(op));
  VectorWord spread = vector_word(VectorOpcode::kVbcast);
  spread.sa = static_cast<std::uint32_t>(arch::VectorSource::kScalar);
  spread.va = scalar;
  spread.vd = destination;
  return {set_mode(arch::VectorMode::kTree), reduce, set_mode(arch::VectorMode::kFlat), spread};
}

std::vector<VectorWord> division(std::uint32_t destination, Operand dividend, Operand divisor) {
  VectorWord invert = vector_word(VectorOpcode::kVinv);
  invert.vd = kScratchRegister;
  put(invert, Slot::kA, divisor);
  VectorWord multiply = vector_word(VectorOpcode::kVmul);
  multiply.vd = destination;
  put(multiply, Slot::kA, dividend);
  put(multiply, Slot::kB, {arch::VectorSource::kVector, kScratchRegister});
  return {invert, multiply};
}

// Predicate 0 says where; the two values are moved under it and under its opposite.
std::vector<VectorWord> choice(VectorOpcode compare, std::uint32_t destination,
                               std::span<const Operand> sources) {
  VectorWord test = vector_word(compare);
  put(test, Slot::kA, sources[0]);
  put(test, Slot::kB, sources[1]);
  std::vector<VectorWord> words{test};
  for (const std::uint32_t when : {1u, 2u}) {
    VectorWord move = vector_word(VectorOpcode::kVmov);
    move.vd = destination;
    move.pm = when;
    put(move, Slot::kA, sources[1 + when]);
    words.push_back(move);
  }
  return words;
}

VectorWord move(std::uint32_t destination, Operand source, std::uint32_t when = 0) {
  VectorWord word = vector_word(VectorOpcode::kVmov);
  word.vd = destination;
  word.pm = when;
  put(word, Slot::kA, source);
  return word;
}

// The same with one value in all lanes first, until the predicate has landed; the other one is moved under
// it.
std::vector<VectorWord> landed_choice(VectorOpcode compare, std::uint32_t destination,
                                      std::span<const Operand> sources, std::uint32_t length) {
  VectorWord test = vector_word(compare);
  put(test, Slot::kA, sources[0]);
  put(test, Slot::kB, sources[1]);
  const Operand if_true = sources[2], if_false = sources[3];
  // The first move must not take the place of the second one's value.
  const bool true_first = if_true.source == arch::VectorSource::kVector && if_true.number == destination;
  // A beat sees bits written 16 cycles before it, and a move of n beats takes n + 5 (vector.md section 12.4).
  constexpr std::uint32_t kLongEnough = 48;
  std::vector<VectorWord> words{test};
  for (int moves = length < kLongEnough ? 2 : 1; moves != 0; --moves)
    words.push_back(move(destination, true_first ? if_true : if_false));
  words.push_back(true_first ? move(destination, if_false, 2) : move(destination, if_true, 1));
  return words;
}

// What has no instruction, from those there are.
std::optional<std::vector<VectorWord>> composed(LaneOp op, std::uint32_t destination,
                                                std::span<const Operand> sources) {
  if (op == LaneOp::kCast) return std::vector<VectorWord>{move(destination, sources[0])};
  VectorWord word = vector_word(op == LaneOp::kSqrt ? VectorOpcode::kVrsqrt : VectorOpcode::kVmax);
  word.vd = destination;
  put(word, Slot::kA, sources[0]);
  if (op == LaneOp::kRelu) {
    put(word, Slot::kB, {arch::VectorSource::kConstant, 0});
    return std::vector<VectorWord>{word};
  }
  if (op != LaneOp::kSqrt) return std::nullopt;
  VectorWord invert = vector_word(VectorOpcode::kVinv);
  word.vd = kScratchRegister;
  invert.vd = destination;
  put(invert, Slot::kA, {arch::VectorSource::kVector, kScratchRegister});
  return std::vector<VectorWord>{word, invert};
}

}  // namespace

std::vector<VectorWord> lane_words(LaneOp op, bool chooses, std::uint32_t destination,
                                   std::span<const Operand> sources, ReductionScalars& scalars,
                                   const Choosing& choosing) {
  for (const OneWord& entry : kOneWord) {
    if (entry.op != op) continue;
    VectorWord word = vector_word(entry.opcode);
    word.vd = destination;
    for (unsigned i = 0; i < base::info(op).arguments; ++i) put(word, entry.slots[i], sources[i]);
    return {word};
  }
  if (const auto compare = compare_opcode(op)) {
    if (choosing.landed) {
      // Alone it is a choice between one and zero.
      std::vector<Operand> all(sources.begin(), sources.end());
      if (!chooses)
        for (const std::uint32_t number : {1u, 0u}) all.push_back({arch::VectorSource::kConstant, number});
      return landed_choice(*compare, destination, all, choosing.length);
    }
    if (!chooses)
      throw base::Refusal(
          base::Phase::kBuild, "LONE_COMPARE",
          fmt::format("'{}' whose result is no choice: predicates are no values", base::info(op).name),
          "use it as the condition of a where");
    return choice(*compare, destination, sources);
  }
  if (op == LaneOp::kDiv) return division(destination, sources[0], sources[1]);
  if (base::is_fold(op)) return reduction(op, destination, sources[0], scalars.next());
  if (choosing.landed)
    if (const auto words = composed(op, destination, sources)) return *words;
  throw base::Refusal(base::Phase::kBuild, "NO_LANE_OP",
                      fmt::format("the vector core has no instruction for '{}'", base::info(op).name),
                      "write it with the operations it has");
}

}  // namespace ktpu::schedule_to_program
