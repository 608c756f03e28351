// SPDX-License-Identifier: Apache-2.0
// Fetch, decode and the arithmetic instructions (vector.md sections 10, 12 and 13). Each step does what
// happens in its cycle and says which step comes next and when; the distances are those of the machine's
// states.
#include <algorithm>

#include "arch/encoding/quirks.h"
#include "tlm/vector/vector_core.h"

namespace ktpu::vector {

using arch::QuirkId;
using arch::ReduceKind;
using arch::VectorMode;
using arch::VectorOpcode;
using arch::VectorSource;
using arch::VectorWord;

namespace {

constexpr Cycle kFetchToExecute = 3;  // section 12.1
constexpr Cycle kWordPeriod = 4;      // a further word of a group
constexpr Cycle kFaultToDone = 3;     // section 12.3
constexpr Cycle kTailToFetch = 63;    // section 12.3: the tree over the accumulators
constexpr Cycle kLengthCheck = 5;     // section 12.3: F_LEN

}  // namespace

// What the cycle of a step is spent on when the step can be done.
VectorCycle VectorCore::cycle_of(Step step) {
  switch (step) {
    case Step::kIdle:
      return VectorCycle::kIdle;
    case Step::kFetch:
      return VectorCycle::kFetch;
    case Step::kBeats:
    case Step::kReduce:
    case Step::kReduceTail:
    case Step::kIssue:
      return VectorCycle::kBeat;
    case Step::kLoad:
    case Step::kStore:
    case Step::kMoveChunks:
    case Step::kFillRequest:
    case Step::kFillHand:
    case Step::kDrainRead:
    case Step::kDrainHand:
      return VectorCycle::kMove;
    default:
      return VectorCycle::kStep;
  }
}

void VectorCore::run_sequencer(Cycle now) {
  while (at_ <= now) {
    held_.reset();
    const VectorCycle here = cycle_of(step_);
    step(now);
    cycle_states_.enter(now, held_.value_or(here));
  }
}

void VectorCore::go_when_empty(Step step, Cycle now) {
  after_pipe_ = step;
  go(Step::kPipe, std::max(now, lanes_.empty_from()), VectorCycle::kPipe);
}

void VectorCore::step(Cycle now) {
  switch (step_) {
    case Step::kIdle:
      return go(Step::kIdle, sim::kNever, VectorCycle::kIdle);
    case Step::kFetch:
      return fetch(now);
    case Step::kExecute:
      return execute(now);
    case Step::kGather:
      return gather(now);
    case Step::kIssue:
      return issue_first(now);
    case Step::kBeats:
      return issue_next(now);
    case Step::kPipe:
      return go(after_pipe_, now);
    case Step::kSetMode:
      mode_ = static_cast<VectorMode>(word_.va & 3);
      return go(Step::kFetch, now + 1);
    case Step::kLoadStart:
      return go(Step::kLoad, now + 3, VectorCycle::kMove);
    case Step::kLoad:
      return load_word(now);
    case Step::kStoreStart:
      return go(Step::kStore, now + 4, VectorCycle::kMove);
    case Step::kStore:
      return store_word(now);
    case Step::kMoveChunks:
      return move_chunks(now);
    case Step::kReduce:
      lanes_.reduce(now, position_);
      if (++position_ < positions_) return go(Step::kReduce, now + 1);
      return go(Step::kReduceTail, lanes_.empty_from(), VectorCycle::kPipe);
    case Step::kReduceTail:
      s_[word_.vd] = lanes_.reduce_tail(now);
      return go(Step::kFetch, now + kTailToFetch, VectorCycle::kPipe);
    case Step::kPredicateRead:
      return read_predicate(now);
    case Step::kFillWait:
      if (l1_.outstanding() != 0) return hold(now, VectorCycle::kFill);
      return go(Step::kFillCheck, now + kLengthCheck);
    case Step::kFillCheck:
    case Step::kDrainCheck:
      return start_walk(now);
    case Step::kFillRequest:
      return go(Step::kFillHand, now + 1);
    case Step::kFillHand:
      return fill_hand(now);
    case Step::kDrainRead:
      drained_ = l1_.word(word_.offset + position_);
      return go(Step::kDrainHand, now + 2, VectorCycle::kMove);
    case Step::kDrainHand:
      return drain_hand(now);
    case Step::kBarrier:
      if (l1_.outstanding() != 0) return hold(now, VectorCycle::kFill);
      return go(Step::kFetch, now + 1);
    case Step::kHalt:
      if (now < lanes_.empty_from()) return go_when_empty(Step::kHalt, now);
      if (l1_.outstanding() != 0) return hold(now, VectorCycle::kFill);
      return finish(now);
    case Step::kDone:
      base_.exec_done(result_, faulted_);
      if (probe_ != nullptr) probe_->on_done(now, result_, faulted_, running_);
      running_ = false;
      return go(Step::kIdle, sim::kNever, VectorCycle::kIdle);
  }
}

// Accepted in `now`; the first instruction has no fetch state (section 12.1).
void VectorCore::start_kernel(Cycle now, unsigned pc) {
  started_ = now + 1;
  pc_ = static_cast<std::uint16_t>(pc);
  loop_active_ = false;
  faulted_ = false;
  if (probe_ != nullptr) probe_->on_run(started_, pc);
  if (l1_.burst_error()) {
    l1_.clear_burst_error();
    fault(now, VectorFault::kCudata);
    return;
  }
  go(Step::kExecute, started_ - 1 + kFetchToExecute, VectorCycle::kFetch);
}

void VectorCore::fetch(Cycle now) {
  if (l1_.burst_error()) {
    l1_.clear_burst_error();
    return fault(now, VectorFault::kCudata);
  }
  if (loop_active_ && pc_ == loop_end_) {
    if (loop_count_ > 1) {
      --loop_count_;
      pc_ = loop_top_;
    } else {
      loop_active_ = false;
    }
  }
  go(Step::kExecute, now + kFetchToExecute, VectorCycle::kFetch);
}

unsigned VectorCore::pop_word() {
  const unsigned at = pc_;
  pc_ = (pc_ + 1) % kWords;
  return at;
}

void VectorCore::execute(Cycle now) {
  word_pc_ = static_cast<std::uint16_t>(pop_word());
  word_ = decoded_[word_pc_];
  ++instructions_;
  if (probe_ != nullptr) probe_->on_execute(now, word_pc_, imem_[word_pc_]);
  if (word_.arithmetic()) return execute_arithmetic(now);
  const bool typed = word_.dtype == 1 || word_.dtype == 2;
  switch (word_.opcode()) {
    case VectorOpcode::kVcvt:
      if (!typed) return fault(now, VectorFault::kDtype);
      return go_when_empty(Step::kMoveChunks, now);
    case VectorOpcode::kVred:
      return execute_reduction(now);
    case VectorOpcode::kVld:
    case VectorOpcode::kVst: {
      if (!typed) return fault(now, VectorFault::kDtype);
      // 14 bits, signed.
      walk_.start(word_.ad, static_cast<std::int32_t>(word_.offset << 18) >> 18);
      walk_steps_at_.fill(sim::kNever);
      position_ = 0;
      const bool load = word_.opcode() == VectorOpcode::kVld;
      positions_ = static_cast<std::uint16_t>(load && fp32() ? 2 * chunks() : chunks());
      high_half_ = false;
      return go_when_empty(load ? Step::kLoadStart : Step::kStoreStart, now);
    }
    case VectorOpcode::kVbcast:
    case VectorOpcode::kVshuf:
      return go_when_empty(Step::kMoveChunks, now);
    case VectorOpcode::kVsetvl:
      if (s_[word_.va] == 0 || s_[word_.va] > kMaxLength) return fault(now, VectorFault::kVl);
      vl_ = static_cast<std::uint8_t>(s_[word_.va]);
      return go(Step::kFetch, now + 1);
    case VectorOpcode::kVsetmode:
      return go_when_empty(Step::kSetMode, now);
    case VectorOpcode::kVseti: {
      const std::uint32_t value = imem_[pop_word()] & 0xFFFFFF;
      if (word_.sa == 3)
        k_[3] = value;
      else
        s_[word_.vd] = value;
      return go(Step::kFetch, now + 3);
    }
    case VectorOpcode::kVloop:
      if (loop_active_) return fault(now, VectorFault::kLoop);
      loop_active_ = true;
      loop_top_ = pc_;
      loop_end_ = static_cast<std::uint16_t>((pc_ + word_.vb) % kWords);
      loop_count_ = s_[word_.va];
      return go(Step::kFetch, now + 1);
    case VectorOpcode::kVbar:
      return go(Step::kBarrier, now + 1);
    case VectorOpcode::kVfill:
      ++fills_;
      return go(Step::kFillWait, now);
    case VectorOpcode::kVdrain:
      ++drains_;
      return go(Step::kDrainCheck, now + kLengthCheck);
    default:
      return go(Step::kHalt, now + 1);
  }
}

std::uint32_t VectorCore::operand(VectorSource source, unsigned reg) const {
  return source == VectorSource::kScalar ? s_[reg] : k_[reg & 3];
}

// Takes a word as stage `t`: operands that are no vectors are captured now. The last word decides on the
// destination.
void VectorCore::load_stage(unsigned t, const VectorWord& word) {
  LaneGroup& group = lanes_.group();
  LaneStage& stage = group.stage[t];
  stage.op = word.opcode();
  stage.source = {static_cast<VectorSource>(word.sa), static_cast<VectorSource>(word.sb),
                  static_cast<VectorSource>(word.sc)};
  stage.reg = {static_cast<std::uint8_t>(word.va), static_cast<std::uint8_t>(word.vb),
               static_cast<std::uint8_t>(word.vc)};
  for (unsigned s = 0; s < 3; ++s)
    if (stage.source[s] == VectorSource::kScalar || stage.source[s] == VectorSource::kConstant)
      stage.constant[s].fill(operand(stage.source[s], stage.reg[s]));
  group.vd = static_cast<std::uint8_t>(word.vd);
  group.pr = static_cast<std::uint8_t>(word.pr);
  group.pm = static_cast<std::uint8_t>(word.pm);
  group.compare = word.compare();
  last_pr_ = group.pr;
  last_pm_ = group.pm;
}

void VectorCore::execute_arithmetic(Cycle now) {
  if (mode_ == VectorMode::kTree) {
    if (!params_.quirks) return fault(now, VectorFault::kOpcode);
    hit(QuirkId::kV9, now);
  }
  constexpr auto kChain = static_cast<std::uint32_t>(VectorSource::kChain);
  if (word_.sa == kChain || word_.sb == kChain || word_.sc == kChain) return fault(now, VectorFault::kChain);
  LaneGroup& group = lanes_.group();
  group.depth = mode_ == VectorMode::kFlat ? 1 : mode_ == VectorMode::kD2 ? 2 : 4;
  group.discard = mode_ == VectorMode::kTree;
  load_stage(0, word_);
  position_ = 1;
  if (group.depth > 1) return go(Step::kGather, now + kWordPeriod, VectorCycle::kFetch);
  go(Step::kIssue, now + 1);
}

void VectorCore::gather(Cycle now) {
  if (loop_active_ && pc_ == loop_end_) {
    if (!params_.quirks) return fault(now, VectorFault::kLoop);
    hit(QuirkId::kV12, now);
  }
  const unsigned at = pop_word();
  VectorWord word = decoded_[at];
  ++instructions_;
  if (!word.arithmetic()) {
    if (!params_.quirks) return fault(now, VectorFault::kOpcode);
    hit(QuirkId::kV10, now);
    word = arch::decode_vector_word_as(imem_[at], VectorOpcode::kVmov);
  }
  constexpr auto kVector = static_cast<std::uint32_t>(VectorSource::kVector);
  if (word.sa == kVector || word.sb == kVector || word.sc == kVector) return fault(now, VectorFault::kVsrc);
  load_stage(position_, word);
  if (++position_ < lanes_.group().depth) return go(Step::kGather, now + kWordPeriod, VectorCycle::kFetch);
  go(Step::kIssue, now + 1);
}

// Section 12.4: all four register fields have to be free, used or not.
std::array<std::uint8_t, 4> VectorCore::checked_registers() const {
  const LaneGroup& group = lanes_.group();
  const auto& head = group.stage[0].reg;
  return {head[0], head[1], head[2], group.vd};
}

void VectorCore::issue_first(Cycle now) {
  const LaneGroup& group = lanes_.group();
  const std::array<std::uint8_t, 4> registers = checked_registers();
  for (const std::uint8_t reg : registers)
    if (lanes_.pending(reg)) return hold(now, VectorCycle::kHazard);
  if (group.pm != 0 && !group.compare && lanes_.predicate_pending(now, group.pr)) {
    if (!params_.quirks) return hold(now, VectorCycle::kHazard);
    hit(QuirkId::kV3, now);
  }
  if (params_.quirks)
    for (const std::uint8_t reg : registers)
      if (lanes_.unprotected(reg)) {
        hit(QuirkId::kV6, now);
        break;
      }
  position_ = 0;
  positions_ = static_cast<std::uint16_t>(chunks() * group.depth);
  issue_next(now);
}

void VectorCore::issue_next(Cycle now) {
  const unsigned depth = lanes_.group().depth;
  lanes_.issue(now, position_ / depth, position_ % depth, vl_);
  if (++position_ < positions_) return go(Step::kBeats, now + 1);
  go(Step::kFetch, now + 2);
}

void VectorCore::execute_reduction(Cycle now) {
  const auto kind = static_cast<ReduceKind>(word_.kind);
  if (kind == ReduceKind::kAny || kind == ReduceKind::kAll) return read_predicate(now);
  if (vl_ % kLanes != 0) return fault(now, VectorFault::kRedvl);
  if (mode_ != VectorMode::kTree) return fault(now, VectorFault::kOpcode);
  Reduction& reduction = lanes_.reduction();
  reduction = {kind, static_cast<std::uint8_t>(word_.va), static_cast<std::uint8_t>(word_.vb),
               static_cast<std::uint8_t>(word_.pr), params_.quirks ? last_pm_ : std::uint8_t{0}};
  if (kind == ReduceKind::kExpsum && reduction.pm != 0) hit(QuirkId::kV5, now);
  last_pr_ = reduction.pr;
  lanes_.start_reduction();
  position_ = 0;
  positions_ = static_cast<std::uint16_t>(chunks() * (reduction.halves() ? 2 : 1));
  go(Step::kReduce, now + 1);
}

// ANY and ALL: of predicate bits below VL (section 8). The reference looks at the register that the
// instruction before named.
void VectorCore::read_predicate(Cycle now) {
  const unsigned p = params_.quirks ? last_pr_ : word_.pr;
  if (lanes_.predicate_pending_now(now, p, vl_)) {
    if (!params_.quirks) {
      step_ = Step::kPredicateRead;
      return hold(now, VectorCycle::kHazard);
    }
    hit(QuirkId::kV3, now);
  }
  if (params_.quirks && last_pr_ != word_.pr) hit(QuirkId::kV4, now);
  last_pr_ = static_cast<std::uint8_t>(word_.pr);
  const bool all = static_cast<ReduceKind>(word_.kind) == ReduceKind::kAll;
  bool value = all;
  for (unsigned e = 0; e < vl_; ++e) {
    const bool bit = (lanes_.predicate(p).bits[e / 64] >> (e % 64)) & 1;
    value = all ? value && bit : value || bit;
  }
  s_[word_.vd] = value ? arch::kE8m15One : 0;
  go(Step::kFetch, now + 1);
}

// Raised in `now`; the signal leaves where a completion with `cycles` = now + 2 would (section 12.3).
void VectorCore::fault(Cycle now, VectorFault code) {
  ++faults_;
  report_fault(now, code);
  result_ = static_cast<std::uint32_t>(code);
  faulted_ = true;
  cycles_ = static_cast<std::uint32_t>(now + 2 - started_);
  kernel_cycles_ += cycles_;
  loop_active_ = false;
  go(Step::kDone, now + kFaultToDone);
}

void VectorCore::finish(Cycle now) {
  cycles_ = result_ = static_cast<std::uint32_t>(now + 2 - started_);
  kernel_cycles_ += cycles_;
  go(Step::kDone, now + 3);
}

}  // namespace ktpu::vector
