// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/vector_rig.h"

#include <algorithm>

#include "arch/encoding/payloads.h"
#include "arch/encoding/vector_inst.h"

namespace ktpu::check {

using arch::Flit;
using arch::FlitType;

namespace {
constexpr arch::Coord kHost{0, 0}, kPort{1, 1}, kNode{3, 3};
constexpr Cycle kReadLatency = 4;  // request taken to response offered
constexpr Cycle kQuiet = 200;      // idle before a RUN
constexpr unsigned kSetupTxn = 0x10, kRunTxn = 0x20;
}  // namespace

// Both neighbours of the node in one: what it sends is taken at once, what is for it is offered in order.
class VectorRig::Neighbours final : public sim::Unit {
 public:
  Neighbours(VectorRig& rig) : Unit("neighbours"), rig_(rig) {
    rig.in_.bind_sender(*this);
    rig.out_.bind_receiver(*this);
  }
  std::vector<FlitEvent> sent;
  std::vector<Cycle> accepted;
  std::deque<FlitEvent> queue;  // by the cycle from which each is offered

  void put(Cycle from, const Flit& flit) {
    const auto later = [](Cycle cycle, const FlitEvent& event) { return cycle < event.cycle; };
    queue.insert(std::upper_bound(queue.begin(), queue.end(), from, later), {from, flit});
    if (engine() != nullptr) wake_next();
  }

  void reset(Cycle) override {}
  void drive(Cycle now) override {
    rig_.out_.set_busy(false);
    if (!queue.empty() && queue.front().cycle <= now) {
      if (!offering_) rig_.in_.offer(queue.front().flit);
      offering_ = true;
    } else if (rig_.in_.valid()) {
      rig_.in_.withdraw();
    }
  }
  Cycle clock(Cycle now) override {
    if (rig_.out_.transfers()) take(now, rig_.out_.data());
    if (offering_ && rig_.in_.sample_sent()) {
      accepted.push_back(now);
      queue.pop_front();
      offering_ = false;
    }
    if (offering_ || rig_.in_.valid()) return now + 1;
    return queue.empty() ? sim::kNever : std::max(now + 1, queue.front().cycle);
  }

 private:
  void take(Cycle now, const Flit& flit) {
    sent.push_back({now, flit});
    if (flit.type() == FlitType::kMemRdReq) {
      const auto found = rig_.memory.find(arch::unpack<arch::MemReq>(flit).addr / arch::kWordBytes);
      Flit response = arch::make_flit(flit.src(), kPort, FlitType::kMemRdResp, flit.txn(), true);
      if (found != rig_.memory.end())
        std::copy(found->second.begin(), found->second.end(), response.w.begin());
      last_response_ = std::max(now + kReadLatency, last_response_ + 1);
      put(last_response_, response);
    } else if (flit.type() == FlitType::kMemWrReq) {
      address_ = arch::unpack<arch::MemReq>(flit).addr;
    } else if (flit.type() == FlitType::kMemWrData) {
      std::copy_n(flit.w.begin(), 4, rig_.memory[address_ / arch::kWordBytes].begin());
    }
  }

  VectorRig& rig_;
  bool offering_ = false;
  Cycle last_response_ = 0;
  std::uint64_t address_ = 0;
};

vector::VectorParams VectorRig::recorded_params() {
  vector::VectorParams params;
  params.at = kNode;
  params.memory_port = kPort;
  params.inst_depth = 32;
  params.recv_depth = 64;
  return params;
}

VectorRig::VectorRig(vector::VectorParams params)
    : in_("vector.in", arch::kFlitBits),
      out_("vector.out", arch::kFlitBits),
      core_(std::make_unique<vector::VectorCore>("vector", params, sim::FlitPort{&in_, &out_})),
      neighbours_(std::make_unique<Neighbours>(*this)) {
  engine_.add(*core_);
  engine_.add(*neighbours_);
  engine_.add(in_);
  engine_.add(out_);
  engine_.elaborate();
}
VectorRig::~VectorRig() = default;

void VectorRig::offer(Cycle from, const Flit& flit) { neighbours_->put(from, flit); }

void VectorRig::write_imem(unsigned first, std::span<const std::uint32_t> words) {
  for (const std::uint32_t word : words) {
    arch::VectorInst inst;
    inst.op = static_cast<std::uint32_t>(arch::VectorOp::kImem);
    inst.addr = first++;
    inst.word = word;
    offer(now(),
          arch::make_flit(arch::make_header(core_->params().at, kHost, FlitType::kCuInst, kSetupTxn, false),
                          inst));
  }
}

void VectorRig::write_descriptor(unsigned descriptor, unsigned field, std::uint64_t value) {
  arch::VectorInst inst;
  inst.op = static_cast<std::uint32_t>(arch::VectorOp::kDesc);
  inst.ad = descriptor;
  inst.fld = field;
  inst.value = value;
  offer(now(), arch::make_flit(
                   arch::make_header(core_->params().at, kHost, FlitType::kCuInst, kSetupTxn, false), inst));
}

bool VectorRig::settle(Cycle limit) {
  const Cycle end = engine_.now() + limit;
  while (engine_.now() < end) {
    const Cycle event = engine_.next_event();
    if (event == sim::kNever) return true;
    if (event > engine_.now()) engine_.skip_to(std::min(event, end));
    if (engine_.now() < end) engine_.step();
  }
  return engine_.next_event() == sim::kNever;
}

VectorRig::Result VectorRig::run(unsigned pc, Cycle limit) {
  settle(limit);
  arch::VectorInst inst;
  inst.op = static_cast<std::uint32_t>(arch::VectorOp::kRun);
  inst.addr = pc;
  const Cycle at = now() + kQuiet;
  const std::size_t seen = neighbours_->sent.size();
  offer(at, arch::make_flit(arch::make_header(core_->params().at, kHost, FlitType::kCuInst, kRunTxn, false),
                            inst));
  Result result;
  if (!settle(limit)) return result;
  result.accepted = at;
  for (std::size_t i = seen; i < neighbours_->sent.size(); ++i) {
    const FlitEvent& event = neighbours_->sent[i];
    if (event.flit.type() != FlitType::kCuSignal || event.flit.txn() != kRunTxn) continue;
    const auto signal = arch::unpack<arch::Signal>(event.flit);
    result = {true, signal.code, signal.arg, at, event.cycle};
  }
  return result;
}

const std::vector<FlitEvent>& VectorRig::sent() const { return neighbours_->sent; }

}  // namespace ktpu::check
