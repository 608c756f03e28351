// SPDX-License-Identifier: Apache-2.0
// Memory agent model and SystemVerilog memory agent in lock-step on the bench of the model's own tests: every
// wire into the mesh, every handover on the DRAM bus and to the control agent, and the counts of AUX_STAT.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <deque>

#include "apps/common/border_sockets.h"
#include "apps/common/interlink_sockets.h"
#include "apps/common/memory_sockets.h"
#include "arch/encoding/registers.h"
#include "rtl_models/memory/memory_twin.h"
#include "tests/unit/memory/bench.h"
#include "tlm/memory/banked_dram.h"
#include "tlm/sim/lockstep.h"
#include "tlm/sim/random.h"
#include "tlm/sim/timeline.h"

namespace ktpu::test {

namespace mt = memory::test;

// A control agent that takes and sends at random.
class RandomClient final : public memory::AgentClient {
 public:
  RandomClient(std::uint64_t seed, double rate) : random_(seed), rate_(rate) {}
  // The mover's registers are written over `window`, in order, each from its cycle on, up to two a cycle.
  struct Write {
    sim::Cycle from = 0;
    std::uint32_t offset = 0;
    std::uint64_t data = 0;
  };
  memory::AuxWindow* window = nullptr;
  std::deque<Write> writes;
  // Keep `writes` from going on while the mover is busy.
  bool one_move_at_a_time = true;
  void reset(sim::Cycle) override { full_ = false; }
  const arch::Flit* out() const override { return full_ ? &flit_ : nullptr; }
  void drive(sim::Cycle) override {}
  bool offer(sim::Cycle, const arch::Flit&) override {
    const bool takes = random_.below(4) != 0;
    taken += takes;
    return takes;
  }
  sim::Cycle clock(sim::Cycle now, bool out_taken) override {
    now_ = now;
    if (out_taken) full_ = false;
    for (unsigned n = 1 + random_.below(2); n-- > 0 && !writes.empty() && writes.front().from <= now;) {
      const Write write = writes.front();
      if (one_move_at_a_time && mover_busy()) break;
      writes.pop_front();
      window->aux_write(now, write.offset, write.data);
      if (write.offset == 0) {
        quiet_until_ = now + 3;
        break;
      }
    }
    if (!full_ && random_.below(1000) < rate_ * 1000) {
      full_ = true;
      ++sent;
      for (std::uint64_t& word : flit_.w) word = random_.next();
      flit_.w[4] = static_cast<std::uint32_t>(flit_.w[4]);
    }
    return now + 1;
  }
  void visit(sim::Archive&) override {}
  std::vector<sim::Wait> waits(sim::Cycle) const override { return {}; }
  std::uint64_t taken = 0, sent = 0;

 private:
  bool mover_busy() const {
    const std::uint64_t stat = window->aux_stat();
    return now_ < quiet_until_ || arch::get(&stat, arch::agent::aux_stat::kBusy) != 0;
  }

  sim::Random random_;
  double rate_;
  sim::Cycle now_ = 0, quiet_until_ = 0;
  bool full_ = false;
  arch::Flit flit_;
};

inline mt::BenchConfig on_bus(unsigned bus_bits) {
  mt::BenchConfig config;
  config.bus_bits = bus_bits;
  return config;
}

// What stands around one memory agent: senders, receivers, DRAM, and what may be.
struct MemoryAround {
  RandomClient* client = nullptr;
  memory::WindowBus* window = nullptr;
  sim::Unit* host = nullptr;
  std::array<apps::BeatPort, arch::interlink::kLinks> links{};
  // Several bursts of the DRAM at once, and answers out of order.
  std::optional<memory::BankedDramParams> banked = std::nullopt;
  // A DRAM on a clock of its own: cycles of it for so many of the agent.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> dram_clock = std::nullopt;
};

// One memory agent in lock-step, on an engine of several units.
template <class Twin = rtl::MemoryTwin>
class MemoryNode {
 public:
  MemoryNode(sim::Engine& engine, const std::string& name, const mt::BenchConfig& config,
             const MemoryAround& around)
      : memory(config.memory), engine_(engine), client_(around.client) {
    if (around.banked)
      real = std::make_unique<memory::BankedDram>(memory, *around.banked, config.bus_bits);
    else
      real = std::make_unique<memory::SimpleDram>(memory, config.dram, config.bus_bits);
    recorded = std::make_unique<apps::RecordedDram>(*real);
    compared = std::make_unique<apps::ComparedDram>(name, *recorded);
    sim::Shadows shadows;
    auto agent_owner = std::make_unique<memory::MemoryAgent>(name + ".model", config.agent, *recorded);
    agent = agent_owner.get();
    if (around.dram_clock) {
      compared_border = std::make_unique<apps::ComparedBorder>(name, *agent);
      dram_units = agent->put_dram_on(sim::ClockRatio(around.dram_clock->second, around.dram_clock->first));
    }
    std::unique_ptr<Twin> twin_owner;
    if constexpr (std::is_same_v<typename rtl::DramOf<typename Twin::Verilated>::Socket, rtl::DramSocket>)
      twin_owner =
          std::make_unique<Twin>(name + ".rtl", Twin::place_of(config.agent, config.bus_bits), *compared);
    else
      twin_owner = std::make_unique<Twin>(name + ".rtl", Twin::place_of(config.agent, config.bus_bits),
                                          *compared_border);
    twin = twin_owner.get();
    if (client_ != nullptr) {
      recorded_window = std::make_unique<apps::RecordedWindow>(*agent);
      client_->window = recorded_window.get();
      recorded_client = std::make_unique<apps::RecordedClient>(*client_);
      compared_client = std::make_unique<apps::ComparedClient>(name, *recorded_client, *recorded_window);
      agent->set_client(recorded_client.get());
      twin->set_client(compared_client.get());
    }
    for (unsigned p = 0; p < config.agent.ports.size(); ++p) {
      sim::FlitLink& in =
          *links.emplace_back(std::make_unique<sim::FlitLink>("in" + std::to_string(p), arch::kFlitBits));
      sim::FlitLink& out =
          *links.emplace_back(std::make_unique<sim::FlitLink>("out" + std::to_string(p), arch::kFlitBits));
      agent->bind_port(p, {&in, &out});
      twin->bind_port(p, shadows.mirror("port" + std::to_string(p), {&in, &out}));
      senders.push_back(std::make_unique<mt::Sender>(name + ".sender" + std::to_string(p), in));
      receivers.push_back(std::make_unique<mt::Receiver>(name + ".receiver" + std::to_string(p), out));
    }
    if (around.window != nullptr) {
      memory::WindowBus& window = *around.window;
      agent->bind_window(window);
      compared_window = std::make_unique<apps::ComparedWindow>(name, window);
      twin->set_window(compared_window.get());
      for (sim::LinkBase* link :
           std::initializer_list<sim::LinkBase*>{&window.aw, &window.ar, &window.w, &window.r, &window.b})
        engine.add(*link);
      engine.add(*around.host);
    }
    for (unsigned l = 0; l < around.links.size(); ++l) {
      const apps::BeatPort& port = around.links[l];
      if (port.out == nullptr) continue;
      agent->bind_interlink(l, port.out, port.in);
      const apps::BeatPort shadow = apps::mirror(shadows, l, port);
      interlink.bind(l, shadow.out, shadow.in, *twin);
    }
    if (config.agent.interlink && !config.agent.interlink_idle) twin->set_interlink(&interlink);
    pair = std::make_unique<sim::Lockstep>(name, std::move(shadows), std::move(agent_owner),
                                           std::move(twin_owner));
    engine.add(*pair);
    for (auto& link : links) engine.add(*link);
    for (auto& sender : senders) engine.add(*sender);
    for (auto& receiver : receivers) engine.add(*receiver);
  }

