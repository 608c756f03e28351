// SPDX-License-Identifier: Apache-2.0
// Memory agent model and SystemVerilog memory agent in lock-step on the bench of the model's own tests: every
// wire into the mesh, every handover on the DRAM bus and to the control agent, and the counts of AUX_STAT.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>

#include "apps/common/memory_sockets.h"
#include "arch/encoding/registers.h"
#include "rtl_models/memory/memory_twin.h"
#include "tests/unit/memory/bench.h"
#include "tlm/sim/lockstep.h"
#include "tlm/sim/random.h"

namespace ktpu::test {

namespace mt = memory::test;

// A control agent that takes and sends at random.
class RandomClient final : public memory::AgentClient {
 public:
  RandomClient(std::uint64_t seed, double rate) : random_(seed), rate_(rate) {}
  void reset(sim::Cycle) override { full_ = false; }
  const arch::Flit* out() const override { return full_ ? &flit_ : nullptr; }
  void drive(sim::Cycle) override {}
  bool offer(sim::Cycle, const arch::Flit&) override {
    const bool takes = random_.below(4) != 0;
    taken += takes;
    return takes;
  }
  sim::Cycle clock(sim::Cycle now, bool out_taken) override {
    if (out_taken) full_ = false;
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
  sim::Random random_;
  double rate_;
  bool full_ = false;
  arch::Flit flit_;
};

inline mt::BenchConfig on_bus(unsigned bus_bits) {
  mt::BenchConfig config;
  config.bus_bits = bus_bits;
  return config;
}

template <class Twin = rtl::MemoryTwin>
class MemoryPair {
 public:
  explicit MemoryPair(mt::BenchConfig config = {}, memory::AgentClient* client = nullptr)
      : memory(config.memory),
        real(memory, config.dram, config.bus_bits),
        recorded(real),
        compared("memory", recorded) {
    sim::Shadows shadows;
    auto agent_owner = std::make_unique<memory::MemoryAgent>("memory.model", config.agent, recorded);
    auto twin_owner =
        std::make_unique<Twin>("memory.rtl", Twin::place_of(config.agent, config.bus_bits), compared);
    agent = agent_owner.get();
    twin = twin_owner.get();
    if (client != nullptr) {
      recorded_client = std::make_unique<apps::RecordedClient>(*client);
      compared_client = std::make_unique<apps::ComparedClient>("memory", *recorded_client);
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
      senders.push_back(std::make_unique<mt::Sender>("sender" + std::to_string(p), in));
      receivers.push_back(std::make_unique<mt::Receiver>("receiver" + std::to_string(p), out));
    }
    pair = std::make_unique<sim::Lockstep>("memory", std::move(shadows), std::move(agent_owner),
                                           std::move(twin_owner));
    engine.add(*pair);
    for (auto& link : links) engine.add(*link);
    for (auto& sender : senders) engine.add(*sender);
    for (auto& receiver : receivers) engine.add(*receiver);
    engine.elaborate();
  }

  // Cycle by cycle, to compare the counts in each.
  void run(sim::Cycle cycles) {
    for (sim::Cycle c = 0; c < cycles; ++c) {
      engine.run_until(engine.now() + 1);
      const std::uint64_t stat = agent->aux_stat();
      namespace field = arch::agent::aux_stat;
      ASSERT_EQ(arch::get(&stat, field::kReads), twin->read_count()) << "cycle " << engine.now();
      ASSERT_EQ(arch::get(&stat, field::kWrites), twin->write_count()) << "cycle " << engine.now();
    }
  }
  bool at_rest() const {
    for (const auto& sender : senders)
      if (sender->unsent() != 0) return false;
    return agent->idle() && twin->resting();
  }

  sim::Engine engine;
  memory::SparseMemory memory;
  memory::SimpleDram real;
  apps::RecordedDram recorded;
  apps::ComparedDram compared;
  std::unique_ptr<apps::RecordedClient> recorded_client;
  std::unique_ptr<apps::ComparedClient> compared_client;
  std::vector<std::unique_ptr<sim::FlitLink>> links;
  std::vector<std::unique_ptr<mt::Sender>> senders;
  std::vector<std::unique_ptr<mt::Receiver>> receivers;
  memory::MemoryAgent* agent = nullptr;
  Twin* twin = nullptr;
  std::unique_ptr<sim::Lockstep> pair;
};

}  // namespace ktpu::test
