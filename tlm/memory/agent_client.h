// SPDX-License-Identifier: Apache-2.0
// The seam between the memory agent (ports, DRAM path) and what answers beside it at memory-port coordinates:
// the control agent now, the interlink later (memory.md section 2). The client is a part of the memory
// agent's unit, not a unit of its own: between the two there are wires of zero cycles.
#pragma once

#include "arch/flit.h"
#include "tlm/sim/unit.h"

namespace ktpu::memory {

// The control agent's AUX window on the memory agent (orchestrator.md section 4): the mover, the interlink
// and the traffic of the ports.
class AuxWindow {
 public:
  virtual ~AuxWindow() = default;
  // Clock phase, before the memory agent's parts: a register write that its client sees in cycle `now`, one
  // after its W beat. `offset`: byte offset in AUX_CFG, a multiple of 8; below 0x80 the mover's (memory.md
  // 10.1), from there on the interlink's (11.5) or, without one, the mover's too, which ignores them.
  virtual void aux_write(sim::Cycle now, std::uint32_t offset, std::uint64_t data) = 0;
  // AUX_STAT and AUX_STATW[word], word 0..15, as a register read sampled in the present cycle sees them.
  virtual std::uint64_t aux_stat() const = 0;
  virtual std::uint64_t aux_status(unsigned word) const = 0;
};

class AgentClient {
 public:
  virtual ~AgentClient() = default;

  virtual void reset(sim::Cycle start) = 0;
  // Drive phase: the flit in the client's output register, null if none. It stays the same until taken.
  virtual const arch::Flit* out() const = 0;
  // Drive phase: outputs that are not flits (the register bus).
  virtual void drive(sim::Cycle now) = 0;
  // Clock phase, before clock(): the one flit selected for the client in this cycle. False: the client was
  // full and the memory agent loses the flit (memory.md section 2).
  virtual bool offer(sim::Cycle now, const arch::Flit& flit) = 0;
  // Clock phase; `out_taken`: the flit of out() left in this cycle. Returns as sim::Unit::clock().
  virtual sim::Cycle clock(sim::Cycle now, bool out_taken) = 0;

  virtual void sync(sim::Cycle /*now*/) {}  // as sim::Unit::sync()
  virtual void visit(sim::Archive& archive) = 0;
  virtual std::vector<sim::Wait> waits(sim::Cycle now) const = 0;
};

}  // namespace ktpu::memory
