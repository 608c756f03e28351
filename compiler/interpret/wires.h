// SPDX-License-Identifier: Apache-2.0
// What a unit sees of the machine around it: memory behind its port, other units, the control agent.
// Everything arrives at once and in order.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "arch/encoding/payloads.h"
#include "arch/flit.h"
#include "arch/formats/operand.h"

namespace ktpu::interpret {

using arch::Word256;

// Where a remote flit ends: node byte in mesh `mesh`; 0 = not remote (fabric.md section 2.5).
struct Remote {
  unsigned node = 0;
  unsigned mesh = 0;
};

// One L1 entry of a shared FILL, on its way to a peer.
struct SharedEntry {
  unsigned slot = 0;                 // L1 entry within the bank
  arch::Side side = arch::Side::kA;  // what its words are laid out for
  arch::OperandEntry entry;
};

class Wires {
 public:
  virtual ~Wires() = default;
  // 40-bit byte addresses.
  virtual void read(std::uint64_t address, std::span<std::uint8_t> out) = 0;
  virtual void write(std::uint64_t address, std::span<const std::uint8_t> bytes, Remote remote) = 0;
  // A CU_DATA stream to another unit; data flits = words.
  virtual void send(arch::Coord to, Remote remote, const arch::CuDataDesc& desc,
                    std::span<const Word256> words) = 0;
  virtual void share(unsigned peer_node, const SharedEntry& entry) = 0;
  // Something that is no error but that nobody wants; the place is added.
  virtual void warn(const std::string& text) = 0;
};

// A CU_DATA stream as its receiver gets it.
struct Stream {
  arch::CuDataDesc desc;
  std::span<const Word256> words;
};

struct Counters {
  std::uint64_t saturated = 0;  // values that met the FP16 bound on their way out
  std::uint64_t rounds = 0, kicks = 0, flits = 0;
  std::uint64_t fills = 0, gemms = 0, drains = 0, runs = 0;
  std::uint64_t vector_instructions = 0;
  std::uint64_t signals = 0;
  // Only with warnings on: reads of memory that nothing wrote, and of what units wrote since the host last
  // waited for quiet memory (orchestrator.md section 9).
  std::uint64_t unwritten_reads = 0, early_reads = 0;
};

}  // namespace ktpu::interpret
