// SPDX-License-Identifier: Apache-2.0
// The register writes that host steps come down to, in the host's two-slave address map (orchestrator.md 3.3
// and 8).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arch/program/program.h"

namespace ktpu::arch {

struct HostWrite {
  std::uint32_t address = 0;
  std::uint64_t data = 0;
  bool operator==(const HostWrite&) const = default;
};

// Five words a flit, low word first.
std::vector<HostWrite> staging_writes(const StepStage& stage);

// Four fields a command, loaded from command 0 on. Not the write that starts the engine.
std::vector<HostWrite> command_writes(std::span<const Command> commands);

// Cuts a list for an engine of `capacity` commands: each part ends with DONE and every part but the first
// begins with a poll of PROG_STAT run == 0, where registers and staging RAM may be left as they are
// (orchestrator.md section 8). Throws UserError when the list has no such place where one is needed.
std::vector<std::vector<Command>> split_commands(std::span<const Command> commands, std::size_t capacity);

}  // namespace ktpu::arch
