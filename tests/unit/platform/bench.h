// SPDX-License-Identifier: Apache-2.0
// Whole machines without SystemC: shipped topologies, a host that performs literal accesses, and a record of
// what crosses chosen links.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "arch/encoding/registers.h"
#include "tlm/platform/runner.h"
#include "tlm/platform/system.h"
#include "topologies/reader.h"

namespace ktpu::platform::test {

using arch::Coord;
using arch::Flit;
using arch::FlitType;
using sim::Cycle;
namespace reg = arch::agent;

inline const Registry& models() {
  static const Registry registry = [] {
    Registry r;
    register_models(r);
    return r;
  }();
  return registry;
}
inline std::unique_ptr<System> make_system(const std::string& topology, const topo::Overrides& sets = {}) {
  return std::make_unique<System>(topo::read_file(topology, sets), models());
}

// Performs accesses in the two-slave address map (bit 28: control agent) one after the other.
class LiteralHost final : public orchestrator::HostScript {
 public:
  struct Read {
    Cycle data;  // cycle in which the data was there
    std::uint64_t value;
  };
  void write(std::uint64_t address, std::uint64_t data) { queue_.push_back({Op::kWrite, address, data, 0}); }
  void poll(std::uint64_t address, std::uint64_t mask, std::uint64_t want) {
    queue_.push_back({Op::kPoll, address, want, mask});
  }
  void read(std::uint64_t address) { queue_.push_back({Op::kRead, address, 0, 0}); }
  // Waits for `cycles` cycles without a DRAM handshake.
  void quiet(std::uint32_t cycles) { queue_.push_back({Op::kQuiet, 0, cycles, 0}); }

  bool stay = false;  // idle instead of done when there is nothing left: another script may follow
  bool empty() const { return queue_.empty(); }
  std::vector<Read> reads;               // of read(), in order
  std::map<std::uint64_t, Cycle> first;  // address to the cycle of the first access's address
  std::uint64_t writes = 0;

  orchestrator::HostAction next(Cycle now) override {
    using Kind = orchestrator::HostAction::Kind;
    if (queue_.empty()) return {stay ? Kind::kIdle : Kind::kDone, 0, 0, 0, 0, 0};
    const Op op = queue_.front();
    if (op.kind == Op::kQuiet) {
      queue_.pop_front();
      return {Kind::kQuiet, 0, 0, 0, 0, static_cast<std::uint32_t>(op.data)};
    }
    first.try_emplace(op.address, now);
    const auto bus = static_cast<std::uint8_t>(op.address >> 28 & 1 ? 0 : 1);
    const auto offset = static_cast<std::uint32_t>(op.address & 0xFFFF);
    if (op.kind != Op::kWrite) return {Kind::kRead, bus, offset, 0, 0, 0};
    queue_.pop_front();
    ++writes;
    return {Kind::kWrite, bus, offset, op.data, 0, 0};
  }
  void read_data(Cycle now, std::uint64_t value) override {
    const Op op = queue_.front();
    if (op.kind == Op::kPoll && (value & op.mask) != op.data) return;
    if (op.kind == Op::kRead) reads.push_back({now, value});
    queue_.pop_front();
  }
  std::string waiting_for() const override { return queue_.empty() ? "" : "the literal host"; }

 private:
  struct Op {
    enum { kWrite, kPoll, kRead, kQuiet } kind;
    std::uint64_t address, data, mask;
  };
  std::deque<Op> queue_;
};

// Every flit that crosses the watched links, with its cycle.
class LinkLog final : public sim::Observer {
 public:
  struct Seen {
    Cycle cycle;
    Flit flit;
  };
  LinkLog(System& system, const std::vector<std::string>& names) : system_(system) {
    for (const std::string& name : names) {
      auto* link = dynamic_cast<sim::FlitLink*>(system.link(name));
      if (link == nullptr) throw std::runtime_error("no flit link " + name);
      links_.push_back(link);
    }
    system.engine().add(*this);
  }
  ~LinkLog() override { system_.engine().remove(*this); }
  void on_cycle(Cycle now) override {
    for (sim::FlitLink* link : links_)
      if (link->transfers()) seen[link->name()].push_back({now, link->data()});
  }
  std::vector<Seen> of(const std::string& link, FlitType type) const {
    std::vector<Seen> out;
    if (const auto it = seen.find(link); it != seen.end())
      for (const Seen& s : it->second)
        if (s.flit.type() == type) out.push_back(s);
    return out;
  }
  std::map<std::string, std::vector<Seen>> seen;

 private:
  System& system_;
  std::vector<sim::FlitLink*> links_;
};

// Runs until the host is done and nothing moves any more. False: still busy at `limit`.
inline bool run_dry(System& system, Cycle limit = 1'000'000) {
  while (!(system.host()->done() && system.drained())) {
    if (system.engine().now() >= limit) return false;
    system.engine().run_until(system.engine().now() + 1);
  }
  return true;
}

// Performs the accesses of `host`, which stays, and lets the machine come to rest.
inline void perform(System& system, LiteralHost& host, Cycle limit = 100'000) {
  host.stay = true;
  system.host()->set_script(&host);
  system.host()->poke();
  const Cycle end = system.engine().now() + limit;
  do {
    system.engine().run_until(system.engine().now() + 1);
    ASSERT_LT(system.engine().now(), end) << "the host is stuck";
  } while (!host.empty() || !system.drained());
  system.engine().run_until(system.engine().now() + 10);  // what arrived last becomes readable
}

inline std::uint64_t peek(System& system, std::uint32_t offset) {
  return system.mesh().control_agent->peek(offset, system.engine().now());
}

}  // namespace ktpu::platform::test
