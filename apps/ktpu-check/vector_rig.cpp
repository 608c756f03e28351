// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/vector_rig.h"

#include <algorithm>

#include "apps/ktpu-check/implementations.h"
#include "arch/encoding/payloads.h"
#include "arch/encoding/vector_inst.h"
#include "arch/error.h"
#include "tlm/platform/model_params.h"

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

topo::Node VectorRig::recorded_node() {
  topo::VectorCore sizes;
  sizes.inst_depth = 32;
  sizes.recv_depth = 64;
  topo::Node node;
  node.at = kNode;
  node.params = sizes;
  return node;
}

namespace {

// What a machine with nothing else would tell the node's constructor.
template <typename F>
auto in_empty_mesh(const topo::Node& node, sim::FlitPort links, F&& f) {
  const topo::Mesh mesh;
  return f(platform::EndpointContext{"vector", mesh, node, links, kPort});
}

std::unique_ptr<sim::Unit> recorded_core(sim::FlitPort links) {
  const topo::Node node = VectorRig::recorded_node();
  const topo::Impl impl = implementation_of(node, std::string(topo::kind_short(node.kind())));
  return in_empty_mesh(node, links, all_units().endpoint(node.kind(), impl, "vector"));
}

}  // namespace

vector::VectorParams VectorRig::recorded_params() {
  return in_empty_mesh(recorded_node(), {}, platform::vector_params);
}

VectorRig::VectorRig() : VectorRig(recorded_params(), recorded_core) {}

VectorRig::VectorRig(vector::VectorParams params)
    : VectorRig(params, [&params](sim::FlitPort links) {
        return std::make_unique<vector::VectorCore>("vector", params, links);
      }) {}

VectorRig::VectorRig(const vector::VectorParams& params, const MakeCore& make)
    : in_("vector.in", arch::kFlitBits),
      out_("vector.out", arch::kFlitBits),
      params_(params),
      core_(make({&in_, &out_})),
      neighbours_(std::make_unique<Neighbours>(*this)) {
  engine_.add(*core_);
  engine_.add(*neighbours_);
  engine_.add(in_);
  engine_.add(out_);
  engine_.elaborate();
}

vector::VectorCore& VectorRig::core() {
  auto* model = dynamic_cast<vector::VectorCore*>(core_.get());
  KTPU_CHECK(model != nullptr, "no model stands in the rig");
  return *model;
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
          arch::make_flit(arch::make_header(params_.at, kHost, FlitType::kCuInst, kSetupTxn, false), inst));
  }
}

void VectorRig::write_descriptor(unsigned descriptor, unsigned field, std::uint64_t value) {
  arch::VectorInst inst;
  inst.op = static_cast<std::uint32_t>(arch::VectorOp::kDesc);
  inst.ad = descriptor;
  inst.fld = field;
  inst.value = value;
  offer(now(),
        arch::make_flit(arch::make_header(params_.at, kHost, FlitType::kCuInst, kSetupTxn, false), inst));
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
  offer(at, arch::make_flit(arch::make_header(params_.at, kHost, FlitType::kCuInst, kRunTxn, false), inst));
  Result result;
  const bool rests = settle(limit);
  note_compared(engine_);
  if (!rests) return result;
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
