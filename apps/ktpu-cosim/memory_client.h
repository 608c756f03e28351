// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/ktpu-cosim/feed.h"
#include "tlm/memory/agent_client.h"

namespace ktpu::cosim {

// In the control agent's place beside a memory agent: sends the flits of the port "client" and refuses at
// random what it gets; writes the registers of the port "aux", up to two a cycle, as two register buses do.
class MemoryClient final : public memory::AgentClient {
 public:
  // `prefix`: of the names of its ports. `waits`: a message of register writes waits until the mover rests;
  // else registers change under moves.
  MemoryClient(const Setup& setup, const std::string& prefix, bool waits, memory::AuxWindow& window);
  void send(const Message& message);
  bool has(unsigned port) const { return port == client_ || port == aux_; }

  void reset(sim::Cycle) override { full_ = false; }
  const arch::Flit* out() const override { return full_ ? &flit_ : nullptr; }
  void drive(sim::Cycle) override {}
  bool offer(sim::Cycle now, const arch::Flit& flit) override;
  sim::Cycle clock(sim::Cycle now, bool out_taken) override;
  void visit(sim::Archive&) override {}
  std::vector<sim::Wait> waits(sim::Cycle) const override { return {}; }

 private:
  bool mover_busy() const;
  void write_registers(sim::Cycle now);

  Conditions conditions_;
  Transfers& transfers_;
  memory::AuxWindow& window_;
  unsigned client_, aux_;
  bool waits_;
  Feed<arch::Flit> flits_;
  Feed<orchestrator::BusBeat> writes_;
  arch::Flit flit_{};
  bool full_ = false;
  sim::Cycle quiet_until_ = 0;
};

}  // namespace ktpu::cosim
