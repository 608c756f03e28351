// SPDX-License-Identifier: Apache-2.0
// A run saved in the middle, and taken up again: run(0..N) and run(0..k), save, restore, run(k..N) give the
// same bits, cycles, statistics and waves.
//
// The file: magic "KTPUCKPT", format version and size, a content hash, then the machine and the program it
// belongs to, the cycle, and the state of every unit, link and engine as sim::SaveArchive writes it,
// deflated. Equal states give equal files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "tlm/platform/runner.h"
#include "tlm/platform/system.h"

namespace ktpu::platform {

inline constexpr std::uint32_t kCheckpointVersion = 1;

// The program of a run, as a checkpoint names it. No program: empty and 0.
struct ProgramId {
  std::string name;
  std::uint64_t hash = 0;  // arch::program_hash()
};

// Throws UserError naming the unit if the machine holds state that no checkpoint can reach: an RTL twin, a
// lock-step pair, a host or a memory outside.
void require_checkpoints(System& system);

// Between cycles. All of them throw UserError; a file that exists already is replaced in one step or left as
// it was.
void save_checkpoint(const std::filesystem::path& path, System& system, Runner& runner,
                     const ProgramId& program);
// `system` and `runner` must be those of a run with the same machine and program, anywhere in it. A file that
// is not a checkpoint of that run is refused, with what differs, before anything is changed.
void restore_checkpoint(const std::filesystem::path& path, System& system, Runner& runner,
                        const ProgramId& program);

// The same without a file around it.
std::string save_state(System& system, Runner& runner);
void restore_state(System& system, Runner& runner, std::string_view bytes);

// Equal for equal machines: registers, memories, queues, wires, counters, and the bytes in DRAM. Depends
// neither on idle skipping nor on checkpoints.
std::uint64_t state_digest(System& system);

}  // namespace ktpu::platform
