// SPDX-License-Identifier: Apache-2.0
// The memory agent's RTL twin and a DRAM on a clock of its own: the nearer end of the FIFOs between the two.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rtl_models/memory/memory_sockets.h"
#include "tlm/memory/border_cycle.h"
#include "tlm/memory/dram_bus_unit.h"
#include "tlm/memory/memory_agent.h"

namespace ktpu::apps {

// In lock-step: shows what the model's path sees, and compares what is pushed and popped. Throws
// sim::LockstepError.
class ComparedBorder final : public rtl::BorderSocket {
 public:
  // `model` must outlive it, and its DRAM get a clock.
  ComparedBorder(std::string unit, memory::MemoryAgent& model);
  void reset(sim::Cycle start) override;
  Shown shown(sim::Cycle now) override;
  void clock(sim::Cycle now, const Moves& moves) override;
  std::uint64_t compared() const { return compared_; }  // words of the model

 private:
  std::string unit_;
  const memory::MemoryAgent& model_;
  memory::BorderCycle latest_;  // of the model
  memory::BorderCycle seen_;    // of the present cycle
  std::uint64_t compared_ = 0;
};

// FIFOs and DRAM that are the twin's alone.
class BorderOfTwin final : public rtl::BorderSocket {
 public:
  // `device` must outlive it.
  BorderOfTwin(memory::DramDevice& device, const memory::MemoryAgentConfig& config);
  // Elaboration, once, as memory::MemoryAgent::put_dram_on(). `agent` is the twin.
  std::vector<std::unique_ptr<sim::Unit>> put_on(const sim::ClockRatio& to_dram, sim::Unit& agent);

  void reset(sim::Cycle start) override;
  Shown shown(sim::Cycle now) override;
  void clock(sim::Cycle now, const Moves& moves) override;
  bool resting() const override;

  void set_probe(memory::MemoryProbe* probe);
  const memory::MisuseLog& misuse() const { return misuse_; }
  sim::Cycle last_handshake() const;  // kNever before the first

 private:
  memory::MisuseLog misuse_;
  memory::DramBus bus_;
  memory::ClockBorder border_{{}};
  memory::DramBusUnit* far_ = nullptr;
  memory::MemoryProbe* probe_ = nullptr;
  sim::Unit* agent_ = nullptr;
  sim::Cycle unused_due_ = 0;  // the twin runs in every cycle
  // Read beats to come; writes and write beats pushed since reset: for the bus's account of its cycles.
  std::uint32_t reads_ = 0, writes_ = 0, beats_ = 0;
};

}  // namespace ktpu::apps
