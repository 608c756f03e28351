// SPDX-License-Identifier: Apache-2.0
#include "tlm/vector/lane_array.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace ktpu::vector {

using arch::ReduceKind;
using arch::VectorOpcode;
using arch::VectorSource;

namespace {
constexpr unsigned kScoreboardMask = 31;  // 5-bit counters (section 14, Q6)
}

void LaneArray::reset() {
  scoreboard_ = {};
  in_flight_ = {};
  accumulators_ = {};
  read_ = mask_ = retire_ = tail_ = 0;
  empty_from_ = 0;
  last_reg_ = last_chunk_ = 0;
  wrapped_ = {};
  beats_ = elements_ = 0;
}

// A beat samples its mask two cycles after it was decided; bits written at the end of a cycle are seen from
// the next one on. The same elements have the same place in both groups: the mode has not changed since, or
// the pipe would be empty.
bool LaneArray::predicate_pending(Cycle now, unsigned p) const {
  for (std::uint32_t i = retire_; i != tail_; ++i) {
    const Beat& beat = ring_[i % kRing];
    const Cycle reads = now + beat.chunk * group_.depth + beat.first / beat.width + 2;
    if (beat.compare && beat.pr == p && beat.retires >= reads) return true;
  }
  return false;
}

bool LaneArray::predicate_pending_now(Cycle now, unsigned p, unsigned vl) const {
  for (std::uint32_t i = retire_; i != tail_; ++i) {
    const Beat& beat = ring_[i % kRing];
    const bool below = beat.chunk * kLanes + beat.first < vl;
    if (beat.compare && beat.pr == p && below && beat.retires >= now) return true;
  }
  return false;
}

LaneArray::Beat& LaneArray::push(Cycle now) {
  Beat& beat = ring_[tail_++ % kRing];
  beat.issued = now;
  beat.mask = 0;
  empty_from_ = now + kPipeDrain;
  ++beats_;
  return beat;
}

void LaneArray::issue(Cycle now, unsigned chunk, unsigned phase, unsigned vl) {
  Beat& beat = push(now);
  // What is discarded must not hold up the beats of a reduction behind it, which take less time.
  beat.retires = now + 2 + (group_.discard ? 0 : kAluLatency * group_.depth);
  beat.chunk = static_cast<std::uint8_t>(chunk);
  beat.width = static_cast<std::uint8_t>(kLanes / group_.depth);
  beat.first = static_cast<std::uint8_t>(phase * beat.width);
  beat.vd = group_.vd;
  beat.pr = group_.pr;
  beat.pm = group_.pm;
  beat.vl = static_cast<std::uint8_t>(vl);
  beat.writes = !group_.discard;
  beat.compare = group_.compare && !group_.discard;
  beat.reduces = false;
  if (group_.compare) return;
  count_up(group_.vd);
  if (!group_.discard) ++in_flight_[group_.vd];
}

void LaneArray::count_up(unsigned reg) {
  ++scoreboard_[reg];
  if (quirks_) scoreboard_[reg] &= kScoreboardMask;
}

void LaneArray::start_reduction() {
  const std::uint32_t init = reduction_.kind == ReduceKind::kMax   ? arch::kE8m15Inf | arch::kE8m15Sign
                             : reduction_.kind == ReduceKind::kMin ? arch::kE8m15Inf
                                                                   : 0;
  accumulators_.fill(init);
}

void LaneArray::reduce(Cycle now, unsigned q) {
  const bool halves = reduction_.halves();
  Beat& beat = push(now);
  beat.retires = now + 2 + kAluLatency;
  beat.chunk = static_cast<std::uint8_t>(halves ? q / 2 : q);
  beat.width = halves ? kLanes / 2 : kLanes;
  beat.first = static_cast<std::uint8_t>(halves ? q % 2 * beat.width : 0);
  beat.vd = reduction_.vb;
  beat.pr = reduction_.pr;
  beat.pm = reduction_.pm;
  beat.vl = kMaxLength;
  beat.writes = reduction_.kind == ReduceKind::kExpsum;
  beat.compare = false;
  beat.reduces = true;
  if (!beat.writes) return;
  count_up(beat.vd);
  ++in_flight_[beat.vd];
}

