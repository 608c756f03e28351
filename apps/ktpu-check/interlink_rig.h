// SPDX-License-Identifier: Apache-2.0
// The machine of cycles_interlink.jsonl: three memory agents of one port each, meshes 0, 1, 3 of the chain,
// with their interlinks and a DRAM each, no routers (vectors/rtl/README.md).
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "apps/ktpu-check/logs.h"
#include "tlm/memory/interlink/beat.h"
#include "tlm/memory/memory_agent.h"
#include "tlm/memory/simple_dram.h"
#include "tlm/platform/memory_stand.h"
#include "tlm/sim/engine.h"

namespace ktpu::check {

inline constexpr arch::Coord kLinkPort{0, 1};    // memory port of every mesh
inline constexpr arch::Coord kLinkSource{1, 1};  // sender of the flits

// Offers flits one after the other, each from its cycle on.
class FlitSource final : public sim::Unit {
 public:
  FlitSource(std::string name, sim::FlitLink& link);
  void offer(Cycle from, const arch::Flit& flit);
  std::vector<FlitEvent> accepted;

  void reset(Cycle) override {
    running_ = true;
    offering_ = false;
  }
  void drive(Cycle now) override;
  Cycle clock(Cycle now) override;

 private:
  sim::FlitLink& link_;
  std::deque<FlitEvent> queue_;
  bool offering_ = false;
  bool running_ = false;  // elaborated
};

// Takes flits unless it is busy for good; with `back`, gives each to that source `delay` cycles later.
class FlitSink final : public sim::Unit {
 public:
  FlitSink(std::string name, sim::FlitLink& link);
  bool busy = false;
  FlitSource* back = nullptr;
  Cycle delay = 0;
  std::vector<FlitEvent> taken;

  void reset(Cycle) override {}
  void drive(Cycle) override { link_.set_busy(busy); }
  Cycle clock(Cycle now) override;

 private:
  sim::FlitLink& link_;
};

class InterlinkRig final : public sim::Observer {
 public:
  InterlinkRig();
  ~InterlinkRig() override;

  // A register write that reaches mover or interlink of a mesh in `at`.
  void write(unsigned mesh, Cycle at, std::uint32_t offset, std::uint64_t data);
  // Runs until nothing moves any more, or `limit`.
  void run(Cycle limit = 100'000);

  struct Node;
  Node& mesh(unsigned id) { return *nodes_.at(id); }
  void on_cycle(Cycle now) override;

 private:
  std::map<unsigned, std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<memory::BeatLink>> links_;
  std::vector<std::unique_ptr<sim::Unit>> units_;
  sim::Engine engine_;
};

// The control agent's place: register writes in given cycles.
class RegisterWriter final : public memory::AgentClient {
 public:
  struct Write {
    Cycle at;
    std::uint32_t offset;
    std::uint64_t data;
  };
  std::deque<Write> writes;  // in the order of their cycles
  memory::AuxWindow* window = nullptr;

  void reset(Cycle) override {}
  const arch::Flit* out() const override { return nullptr; }
  void drive(Cycle) override {}
  bool offer(Cycle, const arch::Flit&) override { return true; }
  Cycle clock(Cycle now, bool out_taken) override;
  void visit(sim::Archive&) override {}
  std::vector<sim::Wait> waits(Cycle) const override { return {}; }
};

// What is seen of a mesh.
struct InterlinkRig::Node final : memory::MemoryProbe {
  explicit Node(unsigned id);
  void bind_interlink(unsigned link, memory::BeatLink* out, memory::BeatLink* in);
  // The unit for the engine, when all is bound; once.
  std::unique_ptr<sim::Unit> unit();

  memory::SparseMemory memory;
  memory::SimpleDram dram;
  std::unique_ptr<memory::MemoryAgent> agent;    // the model alone
  std::unique_ptr<platform::MemoryStand> stand;  // or what --impl says
  RegisterWriter registers;
  sim::FlitLink in, out;
  FlitSource source;
  FlitSink sink;

  std::array<memory::BeatLink*, arch::interlink::kLinks> links{};
  std::array<Cycles, arch::interlink::kLinks> data_beats, credit_beats;  // sent on each link
  std::vector<std::pair<Cycle, unsigned>> class0_credit;                 // of link 1, at each change
  Cycles read_beats, write_addresses, write_beats, write_responses;      // on the DRAM bus

  void on_read_beat(Cycle now, unsigned, bool) override { read_beats.push_back(now); }
  void on_write_address(Cycle now, const memory::DramAddress&) override { write_addresses.push_back(now); }
  void on_write_beat(Cycle now, const memory::DramWriteBeat&) override { write_beats.push_back(now); }
  void on_write_response(Cycle now, unsigned) override { write_responses.push_back(now); }
};

}  // namespace ktpu::check
