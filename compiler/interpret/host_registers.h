// SPDX-License-Identifier: Apache-2.0
// The control agent's registers as far as a program can tell without a clock (orchestrator.md section 3):
// staging RAM, the dispatcher's three registers, signals by node.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "arch/encoding/codes.h"
#include "arch/flit.h"

namespace ktpu::interpret {

struct Dispatch {
  arch::Coord to;
  std::vector<arch::Flit> flits;
};

class HostRegisters {
 public:
  explicit HostRegisters(unsigned staging_flits);

  // Offsets from the agent's base. A write of PROG_KICK gives what is dispatched. Throws UserError for a
  // register that stands for something else than dispatch (mailbox, mover, interlink).
  std::optional<Dispatch> write(std::uint32_t offset, std::uint64_t value);
  std::uint64_t read(std::uint32_t offset) const;
  void signal(arch::Coord from, arch::SignalCode code, std::uint32_t arg);

  void stage(unsigned slot, const arch::Flit& flit);
  Dispatch kick(arch::Coord to, unsigned base, unsigned count);
  std::uint16_t count(arch::Coord node) const { return nodes_[node.node_byte()].count; }
  bool valid(arch::Coord node) const { return nodes_[node.node_byte()].valid; }

 private:
  struct Node {
    bool valid = false;
    std::uint16_t count = 0;
    std::uint8_t code = 0;
    std::uint32_t arg = 0;
  };

  std::vector<arch::Flit> staging_;
  std::array<Node, 256> nodes_{};
  std::uint64_t scratch_ = 0, interrupts_ = 0;
  std::uint16_t destination_ = 0, length_ = 0, base_ = 0, credit_ = 0, done_ = 0;
};

}  // namespace ktpu::interpret