std::uint32_t LaneArray::reduce_tail(Cycle now) {
  empty_from_ = now + kPipeDrain;
  last_reg_ = reduction_.va;
  last_chunk_ = 0;
  ++beats_;
  auto values = accumulators_;
  return arch::lane_tree(reduction_.combine(), values);
}

void LaneArray::note_wrapped(const std::uint32_t* operands, const Beat& beat, Cycle now) {
  for (unsigned i = 0; i < beat.width; ++i) {
    const unsigned element = beat.chunk * kLanes + beat.first + i;
    if (element >= beat.vl || !arch::exp2_wraps(operands[i])) continue;
    if (wrapped_.count++ == 0) wrapped_.first = now;
  }
}

// Operands are in the registers at the end of the cycle after the decision.
void LaneArray::read(Beat& beat) {
  if (beat.reduces) return read_reduction(beat);
  last_reg_ = group_.stage[0].reg[0];
  last_chunk_ = beat.chunk;
  std::uint32_t* result = beat.result.data();
  for (unsigned t = 0; t < group_.depth; ++t) {
    const LaneStage& stage = group_.stage[t];
    std::array<const std::uint32_t*, 3> operand;
    for (unsigned s = 0; s < 3; ++s) {
      switch (stage.source[s]) {
        case VectorSource::kVector:
          operand[s] = chunk(stage.reg[s], beat.chunk) + beat.first;
          break;
        case VectorSource::kChain:
          operand[s] = result;
          break;
        default:
          operand[s] = stage.constant[s].data();
      }
    }
    if (stage.op == VectorOpcode::kVexp2) note_wrapped(operand[0], beat, beat.issued + 1);
    arch::lane_ops(stage.op, operand[0], operand[1], operand[2], result, beat.width, quirks_);
  }
  elements_ += static_cast<std::uint64_t>(beat.width) * group_.depth;
}

void LaneArray::read_reduction(Beat& beat) {
  const std::uint32_t* a = chunk(reduction_.va, beat.chunk) + beat.first;
  const std::uint32_t* b = chunk(reduction_.vb, beat.chunk) + beat.first;
  last_reg_ = reduction_.va;
  last_chunk_ = beat.chunk;
  std::array<std::uint32_t, kLanes> leaves;
  if (!reduction_.halves()) {
    std::copy_n(a, beat.width, leaves.begin());
  } else if (reduction_.kind == ReduceKind::kExpsum) {
    note_wrapped(a, beat, beat.issued + 1);
    arch::lane_ops(VectorOpcode::kVexp2, a, a, a, leaves.data(), beat.width, quirks_);
    beat.result = leaves;
  } else {
    arch::lane_ops(VectorOpcode::kVmul, a, b, b, leaves.data(), beat.width, quirks_);
  }
  const VectorOpcode op = reduction_.combine();
  const std::uint32_t sum = arch::lane_tree(op, std::span(leaves.data(), beat.width));
  auto& accumulator = accumulators_[(beat.chunk * kLanes + beat.first) / beat.width % kAccumulators];
  accumulator = arch::lane_combine(op, sum, accumulator);
  elements_ += beat.width;
}

void LaneArray::sample_mask(Beat& beat) const {
  std::uint32_t mask = ((1u << beat.width) - 1) << beat.first;
  const unsigned start = beat.chunk * kLanes;
  if (beat.vl < start + kLanes) mask &= beat.vl <= start ? 0 : (1u << (beat.vl - start)) - 1;
  if (beat.pm != 0 && !beat.compare) {
    const std::uint32_t bits = p_[beat.pr].chunk(beat.chunk);
    mask &= beat.pm == 1 ? bits : ~bits;
  }
  beat.mask = mask;
}

void LaneArray::retire(const Beat& beat) {
  if (!beat.writes) return;
  if (beat.compare) {
    std::uint32_t bits = 0;
    for (unsigned i = 0; i < beat.width; ++i)
      bits |= static_cast<std::uint32_t>(beat.result[i] != 0) << (beat.first + i);
    p_[beat.pr].set_chunk(beat.chunk, beat.mask, bits);
    return;
  }
  std::uint32_t* target = chunk(beat.vd, beat.chunk) + beat.first;
  const std::uint32_t mask = beat.mask >> beat.first, whole = (1u << beat.width) - 1;
  if (mask == whole)
    std::copy_n(beat.result.begin(), beat.width, target);
  else
    for (unsigned i = 0; i < beat.width; ++i)
      if ((mask >> i) & 1) target[i] = beat.result[i];
  // A counter that wrapped stays at zero.
  if (scoreboard_[beat.vd] != 0) --scoreboard_[beat.vd];
  --in_flight_[beat.vd];
}

