// SPDX-License-Identifier: Apache-2.0
// The control agent: register map, staging RAM, dispatcher, dispatch credit, completion mirror and mailbox
// (orchestrator.md sections 2 to 7). It is a client of the memory agent and has no coordinate of its own.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tlm/memory/agent_client.h"
#include "tlm/orchestrator/dispatch_checks.h"
#include "tlm/orchestrator/dispatch_ledger.h"
#include "tlm/orchestrator/register_bus.h"
#include "tlm/sim/attribution.h"
#include "tlm/sim/fifo.h"

namespace ktpu::orchestrator {

struct ControlAgentParams {
  arch::Coord position;               // memory port 0: the source it stamps on dispatched flits
  unsigned grid_lo = 1, grid_hi = 1;  // what CAPS publishes (orchestrator.md section 3.1)
  unsigned staging_flits = 128;       // slots of the staging RAM, 1..128: the window ends at 0x3400
  bool quirks = true;                 // O1: NODE_STATUS survives a reset
};

// What a checker or a report wants to see as it happens. All null by default.
class AgentProbe {
 public:
  virtual ~AgentProbe() = default;
  virtual void kick(sim::Cycle /*pulse*/) {}
  virtual void push(sim::Cycle /*now*/, const arch::Flit&) {}      // into the TX FIFO
  virtual void sent(sim::Cycle /*now*/, const arch::Flit&) {}      // left the agent
  virtual void received(sim::Cycle /*now*/, const arch::Flit&) {}  // taken, signals included
};

// A FAULT signal that reached the control agent.
struct SignalledFault {
  sim::Cycle cycle;
  arch::Coord node;
  std::uint32_t argument;
};
inline constexpr std::size_t kFaultsKept = 64;

// A control agent that tells, whatever it is made of. One probe; null: none.
class ProbedAgent {
 public:
  virtual ~ProbedAgent() = default;
  virtual void set_probe(AgentProbe* probe) = 0;
  virtual const std::vector<SignalledFault>& faults() const = 0;  // the first kFaultsKept
};

// Exclusive states of the dispatcher and of the output register behind the TX FIFO, by priority.
enum class DispatchCycle : std::uint8_t { kTxFull, kCredit, kDispatching, kIdle };
inline constexpr std::array<sim::CycleState, 4> kDispatchCycles{{
    {"tx_full", "Cycles of a dispatch in which the TX FIFO had no room"},
    {"credit", "Cycles of a dispatch without dispatch credit"},
    {"dispatching", "Cycles in which a word was fetched from the staging RAM or the last flit pushed"},
    {"idle", "Cycles without a dispatch"},
}};
enum class TxCycle : std::uint8_t { kBlocked, kSending, kIdle };
inline constexpr std::array<sim::CycleState, 3> kTxCycles{{
    {"blocked", "Cycles in which a flit of the control agent was not taken by the mesh"},
    {"sending", "Cycles in which a flit of the control agent was taken by the mesh"},
    {"idle", "Cycles without a flit in the output register"},
}};

class ControlAgent final : public memory::AgentClient, public ProbedAgent, public noc::EndpointReports {
 public:
  // `buses` and `aux` must outlive the agent; aux may be null (reads 0, ignores writes).
  ControlAgent(const ControlAgentParams& params, std::vector<RegisterBus*> buses, memory::AuxWindow* aux);

  void reset(sim::Cycle start) override;
  const arch::Flit* out() const override { return out_valid_ ? &out_ : nullptr; }
  void drive(sim::Cycle now) override;
  bool offer(sim::Cycle now, const arch::Flit& flit) override;
  sim::Cycle clock(sim::Cycle now, bool out_taken) override;
  void visit(sim::Archive& archive) override;
  void sync(sim::Cycle now) override;
  std::vector<sim::Wait> waits(sim::Cycle now) const override;

  void set_probe(AgentProbe* probe) override { probe_ = probe; }
  void set_aux(memory::AuxWindow* aux) { aux_ = aux; }

  // Register value as a read sampled in cycle `now` (orchestrator.md section 3.1); no side effects.
  std::uint64_t peek(std::uint32_t offset, sim::Cycle now) const;

