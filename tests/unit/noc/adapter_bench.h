// SPDX-License-Identifier: Apache-2.0
// A staging adapter between an endpoint and a router that do as they are told.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "arch/encoding/layout.h"
#include "arch/encoding/payloads.h"
#include "tlm/noc/staging_adapter.h"
#include "tlm/sim/engine.h"
#include "tlm/traffic/link_checker.h"

namespace ktpu::noc::test {

using arch::Flit;
using arch::FlitType;
using sim::Cycle;

struct Crossed {
  Cycle cycle;
  Flit flit;
};

// Offers flits in order, each not before its cycle, and holds each until it is taken.
class Feeder final : public sim::Unit {
 public:
  Feeder(std::string name, sim::FlitLink& link) : Unit(std::move(name)), link_(link) {
    link.bind_sender(*this);
  }
  void push(Cycle at, const Flit& flit) { queue_.push_back({at, flit}); }
  bool done() const { return queue_.empty(); }
  std::vector<Crossed> accepted;

  void reset(Cycle) override {}
  void drive(Cycle now) override {
    if (queue_.empty() || now < queue_.front().cycle) {
      link_.withdraw();
    } else {
      link_.offer(queue_.front().flit);
    }
  }
  Cycle clock(Cycle now) override {
    if (link_.valid() && link_.sample_sent()) {
      accepted.push_back({now, link_.data()});
      queue_.pop_front();
    }
    return now + 1;
  }

 private:
  sim::FlitLink& link_;
  std::deque<Crossed> queue_;
};

class Taker final : public sim::Unit {
 public:
  Taker(std::string name, sim::FlitLink& link, std::function<bool(Cycle)> busy)
      : Unit(std::move(name)), link_(link), busy_(std::move(busy)) {
    link.bind_receiver(*this);
  }
  std::vector<Crossed> taken, offered;
  std::vector<Crossed> taken_of(FlitType type) const {
    std::vector<Crossed> out;
    for (const Crossed& c : taken)
      if (c.flit.type() == type) out.push_back(c);
    return out;
  }
  void reset(Cycle) override {}
  void drive(Cycle now) override { link_.set_busy(busy_(now)); }
  Cycle clock(Cycle now) override {
    if (link_.valid()) offered.push_back({now, link_.data()});
    if (link_.transfers()) taken.push_back({now, link_.data()});
    return now + 1;
  }

 private:
  sim::FlitLink& link_;
  std::function<bool(Cycle)> busy_;
};

inline bool never(Cycle) { return false; }

struct AdapterBench {
  static constexpr arch::Coord kUnit{1, 1}, kPort{0, 1};
  static constexpr std::uint64_t kBase = 0xF000'0000;

  explicit AdapterBench(std::uint32_t lines = 64, std::function<bool(Cycle)> router_busy = never,
                        std::function<bool(Cycle)> unit_busy = never)
      : unit("unit", from_unit),
        router("router", from_router),
        adapter("adapter", {kUnit, lines}, {&to_unit, &from_unit}, {&from_router, &to_router}),
        at_router("at_router", to_router, std::move(router_busy)),
        at_unit("at_unit", to_unit, std::move(unit_busy)) {
    engine.add(adapter);  // before its neighbours: the order must not matter
    for (sim::Unit* u : std::initializer_list<sim::Unit*>{&unit, &router, &at_router, &at_unit})
      engine.add(*u);
    for (sim::FlitLink* link : {&from_unit, &to_unit, &from_router, &to_router}) engine.add(*link);
    checker.watch(to_unit);
    checker.watch(to_router);
    engine.add(checker);
    engine.elaborate();
  }
  ~AdapterBench() {
    if (forgotten_) return;
    EXPECT_EQ(checker.violations(), 0u) << checker.first().front().text;
    EXPECT_EQ(from_unit.transferred() + from_router.transferred() + made(),
              to_unit.transferred() + to_router.transferred() + kept())
        << "flits lost or made up";
  }
  // The window on from cycle 4 on, without asking the fabric.
  void enable(std::uint64_t base = kBase) {
    router.push(0, control(arch::kCtrlWrite, 0xE1, base));
    router.push(2, control(arch::kCtrlWrite, 0xE2, 1));
  }

