// SPDX-License-Identifier: Apache-2.0
#include "compiler/cost/vector_core.h"

#include <algorithm>

namespace ktpu::cost {

using arch::VectorInst;
using arch::VectorMode;
using arch::VectorOp;
using arch::VectorOpcode;
using arch::VectorWord;

VectorCore::VectorCore(unsigned index, const UnitCost& cost, Ledger& ledger, Mesh& mesh)
    : index_(index),
      cost_(cost.vector),
      clock_(cost.fabric_per_cycle),
      at_(cost.at),
      ledger_(ledger),
      mesh_(mesh) {
  imem_.fill(arch::decode_vector_word(0));
}

void VectorCore::instruction(Moment accepted, const arch::Flit& flit) {
  queue_.push_back({accepted, arch::unpack<VectorInst>(flit), flit.src(), flit.last()});
  proceed();
}

void VectorCore::wake(Cycles) {}

void VectorCore::retire(Moment done) {
  const Held held = queue_.front();
  queue_.pop_front();
  done_ = done;
  any_ = true;
  ++books_.instructions;
  mesh_.signal(index_, held.last ? Message::Signal::kBatch : Message::Signal::kComplete, held.from,
               spend(done, cost_.signal, Cause::kVectorControl));
}

void VectorCore::describe(const VectorInst& inst) {
  Descriptor& d = descriptors_[inst.ad & 7];
  if (inst.fld == 0) {
    d.base = inst.value;
  } else if (inst.fld <= 4) {
    const auto stride = static_cast<std::uint32_t>(inst.value >> 16 & 0x3FFFF);
    d.stride[inst.fld - 1] = static_cast<std::int32_t>(stride << 14) >> 14;
    d.bound[inst.fld - 1] = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(inst.value & 0xFFFF));
  }
}

// Envelopes, one per three cycles, until a kernel runs (section 12.6).
void VectorCore::proceed() {
  while (!queue_.empty() && !running_) {
    const Held& held = queue_.front();
    Moment v = spend(held.accepted, cost_.visible, Cause::kVectorControl);
    if (any_) v = latest(v, spend(done_, 1, Cause::kVectorControl));
    const Moment executed = spend(v, cost_.envelope, Cause::kVectorControl);
    const VectorInst& inst = held.inst;
    if (inst.is(VectorOp::kRun)) {
      begin(executed, inst.addr & 511);
      continue;
    }
    if (inst.is(VectorOp::kImem)) {
      imem_[inst.addr & 511] = arch::decode_vector_word(inst.word);
      raw_[inst.addr & 511] = inst.word;
    } else if (inst.is(VectorOp::kDesc)) {
      describe(inst);
    }
    retire(executed);
  }
}

void VectorCore::data(Moment accepted, unsigned) {
  outstanding_ = false;
  landed_at_ = spend(accepted, cost_.landed, Cause::kVectorControl);
  landed_ = kernel_cycle(landed_at_);
  if (!waiting_) return;
  waiting_ = false;
  run();
  proceed();
}

// A burst lands in L1 beside the kernel.
void VectorCore::burst(Moment accepted, const PeerBurst& burst) {
  if (!burst.signal) return;
  const bool to_sender = burst.ack.x == 0 && burst.ack.y == 0;
  mesh_.signal(index_, Message::Signal::kDataReceived, to_sender ? burst.from : burst.ack,
               spend(accepted, cost_.data_received, Cause::kVectorControl));
}

unsigned VectorCore::Descriptor::total() const {
  const auto clamp = [](std::uint64_t v) { return std::min<std::uint64_t>(v, 65535); };
  return static_cast<unsigned>(std::min<std::uint64_t>(
      256, clamp(std::uint64_t{bound[0]} * bound[1]) * clamp(std::uint64_t{bound[2]} * bound[3])));
}

// Dimension 0 is innermost; at its last index the walk stands still.
std::uint64_t VectorCore::Walk::next() {
  const std::uint64_t address = address_;
  for (std::size_t dim = 0; dim < 4; ++dim) {
    if (++index_[dim] < d_.bound[dim]) {
      address_ += static_cast<std::uint64_t>(std::int64_t{d_.stride[dim]});
      return address;
    }
    index_[dim] = 0;
    address_ -= static_cast<std::uint64_t>(std::int64_t{d_.stride[dim]} * (std::int64_t{d_.bound[dim]} - 1));
  }
  return address;
}

}  // namespace ktpu::cost
