// SPDX-License-Identifier: Apache-2.0
// The host and the command engine: the steps of a program one after the other, as transactions on the control
// agent's registers (orchestrator.md sections 2, 8 and 9).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "arch/program/program.h"
#include "compiler/cost/mesh_sim.h"

namespace ktpu::cost {

class Host {
 public:
  struct Round {
    std::string name;
    Cycles begin = 0;
  };
  Host(const arch::Program& program, const CostMachine& machine, std::deque<MeshSim>& meshes, Ledger& ledger,
       EventQueue& events);

  // Goes on as far as it can in `now`; after every event, and at its own.
  void proceed(Cycles now);
  bool waiting() const { return waiting_; }
  bool done() const { return done_; }
  Moment end() const { return at_; }
  const std::vector<Round>& rounds() const { return rounds_; }
  // Steps and registers this model knows nothing about, each once.
  const std::vector<std::string>& notes() const { return notes_; }
  std::string waiting_for() const;

 private:
  struct Action {
    enum class Kind : std::uint8_t {
      kWrites,    // `data` register writes that nothing waits for
      kRegister,  // one write, with its effect
      kBaseline,  // read of NODE_STATUS
      kRead,
      kPoll,
      kAwait,  // poll of NODE_STATUS: baseline and `data`
      kQuiet,  // `data` cycles
      kIdle,   // `data` cycles
      kGo,     // of the engine
      kEngineRegister,
      kEnginePoll,
      kEngineDone,
    } kind = Kind::kWrites;
    std::uint8_t mesh = 0;
    std::uint32_t offset = 0;
    std::uint64_t data = 0, mask = 0;
  };
  struct Registers {
    std::uint64_t dst = 0, base = 0, len = 0;
  };
  struct RoundState {
    std::array<std::uint16_t, 256> baseline{};
    std::array<std::int64_t, 3> written{-1, -1, -1};  // PROG_DST, PROG_BASE, PROG_LEN
  };

  void expand(const arch::Step& step);
  void expand_kick(std::uint8_t mesh, const arch::StepKick& step);
  void expand_commands(std::uint8_t mesh, const arch::StepCommands& step);
  void add(Action::Kind kind, std::uint8_t mesh, std::uint32_t offset, std::uint64_t data = 0,
           std::uint64_t mask = 0) {
    actions_.push_back({kind, mesh, offset, data, mask});
  }
  void note(std::string text);
  // False: not in `now`.
  bool execute(const Action& action, Cycles now);
  void write_register(const Action& action, Moment beat);
  bool poll(const Action& action, std::uint64_t want, bool engine);
  bool quiet(const Action& action, Cycles now);
  MeshSim::Value value_of(const Action& action, bool& known) const;

  const arch::Program& program_;
  const HostCost& cost_;
  std::deque<MeshSim>& meshes_;
  Ledger& ledger_;
  EventQueue& events_;
  std::deque<Action> actions_;
  std::size_t step_ = 0;
  std::vector<Registers> registers_;
  std::vector<RoundState> states_;
  Moment at_;          // the next transaction, or the next fetch of the engine
  Cycles grid_ = 0;    // while the engine runs: the host's next read of its state
  Cycles asked_ = -1;  // an event has been asked for at this time
  bool waiting_ = false, done_ = false;
  std::vector<Round> rounds_;
  std::vector<std::string> notes_;
};

}  // namespace ktpu::cost
