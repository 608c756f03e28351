// SPDX-License-Identifier: Apache-2.0
// Control agent model and SystemVerilog control agent in lock-step, with random beats on two register buses,
// random flits from the mesh and a mesh that blocks at random.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <vector>

#include "apps/common/agent_sockets.h"
#include "tests/support/random_agent_load.h"

namespace ktpu::test {

// An AUX window whose words change with every look of the test and that counts what is written.
class CountingAux final : public memory::AuxWindow {
 public:
  void aux_write(sim::Cycle, std::uint32_t, std::uint64_t) override { ++writes; }
  std::uint64_t aux_stat() const override { return value; }
  std::uint64_t aux_status(unsigned word) const override { return value * 16 + word; }
  std::uint64_t value = 0, writes = 0;
};

struct AgentLoad {
  unsigned staging_flits = 128;
  bool quirks = true;
  unsigned beats = 60;    // per cent of cycles with a beat on a bus
  unsigned flits = 30;    // and with a flit from the mesh
  unsigned blocked = 30;  // and in which the mesh does not take the agent's flit
  unsigned resets = 0;    // resets on the way
};

// What one side tells of its inside: kick pulses, and flits on their way into the TX FIFO.
struct AgentTold final : orchestrator::AgentProbe {
  std::vector<sim::Cycle> kicks, pushes;
  std::vector<arch::Flit> flits;
  void kick(sim::Cycle pulse) override {  // once, however many buses write
    if (kicks.empty() || kicks.back() != pulse) kicks.push_back(pulse);
  }
  void push(sim::Cycle now, const arch::Flit& flit) override {
    pushes.push_back(now);
    flits.push_back(flit);
  }
};

class AgentPair {
 public:
  explicit AgentPair(const AgentLoad& load, unsigned buses = 2)
      : load_(load),
        params_{{0, 1}, 1, 4, load.staging_flits, load.quirks},
        model(params_, pointers(buses), &aux),
        pair("agent", model, params_, pointers(buses), &aux) {
    pair.reset(0);
    model.set_probe(&model_told);
    pair.twin().observe([this](sim::Cycle cycle, const rtl::AgentEvents& e) {
      if (e.kick) twin_told.kick(cycle);
      if (e.push) twin_told.push(cycle, e.flit);
    });
  }

  // One cycle with these beats; `flit`: null if none.
  void step(const std::array<orchestrator::BusBeat, 2>& beats, const arch::Flit* flit, bool blocked) {
    pair.drive(now);
    for (unsigned b = 0; b < 2; ++b) {
      if (beats[b].write || beats[b].read)
        buses_[b].beat.offer(beats[b]);
      else
        buses_[b].beat.withdraw();
    }
    const bool taken = pair.out() != nullptr && !blocked;
    sent += taken;
    if (flit != nullptr) lost += !pair.offer(now, *flit);
    pair.clock(now, taken);
    aux.value = sim::Random::nth(99, now);
    ++now;
  }

  void run_random(std::uint64_t seed, sim::Cycle cycles) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    sim::Random random(seed);
    // Phases, so that queues fill and run dry.
    unsigned beats = 0, flits = 0, blocked = 0;
    for (sim::Cycle c = 0; c < cycles; ++c) {
      if (c % 256 == 0) {
        beats = random.below(2 * load_.beats + 1);
        flits = random.below(2 * load_.flits + 1);
        blocked = random.below(4) == 0 ? 95 : random.below(2 * load_.blocked + 1);
      }
      std::array<orchestrator::BusBeat, 2> on_bus{};
      for (orchestrator::BusBeat& beat : on_bus) {
        if (random.below(100) >= beats) continue;
        beat = random_agent_beat(random);
      }
      arch::Flit flit;
      const bool offered = random.below(100) < flits;
      if (offered) flit = random_agent_flit(random);
      step(on_bus, offered ? &flit : nullptr, random.below(100) < blocked);
      if (load_.resets != 0 && c % (cycles / (load_.resets + 1) + 1) == cycles / (load_.resets + 1)) {
        for (auto& bus : buses_) bus.beat.withdraw();
        pair.reset(now);
      }
    }
    // The model tells of a pulse one cycle ahead.
    if (!model_told.kicks.empty() && model_told.kicks.back() >= now) model_told.kicks.pop_back();
    if (load_.resets == 0) {  // which can come before the pulse
      EXPECT_EQ(model_told.kicks, twin_told.kicks);
    }
    EXPECT_EQ(model_told.pushes, twin_told.pushes);
    EXPECT_TRUE(model_told.flits == twin_told.flits);
    EXPECT_FALSE(twin_told.pushes.empty());
    std::printf(
        "seed %llu: %llu cycles, %llu values compared, 0 mismatches; %llu flits sent, %llu lost, %llu AUX "
        "writes\n",
        static_cast<unsigned long long>(seed), static_cast<unsigned long long>(pair.compared_cycles()),
        static_cast<unsigned long long>(pair.compared_values()), static_cast<unsigned long long>(sent),
        static_cast<unsigned long long>(lost), static_cast<unsigned long long>(aux.writes));
  }

 private:
  std::vector<orchestrator::RegisterBus*> pointers(unsigned buses) {
    std::vector<orchestrator::RegisterBus*> all;
    for (unsigned b = 0; b < buses; ++b) all.push_back(&buses_[b]);
    return all;
  }

  AgentLoad load_;
  orchestrator::ControlAgentParams params_;
  std::array<orchestrator::RegisterBus, 2> buses_{orchestrator::RegisterBus{"bus0"},
                                                  orchestrator::RegisterBus{"bus1"}};

 public:
  CountingAux aux;
  orchestrator::ControlAgent model;
  apps::LockstepAgent pair;
  sim::Cycle now = 0;
  std::uint64_t sent = 0, lost = 0;
  AgentTold model_told, twin_told;
};

}  // namespace ktpu::test
