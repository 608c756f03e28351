// SPDX-License-Identifier: Apache-2.0
// The memory mover (memory.md section 10): copies, gathers, fills or generates 32-byte words between two
// affine descriptors. A requester of its own at the DRAM port, commanded through the control agent's AUX
// window.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tlm/memory/mover_issue.h"
#include "tlm/memory/mover_registers.h"
#include "tlm/memory/mover_writer.h"

namespace ktpu::memory {

class Mover {
 public:
  // `quirks`: M1, a move may be done before its last write was issued. `origin`: coordinate for messages.
  Mover(bool quirks, arch::Coord origin, MisuseLog& misuse);

  DramWires& wires() { return wires_; }
  void reset(sim::Cycle start);
  void sync(sim::Cycle now) {
    issue_.sync(now);
    writer_.sync(now);
  }

  // A register write that reaches the mover in cycle `now`, before clock(): in effect from now + 1 on.
  void write(sim::Cycle now, std::uint32_t offset, std::uint64_t data);
  // One cycle, after the DRAM path's.
  void clock(sim::Cycle now);
  // The next cycle in which clock() must run even without an event on the wires.
  sim::Cycle next() const { return next_; }

  // As AUX_STAT shows them in the present cycle.
  bool busy() const { return busy_; }
  std::uint32_t moves() const { return static_cast<std::uint32_t>(moves_ & 0xFFFFFF); }
  arch::mover::Fault fault() const { return issue_.fault(); }

  // Nothing to do and nothing on its way.
  bool idle() const { return issue_.idle() && writer_.unfinished() == 0 && !busy_ && writes_ == 0; }
  const MoverIssue& issue() const { return issue_; }
  std::uint64_t progress() const { return issue_.progress(); }
  void visit(sim::Archive& archive);
  void waits(std::vector<sim::Wait>& waits) const;

 private:
  struct Write {
    std::uint32_t offset = 0;
    std::uint64_t data = 0;
  };

  DramWires wires_;
  MoverRegisters registers_;
  MoverIssue issue_;
  MoverWriter writer_;
  std::array<Write, 2> pending_{};  // one a register bus
  std::uint8_t writes_ = 0;
  bool busy_ = false;
  std::uint64_t moves_ = 0;
  sim::Cycle next_ = sim::kNever;
};

}  // namespace ktpu::memory
