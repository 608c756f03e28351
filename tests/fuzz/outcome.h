// SPDX-License-Identifier: Apache-2.0
// How a topology and a program end, from their bytes to a run of bounded length, and what is allowed of that
// end: an exit status of 0..5, a message that says what and where, and nothing else whatever the input.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "arch/error.h"
#include "arch/program/program.h"
#include "tlm/platform/runner.h"
#include "topologies/description.h"

namespace ktpu::fuzz {

enum class Stage { kTopology, kProgram, kBuild, kRun };

struct Outcome {
  Stage stage = Stage::kTopology;
  arch::ExitStatus status = arch::ExitStatus::kOk;
  std::string message;
  std::string wrong;  // why this end is not allowed; empty: it is
};

inline constexpr const char* kTopologyName = "t.yaml";
inline constexpr const char* kProgramName = "p.bin";

// Reads the text; on success `machine` holds it.
Outcome read_topology(const std::string& text, topo::Machine& machine);
// Parses the file; on success `program` holds it.
Outcome read_program(std::span<const std::uint8_t> bytes, arch::Program& program);
// Builds the machine, runs the program (may be null) and makes the reports.
Outcome run(const topo::Machine& machine, const arch::Program* program, const platform::RunLimits& limits);

// Cycles for a machine of that size: fewer where a cycle costs more.
platform::RunLimits limits_for(const topo::Machine& machine);

}  // namespace ktpu::fuzz