  // The dispatcher as it stands, and what it was asked for.
  struct Dispatcher {
    bool run;
    std::uint32_t left;  // flits not yet sent, while it runs
    std::uint32_t credit;
    arch::Coord to;            // PROG_DST
    sim::Cycle starved_since;  // first cycle without credit of the present stall; kNever: none
  };
  Dispatcher dispatcher() const {
    return {run_, left_, credit_, arch::Coord::from_node_byte(prog_dst_), starved_since_};
  }
  const DispatchLedger& ledger() const { return ledger_; }

  const std::vector<SignalledFault>& faults() const override { return faults_; }
  const noc::EndpointMisuseLog& misuse() const override { return checks_.misuse(); }
  std::vector<noc::QuirkHits> quirk_hits() const override;  // O1
  // Elaboration: instructions a node's FIFO holds, for the check of credit.
  void set_inst_depth(arch::Coord node, unsigned depth) { checks_.set_inst_depth(node, depth); }

 private:
  void write(sim::Cycle now, const BusBeat& beat);
  void take_signal(const arch::Flit& flit);
  void dispatch(sim::Cycle now);
  void note_stale_read(sim::Cycle now, std::uint32_t offset);
  bool tx_full() const { return tx_.full(); }
  DispatchCycle dispatch_state() const;

  ControlAgentParams params_;
  std::vector<RegisterBus*> buses_;
  memory::AuxWindow* aux_;
  AgentProbe* probe_ = nullptr;

  // Registers software writes.
  std::uint64_t ctrl_ = 0, irq_en_ = 0;
  std::uint8_t prog_dst_ = 0;
  std::uint16_t prog_len_ = 0, prog_base_ = 0, credit_ = 0, sig_done_ = 0;
  std::array<std::uint64_t, 5> tx_flit_{};
  std::array<std::uint64_t, 256> node_status_{};
  std::array<std::uint8_t, 256> stale_{};  // NODE_STATUS words from before the last reset
  std::vector<std::uint64_t> stage_;
  DispatchChecks checks_;

  // Pulses: written in w, acting in w+1.
  bool kick_ = false, clear_done_ = false, load_credit_ = false, mailbox_push_ = false, rx_pop_ = false;
  std::uint16_t credit_value_ = 0;
  struct AuxBeat {
    std::uint32_t offset = 0;
    std::uint64_t data = 0;
  };
  std::array<AuxBeat, 2> aux_beats_{};  // one a bus
  std::uint8_t aux_count_ = 0;

  // Dispatcher.
  bool run_ = false, push_ = false;
  std::uint16_t left_ = 0;
  std::uint32_t pointer_ = 0;
  std::uint8_t word_ = 0;
  arch::Flit assembly_{}, push_flit_{};

  // Mesh side.
  sim::Fifo<arch::Flit> tx_, rx_;
  arch::Flit out_{};
  bool out_valid_ = false, overflow_ = false;
  // Flags of the present cycle, before its pushes and pops; only used within clock().
  bool tx_full_now_ = false, rx_readable_now_ = false, run_now_ = false;
  // What offer() saw in this cycle; committed by clock().
  bool signal_in_ = false, rx_in_ = false, overflow_in_ = false;
  arch::Flit flit_in_{};

  std::array<std::uint64_t, 2> read_q_{};  // read data registers, one a bus
  std::vector<SignalledFault> faults_;

  sim::Attribution<DispatchCycle, kDispatchCycles> dispatch_cycles_;
  sim::Attribution<TxCycle, kTxCycles> tx_cycles_;
  std::uint64_t dispatched_ = 0, signals_ = 0, mailbox_sent_ = 0, mailbox_received_ = 0, starved_cycles_ = 0,
                writes_ = 0, reads_ = 0;
  DispatchLedger ledger_;
  sim::Cycle starved_since_ = sim::kNever;
  std::uint64_t o1_hits_ = 0;
  sim::Cycle o1_cycle_ = 0;  // of the first hit
  std::string o1_text_;
};

}  // namespace ktpu::orchestrator
