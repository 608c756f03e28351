// SPDX-License-Identifier: Apache-2.0
// A vector core in lock-step between an instruction source, a memory and a node that sends peer bursts, all
// with random delays.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "arch/encoding/payloads.h"
#include "arch/encoding/vector_inst.h"
#include "rtl_models/vector/vector_twin.h"
#include "tlm/sim/engine.h"
#include "tlm/sim/lockstep.h"
#include "tlm/vector/vector_core.h"

namespace ktpu::test {

template <class Twin = rtl::VectorTwin>
class VectorBenchOf {
 public:
  enum class Unit : std::uint8_t { kPair, kModel, kTwin };
  struct Params {
    vector::VectorParams core;
    std::uint64_t seed = 1;
    Unit unit = Unit::kPair;
    unsigned busy_percent = 0;    // of the node's output
    unsigned memory_latency = 4;  // shortest
    unsigned memory_spread = 0;   // random part, so that responses come out of order
  };

  explicit VectorBenchOf(const Params& params)
      : params_(params),
        random_(params.seed),
        in_("vector.in", arch::kFlitBits),
        out_("vector.out", arch::kFlitBits) {
    sim::Shadows shadows;
    const sim::FlitPort links{&in_, &out_};
    if (params.unit == Unit::kPair) {
      const sim::FlitPort mirrored = shadows.mirror("mesh", links);
      auto model = std::make_unique<vector::VectorCore>("vector.model", params.core, links);
      auto twin = std::make_unique<Twin>("vector.rtl", params.core, mirrored);
      model_ = model.get();
      auto pair =
          std::make_unique<sim::Lockstep>("vector", std::move(shadows), std::move(model), std::move(twin));
      pair_ = pair.get();
      unit_ = std::move(pair);
    } else if (params.unit == Unit::kModel) {
      unit_ = std::make_unique<vector::VectorCore>("vector", params.core, links);
    } else {
      unit_ = std::make_unique<Twin>("vector", params.core, links);
    }
    neighbours_ = std::make_unique<Neighbours>(*this);
    engine_.add(*unit_);
    engine_.add(*neighbours_);
    engine_.add(in_);
    engine_.add(out_);
    engine_.elaborate();
  }

  using Word = vector::L1Word;
  std::map<std::uint64_t, Word> memory;  // by byte address / 32

  // A flit for the node, after all offered before it.
  void offer(const arch::Flit& flit, sim::Cycle delay = 0) {
    neighbours_->offers.push_back({delay, flit});
    neighbours_->wake();
  }
  void offer_inst(const arch::VectorInst& inst, unsigned txn = 0x10, bool last = false) {
    offer(
        arch::make_flit(arch::make_header(params_.core.at, kHost, arch::FlitType::kCuInst, txn, last), inst));
  }
  void imem(unsigned first, std::span<const std::uint32_t> words) {
    for (const std::uint32_t word : words) {
      arch::VectorInst inst;
      inst.op = static_cast<std::uint32_t>(arch::VectorOp::kImem);
      inst.addr = first++ % 512;
      inst.word = word;
      offer_inst(inst);
    }
  }
  void descriptor(unsigned ad, unsigned field, std::uint64_t value) {
    arch::VectorInst inst;
    inst.op = static_cast<std::uint32_t>(arch::VectorOp::kDesc);
    inst.ad = ad;
    inst.fld = field;
    inst.value = value;
    offer_inst(inst);
  }
  void start(unsigned pc, bool last = false) {
    arch::VectorInst inst;
    inst.op = static_cast<std::uint32_t>(arch::VectorOp::kRun);
    inst.addr = pc;
    offer_inst(inst, 0x20, last);
  }
  void control(unsigned index, unsigned txn) {
    arch::Ctrl ctrl;
    ctrl.index = index;
    offer(
        arch::make_flit(arch::make_header(params_.core.at, kHost, arch::FlitType::kCuCtrl, txn, true), ctrl),
        random_() % 30);
  }
  // `len`: data flits.
  void burst(arch::Coord from, unsigned buf, unsigned offset, unsigned len, bool signal, arch::Coord ack,
             bool mixed = false) {
    arch::CuDataDesc desc;
    desc.buf_id = buf;
    desc.offset = offset;
    desc.len = len - 1;
    desc.flags = signal ? 1 : 0;
    desc.ack_x = ack.x;
    desc.ack_y = ack.y;
    offer(arch::make_flit(arch::make_header(params_.core.at, from, arch::FlitType::kCuData, 0, false), desc));
    for (unsigned i = 0; i < len; ++i) {
      arch::Flit data = arch::make_flit(params_.core.at, mixed && i == len / 2 ? kHost : from,
                                        arch::FlitType::kCuData, 0, i + 1 == len);
      for (unsigned w = 0; w < 4; ++w) data.w[w] = random_();
      offer(data, random_() % 4 == 0 ? random_() % 12 : 0);
    }
  }

  // Until everything offered was taken and nothing moves, or `limit` cycles more. Returns whether it came to
  // rest.
  bool settle(sim::Cycle limit) {
    const sim::Cycle end = engine_.now() + limit;
    while (engine_.now() < end) {
      const sim::Cycle event = engine_.next_event();
      if (event == sim::kNever) return true;
      if (event > engine_.now()) engine_.skip_to(std::min(event, end));
      if (engine_.now() < end) engine_.step();
    }
    return engine_.next_event() == sim::kNever;
  }

