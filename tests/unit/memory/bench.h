// SPDX-License-Identifier: Apache-2.0
// A memory agent on the bench: every port has a scripted sender and a recording receiver, the DRAM a probe.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "arch/encoding/payloads.h"
#include "arch/flit.h"
#include "tlm/memory/memory_agent.h"
#include "tlm/memory/simple_dram.h"
#include "tlm/sim/engine.h"

namespace ktpu::memory::test {

using arch::Coord;
using arch::Flit;
using arch::FlitType;
using sim::Cycle;

struct Seen {
  Cycle cycle;
  Flit flit;
  bool operator==(const Seen&) const = default;
};

// Offers flits in order, each from its cycle on, and keeps it until taken; records the acceptances.
class Sender final : public sim::Unit {
 public:
  explicit Sender(std::string name, sim::FlitLink& link) : Unit(std::move(name)), link_(link) {
    link.bind_sender(*this);
  }
  void send(Cycle from, const Flit& flit) {
    queue_.push_back({from, flit});
    if (running_) wake_next();
  }
  std::size_t unsent() const { return queue_.size(); }
  std::vector<Seen> accepted;

  void reset(Cycle) override {
    running_ = true;
    offering_ = false;
  }
  void drive(Cycle now) override {
    if (!queue_.empty() && queue_.front().cycle <= now) {
      if (!offering_) link_.offer(queue_.front().flit);
      offering_ = true;
    } else if (offering_) {
      link_.withdraw();
      offering_ = false;
    }
  }
  Cycle clock(Cycle now) override {
    if (offering_ && link_.sample_sent()) {
      accepted.push_back({now, queue_.front().flit});
      queue_.pop_front();
      if (!queue_.empty() && queue_.front().cycle <= now + 1) offering_ = false;  // another flit: offer it
      return now + 1;
    }
    if (offering_) return now + 1;
    return queue_.empty() ? sim::kNever : std::max(now + 1, queue_.front().cycle);
  }

 private:
  sim::FlitLink& link_;
  std::deque<Seen> queue_;
  bool offering_ = false;
  bool running_ = false;
};

// Takes flits in the cycles in which `busy(cycle)` is false.
class Receiver final : public sim::Unit {
 public:
  Receiver(std::string name, sim::FlitLink& link) : Unit(std::move(name)), link_(link) {
    link.bind_receiver(*this);
  }
  std::function<bool(Cycle)> busy;
  std::vector<Seen> first_shown;  // with the cycle in which each flit first appeared on the wires
  std::vector<Seen> taken;

  void reset(Cycle) override { shown_ = false; }
  void drive(Cycle now) override { link_.set_busy(busy && busy(now)); }
  Cycle clock(Cycle now) override {
    if (link_.valid()) {
      if (!shown_) first_shown.push_back({now, link_.data()});
      shown_ = link_.busy();
      if (!link_.busy()) taken.push_back({now, link_.data()});
    }
    return busy ? now + 1 : sim::kNever;
  }

 private:
  sim::FlitLink& link_;
  bool shown_ = false;
};

struct BusLog final : MemoryProbe {
  struct Event {
    Cycle cycle;
    unsigned id;
    std::uint64_t addr;
    std::uint32_t beats;
    bool operator==(const Event&) const = default;
  };
  std::vector<Event> ar, r, aw, w, b;
  void on_read_address(Cycle now, const DramAddress& a) override {
    ar.push_back({now, a.id, a.addr, a.beats});
  }
  void on_read_beat(Cycle now, unsigned id, bool) override { r.push_back({now, id, 0, 0}); }
  void on_write_address(Cycle now, const DramAddress& a) override {
    aw.push_back({now, a.id, a.addr, a.beats});
  }
  void on_write_beat(Cycle now, const DramWriteBeat& beat) override {
    w.push_back({now, beat.lanes, 0, beat.last});
  }
  void on_write_response(Cycle now, unsigned id) override { b.push_back({now, id, 0, 0}); }
};

// The counters of a unit by name.
class CounterArchive final : public sim::Archive {
 public:
  explicit CounterArchive(sim::Unit& unit) { unit.visit(*this); }
  std::uint64_t at(const std::string& name) const { return counters_.at(name); }

 protected:
  void on_value(std::string_view name, void* value, std::size_t, const sim::ValueInfo& info) override {
    if (info.kind != sim::ValueKind::kCounter) return;
    std::string path;
    for (const std::string& scope : scopes_) path += scope + ".";
    counters_[path + std::string(name)] = *static_cast<const std::uint64_t*>(value);
  }
  void on_memory(std::string_view, void*, std::size_t, std::size_t) override {}
  void on_enter(std::string_view scope) override { scopes_.emplace_back(scope); }
  void on_leave() override { scopes_.pop_back(); }

