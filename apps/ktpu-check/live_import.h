// SPDX-License-Identifier: Apache-2.0
// A compiled kernel of vectors/compiler/live as a machine and a program for it: operands in their layouts,
// every round staged and run by the command engine, relayouts by the host.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "arch/program/program.h"
#include "topologies/description.h"

namespace ktpu::check {

struct LiveOptions {
  // DRAM cycles without a handshake that the host waits for between rounds (orchestrator.md section 9,
  // write-landing margin); 0: it does not wait. Relayouts wait for 256 in any case.
  std::uint32_t quiet_cycles = 256;
};

struct LiveProgram {
  topo::Machine machine;
  arch::Program program;
  std::vector<std::size_t> rounds;  // the StepRound of each round
};

// Throws UserError or a JSON exception on a file of another shape, or one whose own checksums do not hold.
LiveProgram import_live(const nlohmann::json& file, const LiveOptions& options = {});

// A recorded tensor as FP16 patterns, row-major; its checksum is compared.
std::vector<std::uint16_t> tensor_values(const nlohmann::json& tensor, const std::string& name);
std::vector<std::uint32_t> tensor_shape(const nlohmann::json& tensor);

}  // namespace ktpu::check
