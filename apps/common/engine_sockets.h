// SPDX-License-Identifier: Apache-2.0
// The command engine's RTL twin as a unit on the machine's register buses, or beside the model in lock-step.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "rtl_models/command_engine/command_engine_twin.h"
#include "tlm/orchestrator/command_engine.h"
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
  // What `wires` names must outlive it. Throws UserError for a size the RTL is not built for.
  CommandEngineOfTwin(std::string name, unsigned commands, const Wires& wires);

  void reset(sim::Cycle start) override;
  // Throws sim::LockstepError.
  void drive(sim::Cycle now) override;
  sim::Cycle clock(sim::Cycle now) override;
  void visit(sim::Archive& archive) override;

 private:
  Wires wires_;
  rtl::CommandEngineTwin twin_;
};

// The model on the machine's buses and the RTL on copies of them: beats and read data of every cycle
// compared. `model`: set to the model inside.
std::unique_ptr<sim::Lockstep> lockstep_engine(const std::string& name, unsigned commands,
                                               orchestrator::RegisterBus& host,
                                               orchestrator::RegisterBus& agent,
                                               orchestrator::CommandEngine** model);

}  // namespace ktpu::apps
