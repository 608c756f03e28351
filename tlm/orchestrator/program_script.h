// SPDX-License-Identifier: Apache-2.0
// Turns the steps of a program file into host transactions, one after the other (design.md section 6;
// transaction order of a round: vectors/programs/README.md).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "arch/program/program.h"
#include "tlm/orchestrator/host.h"

namespace ktpu::orchestrator {

// What a checker wants to see of a program's run. All no-ops by default.
class ScriptProbe {
 public:
  virtual ~ScriptProbe() = default;
  // A step starts: its first transaction has its address in `now`.
  virtual void step(sim::Cycle /*now*/, std::size_t /*index*/) {}
  virtual void write(sim::Cycle /*address*/, std::size_t /*step*/, std::uint32_t /*offset*/,
                     std::uint64_t /*data*/) {}
  // A poll was met by the read whose data was there in `now`, after `reads` reads.
  virtual void poll_met(sim::Cycle /*now*/, std::size_t /*step*/, std::uint32_t /*offset*/,
                        std::uint64_t /*want*/, std::uint64_t /*mask*/, std::uint64_t /*reads*/) {}
  // A relayout is about to change memory (done = false), and has changed it, both in `now`.
  virtual void relayout(sim::Cycle /*now*/, std::size_t /*step*/, bool /*done*/) {}
  virtual void end(sim::Cycle /*now*/) {}
};

class ProgramScript final : public HostScript {
 public:
  // Services that take no simulated time.
  struct Backdoor {
    std::function<void(std::uint8_t mesh, const arch::MemoryImage&)> load;
    std::function<void(std::uint8_t mesh, const arch::StepRelayout&)> relayout;
  };
  // A bus of a mesh: the agent's registers, and the command engine's if the machine has one.
  struct Buses {
    std::uint8_t agent = 0;
    int engine = -1;
    unsigned commands = 0;  // capacity of the engine
    int window = -1;        // the mesh's memory window among the host's
  };

  // Throws UserError for steps this version cannot run, naming the step. `program` must outlive the script.
  ProgramScript(const arch::Program& program, std::vector<Buses> buses, Backdoor backdoor);

  HostAction next(sim::Cycle now) override;
  void read_data(sim::Cycle now, std::uint64_t value) override;
  memory::WindowWord window_word(std::uint32_t beat) override;
  std::string waiting_for() const override;
  void visit(sim::Archive& archive) override;
  std::optional<PendingPoll> pending_poll() const override;

  void set_probe(ScriptProbe* probe) { probe_ = probe; }
  std::size_t steps_done() const { return index_; }
  std::size_t steps() const { return program_.steps.size(); }
  std::size_t step() const { return step_; }  // of the current transaction
  // Transactions started, a poll once however often it reads.
  std::uint64_t transactions() const { return transactions_; }
  bool ended() const { return ended_; }
  // Idle this many cycles without a DRAM handshake before every round; 0: no wait.
  void set_quiet_before_round(std::uint32_t cycles) { quiet_before_round_ = cycles; }
  // Nonempty when the command engine stopped with err.
  const std::string& failure() const { return failure_; }

 private:
  struct Poll {
    std::uint8_t bus = 0;
    std::uint32_t offset = 0;
    std::uint64_t mask = 0, want = 0, reads = 0, last = 0;
    sim::Cycle since = 0;  // of the first read
  };
  struct Transaction {
    enum class Kind : std::uint8_t {
      kWrite,
      kRead,
      kPoll,
      kQuiet,
      kEngineCheck,
      kWindow
    } kind = Kind::kWrite;
    std::uint8_t bus = 0;
    std::uint32_t offset = 0;
    std::uint64_t data = 0;  // written value, wanted value, quiet cycles, baseline node byte, window address
    std::uint64_t mask = 0;  // window: first byte of the step's data
  };
  struct RoundState {  // of one mesh
    std::array<std::uint16_t, 256> baseline{};
    std::array<std::int64_t, 3> written{-1, -1, -1};  // PROG_DST, PROG_BASE, PROG_LEN
  };

  void expand(const arch::Step& step, sim::Cycle now);
  void write(std::uint8_t bus, std::uint32_t offset, std::uint64_t data);
  void poll(std::uint8_t bus, std::uint32_t offset, std::uint64_t mask, std::uint64_t want);
  void expand_commands(const Buses& buses, const arch::StepCommands& step);
  void window(std::uint8_t bus, const arch::StepWindow& step);
  void kick(std::uint8_t mesh, const arch::StepKick& step);

  const arch::Program& program_;
  std::vector<Buses> buses_;
  Backdoor backdoor_;
  ScriptProbe* probe_ = nullptr;
  std::vector<RoundState> rounds_;
  std::deque<Transaction> queue_;  // of the current step; filled once a step
  Transaction current_{};
  bool polling_ = false;
  Poll poll_{};
  std::uint64_t transactions_ = 0;
  std::size_t index_ = 0;  // next step
  std::size_t step_ = 0;   // step of the current transaction
  std::uint32_t quiet_before_round_ = 0;
  bool quiet_done_ = false;
  bool pending_relayout_ = false;
  bool ended_ = false;
  std::string failure_;
};

}  // namespace ktpu::orchestrator