  std::uint64_t compared_handovers() const {
    return compared_border != nullptr ? compared_border->compared() : compared->compared();
  }
  // Between cycles: the register words that the control agent could read.
  void compare_registers() const {
    ASSERT_EQ(agent->aux_stat(), twin->aux_stat()) << "cycle " << engine_.now();
    if (!agent->config().interlink || agent->config().interlink_idle) return;
    for (unsigned word = engine_.now() % 4; word < 16; word += 4)
      ASSERT_EQ(agent->aux_status(word), twin->aux_status(word))
          << "status word " << word << ", cycle " << engine_.now();
  }
  bool at_rest() const {
    for (const auto& sender : senders)
      if (sender->unsent() != 0) return false;
    return agent->idle() && twin->resting();
  }

  memory::SparseMemory memory;
  std::unique_ptr<memory::DramDevice> real;
  std::unique_ptr<apps::RecordedDram> recorded;
  std::unique_ptr<apps::ComparedDram> compared;
  std::unique_ptr<apps::ComparedBorder> compared_border;  // with a DRAM on a clock of its own
  std::vector<std::unique_ptr<sim::Unit>> dram_units;     // of that clock
  std::unique_ptr<apps::RecordedWindow> recorded_window;
  std::unique_ptr<apps::RecordedClient> recorded_client;
  std::unique_ptr<apps::ComparedClient> compared_client;
  std::unique_ptr<apps::ComparedWindow> compared_window;
  apps::InterlinkOfTwin interlink;
  std::vector<std::unique_ptr<sim::FlitLink>> links;
  std::vector<std::unique_ptr<mt::Sender>> senders;
  std::vector<std::unique_ptr<mt::Receiver>> receivers;
  memory::MemoryAgent* agent = nullptr;
  Twin* twin = nullptr;
  std::unique_ptr<sim::Lockstep> pair;

 private:
  sim::Engine& engine_;
  RandomClient* client_;
};

struct MemoryEngine {
  sim::Engine engine, dram_engine;
  sim::Timeline timeline;
};

// One memory agent in lock-step, alone.
template <class Twin = rtl::MemoryTwin>
class MemoryPair : public MemoryEngine, public MemoryNode<Twin> {
 public:
  explicit MemoryPair(const mt::BenchConfig& config = {}, const MemoryAround& around = {})
      : MemoryNode<Twin>(MemoryEngine::engine, "memory", config, around) {
    if (around.dram_clock) {
      timeline.add("fabric", around.dram_clock->second, engine);
      timeline.add("dram", around.dram_clock->first, dram_engine);
      for (auto& unit : this->dram_units) dram_engine.add(*unit);
      dram_engine.elaborate();
    } else {
      timeline.add("fabric", 1, engine);
    }
    engine.elaborate();
  }
  // Cycle by cycle, to compare the registers in each.
  void run(sim::Cycle cycles) {
    for (sim::Cycle c = 0; c < cycles && !testing::Test::HasFatalFailure(); ++c) {
      timeline.run_until(engine.now() + 1);
      this->compare_registers();
    }
  }
};

}  // namespace ktpu::test
