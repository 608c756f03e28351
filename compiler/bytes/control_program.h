// SPDX-License-Identifier: Apache-2.0
// The register writes and polls that carry out a round (compiler.md section 11). What is written before GO
// (the staging RAM) stands apart from the program, which alone goes into the command engine.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "arch/encoding/codes.h"
#include "arch/program/host_writes.h"
#include "arch/program/program.h"
#include "compiler/bytes/artifact.h"

namespace ktpu::bytes {

// Whether a register of the control agent still holds what was last written to it: only then a second write
// of the same value may be left out. PROG_KICK is an event, dispatch eats PROG_CRED, signals count up
// SIG_DONE.
bool keeps_value(std::uint32_t offset);

// One program. The shadow of the registers begins empty: nothing is taken over from an earlier program, so
// each can be run again. Offsets are from the agent's base.
class ControlProgram {
 public:
  void write(std::uint32_t offset, std::uint64_t data);  // always
  void write_changed(std::uint32_t offset, std::uint64_t data);
  void poll(std::uint32_t offset, std::uint64_t want, std::uint64_t mask);

  void seed_credits(std::uint32_t credit);
  void kick(const Kick& kick);
  // `count` as NODE_STATUS will show it: this round's signals and those before.
  void await_node(arch::Coord node, std::uint32_t count);
  // The same, and that the last signal had this code (and argument).
  void await_signal(arch::Coord node, arch::SignalCode code, std::uint32_t count,
                    std::optional<std::uint32_t> argument = {});
  void clear_done();
  void await_all(std::uint32_t signals);
  void done(std::uint64_t code = 0);

  const std::vector<arch::Command>& commands() const { return commands_; }

 private:
  std::vector<arch::Command> commands_;
  std::map<std::uint32_t, std::uint64_t> shadow_;
};

// How often each node has signalled before a round, 16 bits as NODE_STATUS counts.
class Baselines {
 public:
  void set(arch::Coord node, std::uint16_t count) { counts_[node] = count; }
  std::uint16_t of(arch::Coord node) const;
  void add(const Artifact& round);  // has been run

 private:
  std::map<arch::Coord, std::uint16_t> counts_;
};

std::vector<arch::Command> control_program(const Artifact& round, const Baselines& before = {});
// Each slot that a kick names, once, in the order of the kicks.
std::vector<arch::HostWrite> setup_writes(const Artifact& round);

}  // namespace ktpu::bytes
