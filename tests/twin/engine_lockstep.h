// SPDX-License-Identifier: Apache-2.0
// Command engine model and SystemVerilog command engine in lock-step: random programs and random host
// accesses, over a slave that answers at random.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

#include "apps/common/engine_sockets.h"
#include "tests/support/random_engine_beat.h"
#include "tlm/sim/engine.h"

namespace ktpu::test {

// Writes what it is told, or at random: commands of all kinds, GO, reads of every register.
class RandomHost final : public sim::Unit {
 public:
  RandomHost(orchestrator::RegisterBus& bus, unsigned commands, std::uint64_t seed)
      : Unit("host"), bus_(bus), commands_(commands), random_(seed) {
    bus_.beat.bind_sender(*this);
  }
  void reset(sim::Cycle) override { shown_ = false; }
  void drive(sim::Cycle now) override {
    if (driven_ == now) return;
    driven_ = now;
    bus_.beat.withdraw();
    shown_ = random_.below(100) < 60;
    if (shown_) bus_.beat.offer(random_engine_beat(random_, commands_));
  }
  sim::Cycle clock(sim::Cycle now) override { return now + 1; }

 private:
  orchestrator::RegisterBus& bus_;
  unsigned commands_;
  sim::Random random_;
  bool shown_ = false;
  sim::Cycle driven_ = sim::kNever;
};

// A slave: whatever is read is random, one cycle after the sample.
class RandomSlave final : public sim::Unit {
 public:
  RandomSlave(orchestrator::RegisterBus& bus, std::uint64_t seed) : Unit("slave"), bus_(bus), random_(seed) {
    bus_.beat.bind_receiver(*this);
  }
  void reset(sim::Cycle) override {}
  void drive(sim::Cycle) override { bus_.read_data = value_; }
  sim::Cycle clock(sim::Cycle now) override {
    if (bus_.beat.valid()) {
      reads += bus_.beat.data().read;
      writes += bus_.beat.data().write;
      value_ = random_.next();
    }
    return now + 1;
  }
  std::uint64_t reads = 0, writes = 0;

 private:
  orchestrator::RegisterBus& bus_;
  sim::Random random_;
  std::uint64_t value_ = 0;
};

class EnginePair {
 public:
  EnginePair(unsigned commands, std::uint64_t seed)
      : host(host_bus, commands, seed), slave(agent_bus, seed + 1000) {
    pair = apps::lockstep_engine("engine", commands, host_bus, agent_bus, &model);
    engine.add(*pair);
    engine.add(host);
    engine.add(slave);
    engine.add(host_bus.beat);
    engine.add(agent_bus.beat);
    engine.elaborate();
  }

  void run(sim::Cycle cycles) {
    engine.run_until(engine.now() + cycles);
    std::printf("%llu cycles, %llu values compared, 0 mismatches; %llu reads, %llu writes of commands\n",
                static_cast<unsigned long long>(pair->compared_cycles()),
                static_cast<unsigned long long>(pair->compared_values()),
                static_cast<unsigned long long>(slave.reads), static_cast<unsigned long long>(slave.writes));
  }

  sim::Engine engine;
  orchestrator::RegisterBus host_bus{"host_bus"}, agent_bus{"agent_bus"};
  RandomHost host;
  RandomSlave slave;
  orchestrator::CommandEngine* model = nullptr;
  std::unique_ptr<sim::Lockstep> pair;
};

}  // namespace ktpu::test