  vector::VectorCore& model() { return *model_; }
  sim::Lockstep& pair() { return *pair_; }
  Twin& twin() { return static_cast<Twin&>(pair_->twin()); }
  sim::Cycle now() const { return engine_.now(); }
  struct Event {
    sim::Cycle cycle;
    arch::Flit flit;
  };
  const std::vector<Event>& events() const { return neighbours_->events; }  // what the node sent
  std::uint64_t sent() const { return events().size(); }
  // Nobody offers anything for `cycles`.
  void pause(sim::Cycle cycles) {
    const sim::Cycle end = engine_.now() + cycles;
    engine_.skip_to(end);
  }
  std::uint64_t faults() const { return neighbours_->faults; }
  std::mt19937_64& random() { return random_; }

  static constexpr arch::Coord kHost{0, 0}, kPort{1, 1}, kNode{3, 3};
  static vector::VectorParams core_params(bool quirks) {
    vector::VectorParams core;
    core.at = kNode;
    core.memory_port = kPort;
    core.inst_depth = 32;
    core.recv_depth = 64;
    core.quirks = quirks;
    return core;
  }

 private:
  struct Offer {
    sim::Cycle delay;
    arch::Flit flit;
  };
  // Sends the queued flits and the responses of the memory, takes what the node sends.
  class Neighbours final : public sim::Unit {
   public:
    explicit Neighbours(VectorBenchOf& bench) : Unit("neighbours"), bench_(bench) {
      bench.in_.bind_sender(*this);
      bench.out_.bind_receiver(*this);
    }
    std::deque<Offer> offers;
    std::vector<Event> events;
    std::uint64_t faults = 0;
    void wake() {
      if (engine() != nullptr) wake_next();
    }

    void reset(sim::Cycle) override {}
    void drive(sim::Cycle now) override {
      bench_.out_.set_busy(bench_.random_() % 100 < bench_.params_.busy_percent);
      if (offering_) return;
      const arch::Flit* flit = nullptr;
      if (!responses_.empty() && responses_.begin()->first <= now &&
          (offers.empty() || bench_.random_() % 2)) {
        held_ = responses_.begin()->second;
        responses_.erase(responses_.begin());
        flit = &held_;
      } else if (!offers.empty() && from_ <= now) {
        held_ = offers.front().flit;
        offers.pop_front();
        from_ = now + (offers.empty() ? 0 : offers.front().delay);
        flit = &held_;
      }
      if (flit != nullptr) {
        bench_.in_.offer(*flit);
        offering_ = true;
      } else if (bench_.in_.valid()) {
        bench_.in_.withdraw();
      }
    }
    sim::Cycle clock(sim::Cycle now) override {
      if (bench_.out_.transfers()) take(now, bench_.out_.data());
      if (offering_ && bench_.in_.sample_sent()) offering_ = false;
      const bool waiting = bench_.out_.valid() || bench_.out_.busy();
      if (offering_ || bench_.in_.valid() || !offers.empty() || waiting) return now + 1;
      return responses_.empty() ? sim::kNever : std::max(now + 1, responses_.begin()->first);
    }

   private:
    void take(sim::Cycle now, const arch::Flit& flit) {
      events.push_back({now, flit});
      if (flit.type() == arch::FlitType::kCuSignal) {
        faults += arch::unpack<arch::Signal>(flit).code == 4;
      } else if (flit.type() == arch::FlitType::kMemRdReq) {
        const auto found = bench_.memory.find(arch::unpack<arch::MemReq>(flit).addr / arch::kWordBytes);
        arch::Flit response =
            arch::make_flit(flit.src(), kPort, arch::FlitType::kMemRdResp, flit.txn(), true);
        if (found != bench_.memory.end())
          std::copy(found->second.begin(), found->second.end(), response.w.begin());
        const unsigned spread = bench_.params_.memory_spread;
        responses_.emplace(now + bench_.params_.memory_latency + (spread ? bench_.random_() % spread : 0),
                           response);
      } else if (flit.type() == arch::FlitType::kMemWrReq) {
        address_ = arch::unpack<arch::MemReq>(flit).addr;
      } else if (flit.type() == arch::FlitType::kMemWrData) {
        std::copy_n(flit.w.begin(), 4, bench_.memory[address_ / arch::kWordBytes].begin());
      }
    }

    VectorBenchOf& bench_;
    bool offering_ = false;
    sim::Cycle from_ = 0;
    std::uint64_t address_ = 0;
    arch::Flit held_{};
    std::multimap<sim::Cycle, arch::Flit> responses_;
  };

  Params params_;
  std::mt19937_64 random_;
  sim::FlitLink in_, out_;
  sim::Engine engine_;
  vector::VectorCore* model_ = nullptr;
  sim::Lockstep* pair_ = nullptr;
  std::unique_ptr<sim::Unit> unit_;
  std::unique_ptr<Neighbours> neighbours_;
};

using VectorBench = VectorBenchOf<>;

}  // namespace ktpu::test
