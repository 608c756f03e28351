// SPDX-License-Identifier: Apache-2.0
// Sees what software does wrong with the dispatcher, the completion counters and the mailbox, which the agent
// takes without a word (orchestrator.md section 11). Changes nothing of what the agent does.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "arch/flit.h"
#include "tlm/noc/endpoint_base.h"
#include "tlm/orchestrator/dispatch_ledger.h"
#include "tlm/sim/archive.h"

namespace ktpu::orchestrator {

class DispatchChecks {
 public:
  // `slots`: of the staging RAM. `ledger`: of the same agent, told of a flit or signal before this is.
  DispatchChecks(unsigned slots, const DispatchLedger& ledger) : ledger_(ledger), staged_(slots) {}

  // Elaboration: instructions a node's FIFO holds; 0 (the default): not known.
  void set_inst_depth(arch::Coord node, unsigned depth) { inst_depth_[node.node_byte()] = depth; }

  void reset();

  // A write of staging word `word`; words [next, end) are still to be streamed.
  void staged(sim::Cycle now, std::size_t word, std::size_t next, std::size_t end);
  struct Kick {
    bool running;  // a dispatch runs: the kick is ignored
    std::uint32_t left, length, base;
    unsigned dst;  // node byte
  };
  void kicked(sim::Cycle now, const Kick& kick);
  void seeded() { kept_ = 0; }
  void pushed(sim::Cycle now, const arch::Flit& flit);  // by the dispatcher or the mailbox
  void starved(sim::Cycle now, std::uint32_t left);     // the first cycle of a stall without credit
  // `lost`: a signal came in the same cycle; `running`: a dispatch runs.
  void done_cleared(sim::Cycle now, bool lost, bool running);
  void redirected(sim::Cycle now, unsigned from, unsigned to, std::uint32_t left);
  void send_ignored(sim::Cycle now, bool running);
  void mailbox_lost(sim::Cycle now, const arch::Flit& flit);

  const noc::EndpointMisuseLog& misuse() const { return misuse_; }
  void visit(sim::Archive& archive);

 private:
  void report(sim::Cycle now, const char* id, std::string text);

  const DispatchLedger& ledger_;
  noc::EndpointMisuseLog misuse_;
  std::array<std::uint32_t, 256> inst_depth_{};  // by node byte
  std::vector<std::uint8_t> staged_;             // a slot was written since the start
  std::uint32_t kept_ = 0;                       // credits since the seed that no completion gives back
};

}  // namespace ktpu::orchestrator
