// SPDX-License-Identifier: Apache-2.0
// The command engine: executes a list of WRITE, POLL and DONE on the control agent's registers
// (orchestrator.md section 8). A slave to the host, a master on the agent's register bus.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tlm/orchestrator/register_bus.h"
#include "tlm/sim/attribution.h"
#include "tlm/sim/unit.h"

namespace ktpu::orchestrator {

// Exclusive states, by priority.
enum class CommandCycle : std::uint8_t { kPollWait, kPoll, kCommand, kIdle };
inline constexpr std::array<sim::CycleState, 4> kCommandCycles{{
    {"poll_wait", "Cycles between the failed read of a POLL and the next one"},
    {"poll", "Cycles in which a POLL was fetched, read and compared"},
    {"command", "Cycles in which a WRITE or DONE was executed"},
    {"idle", "Cycles in which the engine did not run"},
}};

class CommandEngine final : public sim::Unit {
 public:
  // `commands`: entries of the command RAM, a power of two up to 128.
  CommandEngine(std::string name, unsigned commands, RegisterBus& host, RegisterBus& agent);

  void reset(sim::Cycle start) override;
  void drive(sim::Cycle now) override;
  sim::Cycle clock(sim::Cycle now) override;
  void visit(sim::Archive& archive) override;
  void sync(sim::Cycle now) override { cycles_.sync(now); }
  std::vector<sim::Wait> waits(sim::Cycle now) const override;

  std::uint64_t peek(std::uint32_t offset) const;
  bool busy() const { return state_ != State::kIdle; }
  bool error() const { return error_; }

 private:
  struct Command {
    std::uint64_t opcode = 0, address = 0, data = 0, mask = 0;
  };
  enum class State : std::uint8_t { kIdle, kFetch, kIssue, kAddress, kBeat, kResponse, kWait };

  void host_access(sim::Cycle now);
  sim::Cycle advance(sim::Cycle now);
  CommandCycle cycle_state() const;

  RegisterBus& host_;
  RegisterBus& agent_;
  std::vector<Command> ram_;
  State state_ = State::kIdle;
  unsigned pc_ = 0;
  std::uint64_t code_ = 0, polls_ = 0;
  bool done_ = false, error_ = false, go_ = false, beat_on_ = false;
  sim::Cycle wait_until_ = 0;
  std::uint64_t read_q_ = 0;
  std::uint64_t writes_ = 0;
  sim::Attribution<CommandCycle, kCommandCycles> cycles_;
};

}  // namespace ktpu::orchestrator
