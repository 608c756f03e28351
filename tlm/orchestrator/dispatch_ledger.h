// SPDX-License-Identifier: Apache-2.0
// What software asked of the control agent and what came of it, for reports on a run that stands still or
// ends with something left. Changes nothing of what the agent does.
#pragma once

#include <array>
#include <cstdint>

#include "arch/encoding/codes.h"
#include "arch/flit.h"
#include "tlm/sim/archive.h"
#include "tlm/sim/cycle.h"

namespace ktpu::orchestrator {

struct DispatchLedger {
  // Things that happen without a word (orchestrator.md section 11).
  struct Event {
    std::uint64_t count = 0;
    sim::Cycle first = 0;  // meaningful when count != 0
    void add(sim::Cycle now) {
      if (count++ == 0) first = now;
    }
  };
  Event kicks_in_run;     // kicks ignored because a dispatch was running
  Event kicks_empty;      // kicks ignored because PROG_LEN was 0
  Event sends_ignored;    // mailbox sends ignored: a dispatch was running, or the TX FIFO was full
  Event redirects;        // changes of PROG_DST during a dispatch
  Event signals_cleared;  // signals missing in SIG_DONE because it was cleared in the cycle they came
  Event rx_lost;          // flits dropped because the receive mailbox was full

  Event stage_overruns;  // words the dispatcher read behind the end of the staging RAM

  // Since PROG_CRED was last written.
  std::uint64_t seeds = 0;  // writes of PROG_CRED, all in all
  std::uint32_t seed = 0;   // the last value
  sim::Cycle seeded_at = 0;
  std::uint64_t pushed = 0;    // flits the dispatcher sent, one credit each
  std::uint64_t returned = 0;  // INST_COMPLETE signals: a credit each
  std::uint64_t kept = 0;      // BATCH_COMPLETE and FAULT signals: none

  // By node byte: CU_INST flits sent to a node less the completions and faults it sent back.
  std::array<std::uint32_t, 256> outstanding{};
  std::array<std::uint32_t, 256> sent{};  // CU_INST flits, all in all

  // What a reset of the agent forgets.
  void reset() {
    seeds = 0;
    seed = 0;
    pushed = returned = kept = 0;
    outstanding.fill(0);
    sent.fill(0);
  }
  void seed_written(sim::Cycle now, std::uint32_t value) {
    ++seeds;
    seed = value;
    seeded_at = now;
    pushed = returned = kept = 0;
  }
  void flit_sent(const arch::Flit& flit) {
    if (flit.type() != arch::FlitType::kCuInst) return;
    ++outstanding[flit.dst().node_byte()];
    ++sent[flit.dst().node_byte()];
  }
  void signal(const arch::Flit& flit) {
    const auto code = static_cast<arch::SignalCode>(flit.bits(248, 8));
    const bool complete = code == arch::SignalCode::kInstComplete;
    if (!complete && code != arch::SignalCode::kBatchComplete && code != arch::SignalCode::kFault) return;
    ++(complete ? returned : kept);
    std::uint32_t& open = outstanding[flit.src().node_byte()];
    if (open != 0) --open;
  }
  void visit(sim::Archive& archive);
};

}  // namespace ktpu::orchestrator