  static Flit control(unsigned op, unsigned index, std::uint64_t value = 0, unsigned txn = 7) {
    arch::Ctrl ctrl;
    ctrl.op = op;
    ctrl.index = index;
    ctrl.value = value;
    return arch::make_flit(arch::make_header(kUnit, kPort, FlitType::kCuCtrl, txn, true), ctrl);
  }
  static Flit request(FlitType type, const arch::MemReq& fields, unsigned txn, unsigned rsvd = 0) {
    return arch::make_flit(arch::make_header(kPort, kUnit, type, txn, type == FlitType::kMemRdReq, rsvd),
                           fields);
  }
  static Flit read(std::uint64_t line, unsigned words, unsigned txn = 0xA5) {
    arch::MemReq fields;
    fields.addr = kBase + line * 32;
    fields.len = words - 1;
    return request(FlitType::kMemRdReq, fields, txn);
  }
  static Flit stream(std::uint64_t line, unsigned count, unsigned entry_words, unsigned txn = 0x10) {
    arch::MemReq fields;
    fields.addr = kBase + line * 32;
    fields.flags = arch::kMemFlagStream;
    fields.count = count;
    fields.entry_words = entry_words;
    return request(FlitType::kMemRdReq, fields, txn);
  }
  static Flit write(std::uint64_t line, unsigned words, unsigned txn = 2) {
    arch::MemReq fields;
    fields.addr = kBase + line * 32;
    fields.len = words - 1;
    return request(FlitType::kMemWrReq, fields, txn);
  }
  static Flit beat(std::uint64_t value, bool last = false) {
    Flit flit = arch::make_flit(kPort, kUnit, FlitType::kMemWrData, 2, last);
    flit.w[0] = value;
    flit.w[3] = ~value;
    return flit;
  }
  static Flit passing(unsigned value, FlitType type = FlitType::kCuInst) {
    Flit flit = arch::make_flit(kUnit, kPort, type, 0, false);
    flit.w[0] = value;
    return flit;
  }
  // Writes values first, first + 1, ... to `words` lines from `line` on; the first flit at cycle `at`.
  void fill(Cycle at, std::uint64_t line, unsigned words, std::uint64_t first) {
    unit.push(at, write(line, words));
    for (unsigned i = 0; i < words; ++i) unit.push(at, beat(first + i, i + 1 == words));
  }

  // A reset lost flits: no promise holds.
  void forget() { forgotten_ = true; }
  // Of the adapter, without the scope it is in.
  std::uint64_t counter(const std::string& name) { return counters()[name]; }

  sim::FlitLink from_unit{"unit.out", 288}, to_unit{"unit.in", 288}, from_router{"adapter.in", 288},
      to_router{"adapter.out", 288};
  sim::Engine engine;
  traffic::LinkChecker checker;
  Feeder unit, router;
  StagingAdapter adapter;
  Taker at_router, at_unit;

 private:
  bool forgotten_ = false;

  // The adapter's counters, by name.
  class Counters final : public sim::Archive {
   public:
    std::map<std::string, std::uint64_t, std::less<>> values;
    void on_value(std::string_view name, void* value, std::size_t bytes,
                  const sim::ValueInfo& info) override {
      if (bytes == 8 && info.kind == sim::ValueKind::kCounter)
        values[std::string(name)] = *static_cast<std::uint64_t*>(value);
      if (name == "valid" && depth_ == 0) values["valid"] = *static_cast<bool*>(value);
    }
    void on_memory(std::string_view, void*, std::size_t, std::size_t) override {}
    void on_enter(std::string_view) override { ++depth_; }
    void on_leave() override { --depth_; }

   private:
    unsigned depth_ = 0;
  };
  std::map<std::string, std::uint64_t, std::less<>> counters() {
    Counters c;
    adapter.visit(c);
    return c.values;
  }
  std::uint64_t made() { return counter("answers") + counter("replies"); }
  std::uint64_t kept() { return counter("valid") + counter("absorbed") + counter("controls"); }
};

}  // namespace ktpu::noc::test
