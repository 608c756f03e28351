// SPDX-License-Identifier: Apache-2.0
// A device whose programs run on the simulator: the same bits as the interpreter's, and cycles.
#pragma once

#include "compiler/device/runner.h"
#include "topologies/description.h"

namespace ktpu::apps {

class SimulatedRunner final : public device::Runner {
 public:
  explicit SimulatedRunner(topo::Machine machine) : machine_(std::move(machine)) {}
  // On a fresh machine each time. Cycles from the first kick to the last result in memory. Throws UserError
  // with the run's exit status when it does not finish.
  device::RunResult run(const arch::Program& program) override;

 private:
  topo::Machine machine_;
};

}  // namespace ktpu::apps
