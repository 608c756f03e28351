// SPDX-License-Identifier: Apache-2.0
// Runs a program on a system to its end and says how it ended. Time is stepped by whoever drives the engine
// (a plain loop here, SystemC in simulation.h); the verdicts are the same.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arch/error.h"
#include "arch/program/program.h"
#include "tlm/orchestrator/program_script.h"
#include "tlm/platform/activity.h"
#include "tlm/platform/diagnosis.h"
#include "tlm/platform/findings.h"
#include "tlm/platform/memory_watch.h"
#include "tlm/platform/system.h"

namespace ktpu::platform {

struct RunLimits {
  sim::Cycle max_cycles = sim::kNever;  // exit 5 when reached
  sim::Cycle watchdog = 100'000;        // cycles without progress until exit 4; polling is no progress
};

struct RunResult {
  arch::ExitStatus status = arch::ExitStatus::kOk;
  Verdict verdict = Verdict::kStopped;
  std::string cause;                     // id of the cause found (causes.h); empty: none
  std::string where;                     // the node it was found at
  std::string message;                   // empty when kOk; else what happened, where, why and what to do
  std::vector<Finding> findings;         // what the detector saw, faults included
  std::vector<std::string> notes;        // misuse and quirks that did not end the run, one line each
  sim::Cycle cycles = 0;                 // simulated
  sim::Cycle host_end = 0;               // first cycle after the host's last transaction; 0 without a program
  std::optional<sim::Cycle> first_kick;  // pulse
  std::optional<sim::Cycle> last_write_beat;  // last DRAM write data beat
  std::optional<sim::Cycle> last_read_beat;
  std::optional<sim::Cycle> last_completion;  // last CU_SIGNAL taken by the agent
  // First kick to the last result in memory (or completion, whichever is later).
  std::optional<sim::Cycle> machine_cycles() const;
};

class Runner {
 public:
  // With a program: checks its needs, loads its images. Without: the machine runs on its own (traffic).
  // All three must outlive the runner.
  Runner(System& system, const arch::Program* program, const RunLimits& limits);
  ~Runner();

  // Probes see what they are called for besides the runner's own bookkeeping. Null: none.
  void set_script_probe(orchestrator::ScriptProbe* probe);
  void set_agent_probe(orchestrator::AgentProbe* probe);
  void set_memory_probe(memory::MemoryProbe* probe);
  // Tells of every access to `ranges` in the memory of mesh `mesh`. Before the run.
  void watch_memory(std::size_t mesh, std::vector<MemoryWatch::Range> ranges, MemoryWatch::Sink sink);
  orchestrator::ProgramScript* script() { return script_.get(); }

  // Calls `action` when the cycles below `cycle` have run and those from there on have not, for checkpoints
  // and the like: it may look at the machine and must not change it. It returns the cycle of its next call,
  // kNever for none. A run that is over before a cycle never gets there.
  using Action = std::function<sim::Cycle(sim::Cycle now)>;
  void at(sim::Cycle cycle, Action action);

  // The books of the run, for checkpoints.
  void visit(sim::Archive& archive);

  // Runs at most until `end`. True: finished, see result().
  bool run_until(sim::Cycle end);
  // Runs to the end.
  const RunResult& run();
  const RunResult& result() const { return result_; }

  // Fraction of the program's steps done, 0..1.
  double steps_done() const;

 private:
  class Monitor;
  bool check(sim::Cycle now);
  void act(sim::Cycle now);
  void finish(arch::ExitStatus status, std::string message);
  void finish_normally();
  void load(std::uint8_t mesh, const arch::MemoryImage& image);
  void relayout(std::uint8_t mesh, const arch::StepRelayout& step);
  void check_outputs();
  std::string faults() const;
  bool waits_for_world() const;
  // A kernel without end: its beats and its traffic are no progress.
  bool waits_for_endless_kernel(bool host_done);
  void finish(arch::ExitStatus status, const Diagnosis& diagnosis);
  // Faults and notes so far, as further lines of a message.
  std::string findings_text() const;

  System& system_;
  const arch::Program* program_;
  RunLimits limits_;
  std::unique_ptr<orchestrator::ProgramScript> script_;
  std::unique_ptr<Monitor> monitor_;
  std::vector<std::unique_ptr<MemoryWatch>> watches_;  // by mesh; null: nobody watches
  RunResult result_;
  bool finished_ = false;
  bool host_less_ = false;
  Activity activity_;
  sim::Cycle next_check_ = 0;
  struct Planned {
    sim::Cycle cycle;
    Action action;
  };
  std::vector<Planned> planned_;
  sim::Cycle next_action_ = sim::kNever;  // the earliest of them
};

// Back door, all in no simulated time. Addresses outside the memory throw UserError.
void load_image(MeshSystem& mesh, const arch::MemoryImage& image);
// Returns how many bytes were written.
std::uint64_t relayout(MeshSystem& mesh, const arch::StepRelayout& step);
std::vector<std::uint8_t> read_memory(const MeshSystem& mesh, std::uint64_t address, std::uint64_t bytes);
void write_memory(MeshSystem& mesh, std::uint64_t address, std::span<const std::uint8_t> bytes);

}  // namespace ktpu::platform