void LaneArray::clock(Cycle now) {
  if (read_ != tail_ && ring_[read_ % kRing].issued + 1 == now) read(ring_[read_++ % kRing]);
  if (mask_ != read_ && ring_[mask_ % kRing].issued + 2 == now) sample_mask(ring_[mask_++ % kRing]);
  if (retire_ != mask_ && ring_[retire_ % kRing].retires == now) retire(ring_[retire_++ % kRing]);
}

Cycle LaneArray::wake() const {
  Cycle next = sim::kNever;
  if (read_ != tail_) next = ring_[read_ % kRing].issued + 1;
  if (mask_ != tail_) next = std::min(next, ring_[mask_ % kRing].issued + 2);
  if (retire_ != tail_) next = std::min(next, ring_[retire_ % kRing].retires);
  return next;
}

LaneArray::Wrapped LaneArray::take_wrapped() {
  const Wrapped taken = wrapped_;
  wrapped_ = {};
  return taken;
}

void LaneArray::visit(sim::Archive& a) {
  a.memory("v", v_.front().data(), std::size_t{kVectorRegisters} * kMaxLength);
  for (unsigned p = 0; p < kPredicates; ++p) a.memory(fmt::format("p{}", p), p_[p].bits.data(), 2);
  a.memory("scoreboard", scoreboard_.data(), scoreboard_.size());
  a.memory("accumulators", accumulators_.data(), accumulators_.size());
  a.state("last_read_register", last_reg_, 4);
  a.state("last_read_chunk", last_chunk_, 3);
  a.counter("beats", beats_, "beats", "Beats issued to the lanes.");
  a.counter("elements", elements_, "elements", "Element operations, masked ones included.");
  a.kept_memory("in_flight", in_flight_.data(), in_flight_.size());
  a.kept("empty_from", empty_from_);
  a.kept("read", read_);
  a.kept("mask", mask_);
  a.kept("retire", retire_);
  a.kept("tail", tail_);
  a.kept("depth", group_.depth);
  for (LaneStage& stage : group_.stage) {
    a.kept("op", stage.op);
    a.kept_memory("source", stage.source.data(), stage.source.size());
    a.kept_memory("reg", stage.reg.data(), stage.reg.size());
    for (auto& constant : stage.constant) a.kept_memory("constant", constant.data(), constant.size());
  }
  a.kept("vd", group_.vd);
  a.kept("pr", group_.pr);
  a.kept("pm", group_.pm);
  a.kept("compare", group_.compare);
  a.kept("discard", group_.discard);
  a.kept("reduce_kind", reduction_.kind);
  a.kept("reduce_va", reduction_.va);
  a.kept("reduce_vb", reduction_.vb);
  a.kept("reduce_pr", reduction_.pr);
  a.kept("reduce_pm", reduction_.pm);
  a.kept("wrapped", wrapped_.count);
  a.kept("wrapped_first", wrapped_.first);
  if (!a.is_checkpoint()) return;
  for (std::uint32_t i = retire_; i != tail_; ++i) {
    Beat& beat = ring_[i % kRing];
    a.kept("issued", beat.issued);
    a.kept("retires", beat.retires);
    a.kept("chunk", beat.chunk);
    a.kept("first", beat.first);
    a.kept("width", beat.width);
    a.kept("beat_vd", beat.vd);
    a.kept("beat_pr", beat.pr);
    a.kept("beat_pm", beat.pm);
    a.kept("beat_vl", beat.vl);
    a.kept("writes", beat.writes);
    a.kept("beat_compare", beat.compare);
    a.kept("reduces", beat.reduces);
    a.kept("beat_mask", beat.mask);
    a.kept_memory("result", beat.result.data(), beat.result.size());
  }
}

}  // namespace ktpu::vector
