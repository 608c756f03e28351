// SPDX-License-Identifier: Apache-2.0
// The node around the sequencer: envelopes, the receive FIFO, the way out.
#include "tlm/vector/vector_core.h"

#include <algorithm>
#include <bit>

#include "arch/encoding/vector_inst.h"
#include "arch/error.h"

namespace ktpu::vector {

namespace {
noc::EndpointParams endpoint(const VectorParams& p) {
  noc::EndpointParams e;
  e.at = p.at;
  e.caps = arch::make_cu_caps(arch::UnitType::kVectorCore, 4, 2, p.inst_depth);  // vector.md section 2.5
  e.inst_depth = p.inst_depth;
  e.recv_depth = p.recv_depth;
  return e;
}
constexpr std::array<std::uint32_t, 4> kConstants{0, arch::kE8m15One, arch::kE8m15One | arch::kE8m15Sign, 0};
}  // namespace

VectorCore::VectorCore(std::string name, const VectorParams& params, sim::FlitPort links)
    : Unit(std::move(name)),
      params_(params),
      base_(endpoint(params), links, *this),
      lanes_(params.quirks),
      l1_(params.at, params.l1_words) {
  if (!std::has_single_bit(params.l1_words) || params.l1_words > kL1Words)
    throw arch::UserError::make("{}: l1_words is {}; it must be a power of two up to {}", Unit::name(),
                                params.l1_words, kL1Words);
  base_.report_to(&misuse_);
  decode_all();
}

void VectorCore::decode_all() {
  for (unsigned i = 0; i < kWords; ++i) decoded_[i] = arch::decode_vector_word(imem_[i]);
}

// Section 1: what a reset sets, and what it leaves.
void VectorCore::reset(Cycle start) {
  base_.reset(start);
  lanes_.reset();
  l1_.reset();
  slot_.reset();
  descriptors_ = {};
  k_ = kConstants;
  vl_ = kMaxLength;
  mode_ = arch::VectorMode::kFlat;
  entered_ = running_ = faulted_ = loop_active_ = high_half_ = false;
  held_.reset();
  result_ = cycles_ = loop_count_ = 0;
  go(Step::kIdle, sim::kNever, VectorCycle::kIdle);
  pc_ = word_pc_ = loop_top_ = loop_end_ = position_ = positions_ = 0;
  last_pr_ = last_pm_ = 0;
  walk_steps_at_.fill(sim::kNever);
  walk_.reset();
  cycle_states_.reset(start);
  imem_writes_ = desc_writes_ = runs_ = unknown_ = faults_ = instructions_ = words_moved_ = 0;
  fills_ = drains_ = fill_words_ = drain_words_ = kernel_cycles_ = 0;
}

Cycle VectorCore::clock(Cycle now) {
  base_.begin(now, cycle_counter(now));
  // Order: what looks at this cycle's registers, then what changes them.
  const bool slot_was_free = slot_.free();
  bool taken = false;
  if (const arch::Flit* flit = slot_.flit(); flit != nullptr && base_.send_ready()) {
    base_.send(*flit);
    taken = true;
  }
  const bool pops = base_.recv_valid() && l1_.can_take();
  slot_.clock(taken);
  // An acknowledgement takes the slot before the core's requests.
  bool ack_sent = false;
  if (slot_was_free && l1_.ack() != nullptr) {
    slot_.load(*l1_.ack());
    ack_sent = true;
  }
  slot_open_ = slot_was_free && !ack_sent;
  if (at_ <= now) run_sequencer(now);
  take_instruction(now);
  lanes_.clock(now);
  if (lanes_.wrapped()) note_wrapped();
  l1_.clock(ack_sent);
  if (pops) {
    const Scratchpad::Effect effect = l1_.take(base_.recv());
    if (effect == Scratchpad::Effect::kRejected || effect == Scratchpad::Effect::kInterleaved)
      report_burst(now, effect);
    base_.pop_recv();
  }
  const Cycle base_wake = base_.end(now);
  cycle_states_.enter(now + 1, between_);
  return wake(now, base_wake);
}

// CU_CTRL register 3. The result is known before the cycles it counts are over (sections 2.5 and 12.3).
std::uint32_t VectorCore::cycle_counter(Cycle now) const {
  if (!running_ || now < started_) return cycles_;
  const auto run = static_cast<std::uint32_t>(now - started_);
  return step_ == Step::kDone ? std::min(run, cycles_) : run;
}

// An envelope visible in v is accepted in v+1 and retires in v+2; a kernel's cycle 0 is v+2 (section 12.6).
void VectorCore::take_instruction(Cycle now) {
  if (step_ != Step::kIdle) return;
  if (!entered_) {
    entered_ = base_.inst_valid();
    return;
  }
  entered_ = false;
  base_.accept_inst();
  const auto inst = arch::unpack<arch::VectorInst>(base_.inst());
  running_ = inst.is(arch::VectorOp::kRun);
  if (running_) {
    ++runs_;
    start_kernel(now, inst.addr % kWords);
    return;
  }
  result_ = 0;
  faulted_ = false;
  go(Step::kDone, now + 1);
  if (inst.is(arch::VectorOp::kImem)) {
    imem_[inst.addr % kWords] = inst.word;
    decoded_[inst.addr % kWords] = arch::decode_vector_word(inst.word);
    ++imem_writes_;
  } else if (inst.is(arch::VectorOp::kDesc)) {
    Descriptor& d = descriptors_[inst.ad % 8];
    if (inst.fld == 0) {
      d.base = inst.value & Descriptor::kAddressMask;
    } else if (inst.fld <= kDimensions) {
      // Section 2.1: stride = value[33:16], signed; bound = value[15:0].
      d.stride[inst.fld - 1] =
          static_cast<std::int32_t>(static_cast<std::uint32_t>(inst.value >> 16) << 14) >> 14;
      d.bound[inst.fld - 1] = static_cast<std::uint32_t>(inst.value & 0xFFFF);
    }
    ++desc_writes_;
  } else {
    ++unknown_;
  }
}

Cycle VectorCore::wake(Cycle now, Cycle base_wake) const {
  if (entered_ || slot_.active() || l1_.active() || l1_.ack() != nullptr) return now + 1;
  Cycle next = std::min(base_wake, lanes_.wake());
  if (at_ != sim::kNever) next = std::min(next, at_);
  if (base_.recv_head() != nullptr) next = std::min(next, base_.recv_from());
  return next == sim::kNever ? next : std::max(next, now + 1);
}

void VectorCore::sync(Cycle now) {
  base_.sync(now);
  cycle_states_.sync(now);
}

bool VectorCore::idle() const {
  return step_ == Step::kIdle && !entered_ && base_.idle() && !slot_.active() && !l1_.active() &&
         l1_.ack() == nullptr && !l1_.stream();
}

}  // namespace ktpu::vector
