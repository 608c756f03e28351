// SPDX-License-Identifier: Apache-2.0
// A poll that is not met, in words, for whoever looks at a run that stands still.
#pragma once

#include <cstdint>
#include <string>

namespace ktpu::orchestrator {

// "SIG_DONE (0x0070)", "NODE_STATUS of (1,1) (0x1088)", "0x0ff8". `offset`: of the control agent.
std::string register_text(std::uint32_t offset);

// What the poll waits for, the last value read, and the usual reason where the register has one
// (orchestrator.md section 11).
std::string poll_text(std::uint32_t offset, std::uint64_t mask, std::uint64_t want, std::uint64_t last);

}  // namespace ktpu::orchestrator
