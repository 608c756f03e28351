// SPDX-License-Identifier: Apache-2.0
// A poll that is not met, in words, for whoever looks at a run that stands still.
#pragma once

#include <cstdint>
#include <string>

#include "tlm/sim/cycle.h"

namespace ktpu::orchestrator {

// A poll under way, of a host or a command engine.
struct PendingPoll {
  unsigned mesh = 0;
  bool engine = false;       // of a command engine's registers; else of a control agent's
  std::uint32_t offset = 0;  // register
  std::uint64_t mask = 0, want = 0, last = 0;
  std::uint64_t reads = 0;  // so far; `last` means nothing before the first
  sim::Cycle since = 0;     // first read
  // (value & mask) == want can never hold, whatever is read.
  bool impossible() const { return (want & ~mask) != 0; }
};

// "SIG_DONE (0x0070)", "NODE_STATUS of (1,1) (0x1088)", "0x0ff8". `offset`: of the control agent.
std::string register_text(std::uint32_t offset);

// What the poll waits for, the last value read, and the usual reason where the register has one
// (orchestrator.md section 11).
std::string poll_text(std::uint32_t offset, std::uint64_t mask, std::uint64_t want, std::uint64_t last);

}  // namespace ktpu::orchestrator
