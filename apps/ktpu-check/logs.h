// SPDX-License-Identifier: Apache-2.0
// What a run did, cycle by cycle, seen from outside: flits on links, DRAM handshakes, the control agent, the
// host and what a cluster shows of itself. Pure recorders; all cycles are absolute.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "tlm/cluster/cluster_probe.h"
#include "tlm/memory/memory_probe.h"
#include "tlm/orchestrator/control_agent.h"
#include "tlm/orchestrator/program_script.h"
#include "tlm/sim/engine.h"
#include "tlm/vector/vector_core.h"

namespace ktpu::check {

using sim::Cycle;
using Cycles = std::vector<Cycle>;

struct FlitEvent {
  Cycle cycle = 0;
  arch::Flit flit;
};

// Flits that moved over watched links, and cycles in which one was held up there (valid and busy).
class LinkLog final : public sim::Observer {
 public:
  struct Watched {
    const sim::FlitLink* link = nullptr;
    std::vector<FlitEvent> flits;
    std::uint64_t stalled = 0;
  };

  // Returns the number to ask for with at().
  std::size_t watch(const sim::FlitLink& link);
  const Watched& at(std::size_t number) const { return watched_[number]; }

  void on_cycle(Cycle now) override;
  void on_skip(Cycle first, Cycle end) override;

 private:
  std::vector<Watched> watched_;
};

class DramLog final : public memory::MemoryProbe {
 public:
  Cycles read_bursts, read_beats, write_bursts, write_beats;

  void on_read_address(Cycle now, const memory::DramAddress&) override { read_bursts.push_back(now); }
  void on_read_beat(Cycle now, unsigned, bool) override { read_beats.push_back(now); }
  void on_write_address(Cycle now, const memory::DramAddress&) override { write_bursts.push_back(now); }
  void on_write_beat(Cycle now, const memory::DramWriteBeat&) override { write_beats.push_back(now); }
};

class AgentLog final : public orchestrator::AgentProbe {
 public:
  Cycles kicks;
  std::vector<FlitEvent> pushes, leaves, arrivals;  // into the TX FIFO, off the agent, taken by it

  void kick(Cycle pulse) override { kicks.push_back(pulse); }
  void push(Cycle now, const arch::Flit& flit) override { pushes.push_back({now, flit}); }
  void sent(Cycle now, const arch::Flit& flit) override { leaves.push_back({now, flit}); }
  void received(Cycle now, const arch::Flit& flit) override { arrivals.push_back({now, flit}); }
};

// Cycles [begin, end) in which a flag was high.
struct Interval {
  Cycle begin = 0;
  Cycle end = 0;
  Cycle length() const { return end - begin; }
};

class ClusterLog final : public cluster::ClusterProbe {
 public:
  struct Command {
    Cycle cycle = 0;
    cluster::AccOp op = cluster::AccOp::kNop;
  };
  Cycles issue, retire, gemm_start, drain_start;
  std::array<std::vector<Interval>, 3> busy;  // by BusyFlag
  std::vector<Command> commands;

  void on_issue(Cycle now, const arch::ClusterInst&) override { issue.push_back(now); }
  void on_retire(Cycle now, bool) override { retire.push_back(now); }
  void on_gemm_start(Cycle now) override { gemm_start.push_back(now); }
  void on_drain_start(Cycle now, bool) override { drain_start.push_back(now); }
  void on_busy(Cycle now, cluster::BusyFlag flag, bool level) override;
  void on_command(Cycle now, cluster::AccOp op, unsigned, bool) override { commands.push_back({now, op}); }

  const std::vector<Interval>& intervals(cluster::BusyFlag flag) const {
    return busy[static_cast<std::size_t>(flag)];
  }
  // Commands of sweeps: LOAD, ADD and ADD_EMIT.
  std::vector<Command> sweep_commands() const;
};

class VectorLog final : public vector::VectorProbe {
 public:
  struct Executed {
    Cycle cycle = 0;
    std::uint32_t word = 0;
  };
  struct Run {
    Cycle start = 0;  // kernel cycle 0
    bool done = false, fault = false;
    std::uint32_t cycles = 0;  // busy cycles
    std::uint32_t result = 0;  // what the completion carries
    std::vector<Executed> executed;
  };
  std::vector<Run> runs;

  void on_run(Cycle start, unsigned) override { runs.emplace_back().start = start; }
  void on_execute(Cycle now, unsigned, std::uint32_t word) override {
    runs.back().executed.push_back({now, word});
  }
  void on_done(Cycle now, std::uint32_t result, bool fault, bool run) override;
};

class HostLog final : public orchestrator::ScriptProbe {
 public:
  struct Step {
    Cycle cycle = 0;
    std::size_t index = 0;
  };
  struct Write {
    Cycle address = 0;
    std::size_t step = 0;
    std::uint32_t offset = 0;
  };
  struct Poll {
    Cycle data = 0;
    std::size_t step = 0;
    std::uint32_t offset = 0;
    std::uint64_t want = 0, mask = 0, reads = 0;
  };
  std::vector<Step> steps;
  std::vector<Write> writes;
  std::vector<Poll> polls;
  Cycle end_cycle = 0;
  bool ended = false;
  // Called for both ends of a relayout, when set.
  std::function<void(Cycle now, std::size_t step, bool done)> on_relayout;

  void step(Cycle now, std::size_t index) override { steps.push_back({now, index}); }
  void write(Cycle address, std::size_t step_index, std::uint32_t offset, std::uint64_t) override {
    writes.push_back({address, step_index, offset});
  }
  void poll_met(Cycle now, std::size_t step_index, std::uint32_t offset, std::uint64_t want,
                std::uint64_t mask, std::uint64_t reads) override {
    polls.push_back({now, step_index, offset, want, mask, reads});
  }
  void relayout(Cycle now, std::size_t step_index, bool done) override {
    if (on_relayout) on_relayout(now, step_index, done);
  }
  void end(Cycle now) override {
    end_cycle = now;
    ended = true;
  }
};

// Cycles of those events whose flit is of `type`.
Cycles cycles_of(const std::vector<FlitEvent>& events, arch::FlitType type);

}  // namespace ktpu::check
