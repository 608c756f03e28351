// SPDX-License-Identifier: Apache-2.0
// The file around a saved state: what it belongs to, and whether it is whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "tlm/sim/cycle.h"

namespace ktpu::platform {

struct CheckpointHeader {
  std::string machine;
  std::string topology;  // resolved, as YAML
  std::uint64_t fingerprint = 0;
  std::string program;
  std::uint64_t program_hash = 0;  // 0: none
  sim::Cycle cycle = 0;            // the next one to run
};

// Writes a file beside `path` and gives it that name when it is complete. Throws UserError.
void write_checkpoint_file(const std::filesystem::path& path, const CheckpointHeader& header,
                           const std::string& state);
// Throws UserError for a file that is no checkpoint, of another format version, truncated or altered.
CheckpointHeader read_checkpoint_file(const std::filesystem::path& path, std::string& state);

}  // namespace ktpu::platform