 private:
  std::vector<std::string> scopes_;
  std::map<std::string, std::uint64_t> counters_;
};

struct BenchConfig {
  unsigned bus_bits = 256;
  SimpleDramParams dram;
  MemoryAgentConfig agent{{{0, 1}}, 0, false, 1};
  SparseMemoryConfig memory{0, 1ull << 36, false};
};

class Bench {
 public:
  explicit Bench(BenchConfig config = {}, std::function<std::unique_ptr<DramDevice>(SparseMemory&)> make = {})
      : memory(config.memory),
        dram(make ? make(memory) : std::make_unique<SimpleDram>(memory, config.dram, config.bus_bits)),
        agent("memory", config.agent, *dram) {
    agent.set_probe(&bus);
    engine.add(agent);
    for (unsigned p = 0; p < config.agent.ports.size(); ++p) {
      links_.push_back(std::make_unique<sim::FlitLink>("in" + std::to_string(p), arch::kFlitBits));
      links_.push_back(std::make_unique<sim::FlitLink>("out" + std::to_string(p), arch::kFlitBits));
      sim::FlitLink& in = *links_[2 * p];
      sim::FlitLink& out = *links_[2 * p + 1];
      agent.bind_port(p, {&in, &out});
      senders.push_back(std::make_unique<Sender>("sender" + std::to_string(p), in));
      receivers.push_back(std::make_unique<Receiver>("receiver" + std::to_string(p), out));
      engine.add(in);
      engine.add(out);
      engine.add(*senders.back());
      engine.add(*receivers.back());
    }
  }
  Sender& sender(unsigned p = 0) { return *senders[p]; }
  Receiver& receiver(unsigned p = 0) { return *receivers[p]; }
  const std::vector<Seen>& out(unsigned p = 0) { return receivers[p]->taken; }
  void start() { engine.elaborate(); }
  void run(Cycle cycles) {
    if (!started_) start();
    started_ = true;
    engine.run_until(engine.now() + cycles);
  }
  std::vector<Cycle> out_cycles(unsigned p = 0) {
    std::vector<Cycle> cycles;
    for (const Seen& seen : receivers[p]->first_shown) cycles.push_back(seen.cycle);
    return cycles;
  }

  sim::Engine engine;
  SparseMemory memory;
  std::unique_ptr<DramDevice> dram;
  MemoryAgent agent;
  BusLog bus;
  std::vector<std::unique_ptr<Sender>> senders;
  std::vector<std::unique_ptr<Receiver>> receivers;

 private:
  std::vector<std::unique_ptr<sim::FlitLink>> links_;
  bool started_ = false;
};

inline std::vector<Cycle> cycles_of(const std::vector<BusLog::Event>& events) {
  std::vector<Cycle> cycles;
  for (const auto& e : events) cycles.push_back(e.cycle);
  return cycles;
}

inline constexpr Coord kPort{0, 1};
inline constexpr Coord kNode{1, 1};

inline Flit read_request(const arch::MemReq& request, Coord src = kNode, unsigned txn = 0,
                         Coord port = kPort) {
  return arch::make_flit(arch::make_header(port, src, FlitType::kMemRdReq, txn, true), request);
}
inline Flit write_request(std::uint64_t addr, unsigned beats, Coord src = kNode, unsigned txn = 0,
                          Coord port = kPort) {
  arch::MemReq request;
  request.addr = addr;
  request.len = beats - 1;
  return arch::make_flit(arch::make_header(port, src, FlitType::kMemWrReq, txn, false), request);
}
inline Flit write_data(std::uint64_t value, bool last, Coord src = kNode, Coord port = kPort) {
  Flit flit = arch::make_flit(port, src, FlitType::kMemWrData, 0, last);
  for (unsigned i = 0; i < 4; ++i) flit.w[i] = value * 4 + i;
  return flit;
}
inline arch::MemReq raw_entries(std::uint64_t addr, unsigned count, unsigned words) {
  arch::MemReq request;
  request.addr = addr;
  request.flags = arch::kMemFlagStream;
  request.count = count;
  request.entry_words = words;
  return request;
}
inline arch::MemReq quant_entries(std::uint64_t addr, unsigned count, bool b_layout = false) {
  arch::MemReq request;
  request.addr = addr;
  request.flags = arch::kMemFlagStream | arch::kMemFlagQuant | (b_layout ? arch::kMemFlagBLayout : 0);
  request.count = count;
  return request;
}
inline arch::MemReq plain_read(std::uint64_t addr, unsigned words) {
  arch::MemReq request;
  request.addr = addr;
  request.len = words - 1;
  return request;
}
// Words 0, 1, 2, .. of memory: quarter i of word n is 4n + i + seed.
inline void fill_words(SparseMemory& memory, std::uint64_t addr, unsigned words, std::uint64_t seed = 0) {
  for (unsigned n = 0; n < words; ++n) {
    std::uint64_t w[4];
    for (unsigned i = 0; i < 4; ++i) w[i] = seed + 4 * n + i;
    memory.write(addr + 32ull * n, {reinterpret_cast<const std::uint8_t*>(w), 32});
  }
}

}  // namespace ktpu::memory::test
