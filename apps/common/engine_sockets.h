// SPDX-License-Identifier: Apache-2.0
// The command engine's RTL twin as a unit on the machine's register buses, or beside the model in lock-step.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "rtl_models/command_engine/command_engine_twin.h"
#include "tlm/orchestrator/command_engine.h"
#include "tlm/plugin/plugin.h"
#include "tlm/sim/lockstep.h"

namespace ktpu::apps {

class CommandEngineOfTwin final : public sim::Unit {
 public:
  struct Wires {
    sim::Link<orchestrator::BusBeat>* host = nullptr;  // to the engine
    std::uint64_t* host_data = nullptr;                // its answer
    sim::Link<orchestrator::BusBeat>* bus = nullptr;   // to the control agent
    const std::uint64_t* bus_data = nullptr;           // its answer
    const std::uint64_t* expected = nullptr;           // lock-step: what `host_data` is compared with
  };
  // What `wires` names must outlive it. `make`: of a module of one's own. Throws UserError for a size the RTL
  // is not built for.
  CommandEngineOfTwin(std::string name, unsigned commands, const Wires& wires,
                      plugin::CommandEngineMaker make = plugin::make_command_engine<rtl::CommandEngineTwin>);

  void reset(sim::Cycle start) override;
  // Throws sim::LockstepError.
  void drive(sim::Cycle now) override;
  sim::Cycle clock(sim::Cycle now) override;
  void visit(sim::Archive& archive) override;
  std::uint64_t progress() const override { return writes_; }  // polls are none
  // What its register bus tells: the last read, not what it is compared with.
  std::vector<sim::Wait> waits(sim::Cycle now) const override;

 private:
  void watch(sim::Cycle now);

  Wires wires_;
  std::uint64_t writes_ = 0, polls_ = 0;
  bool polling_ = false;  // the last command was a read, of `poll_offset_` since `poll_since_`
  std::uint32_t poll_offset_ = 0;
  sim::Cycle poll_since_ = 0;
  std::unique_ptr<rtl::CommandEngineRtl> twin_;
};

// The model on the machine's buses and the RTL on copies of them: beats and read data of every cycle
// compared. `model`: set to the model inside. `make` as above.
std::unique_ptr<sim::Lockstep> lockstep_engine(
    const std::string& name, unsigned commands, orchestrator::RegisterBus& host,
    orchestrator::RegisterBus& agent, orchestrator::CommandEngine** model,
    plugin::CommandEngineMaker make = plugin::make_command_engine<rtl::CommandEngineTwin>);

}  // namespace ktpu::apps
