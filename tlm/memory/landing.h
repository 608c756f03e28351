// SPDX-License-Identifier: Apache-2.0
// Writes between leaving their unit and the response of the memory, and who reads or overwrites what they
// have not yet reached (memory.md section 5.4, orchestrator.md section 9: a completion does not mean that the
// data is in memory). Changes nothing of what the memory does.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "arch/flit.h"
#include "tlm/memory/misuse.h"
#include "tlm/noc/write_observer.h"
#include "tlm/sim/archive.h"

namespace ktpu::memory {

class LandingTracker final : public noc::WriteObserver {
 public:
  explicit LandingTracker(MisuseLog& misuse) : misuse_(misuse) {}

  void set_enabled(bool enabled) { enabled_ = enabled; }
  // Elaboration: where the memory ports are. A request to elsewhere does not count.
  void add_port(arch::Coord port) { ports_[port.node_byte()] = true; }
  void reset() { count_ = 0; }

  // The way of a write: out of a unit, in at a memory port, granted by the DRAM port, landed. A write may
  // begin anywhere on it. `words` are 32 bytes each.
  void write_sent(sim::Cycle now, const arch::Flit& request) override;
  void write_kept(sim::Cycle now, const arch::Flit& request) override;
  void write_arrived(sim::Cycle now, const arch::Flit& request);
  void write_granted(sim::Cycle now, unsigned requester, arch::Coord origin, std::uint64_t address,
                     std::uint32_t words);
  void write_landed(unsigned requester);  // the oldest granted one of it
  // The port acknowledges a write; for those that never came to the DRAM port.
  void write_acknowledged(arch::Coord origin, std::uint64_t address);

  // A read as it is granted.
  void read(sim::Cycle now, arch::Coord reader, std::uint64_t address, std::uint32_t words) {
    if (count_ != 0) check_read(now, reader, address, words);
  }

  struct Write {
    std::uint64_t begin = 0, end = 0;  // byte addresses, the mesh left out; end not included
    sim::Cycle since = 0;
    std::uint32_t order = 0;  // of its grant
    arch::Coord origin;
    std::uint8_t stage = 0, requester = 0;
  };
  // A write that has not landed and overlaps [address, address + bytes).
  std::optional<Write> pending(std::uint64_t address, std::uint64_t bytes) const;
  // "a write of (1,1) to 0x4000..0x40ff, on its way since cycle 812 (in the mesh)"
  static std::string describe(const Write& write);
  std::uint32_t count() const { return count_; }

  void visit(sim::Archive& archive);

 private:
  // More than can be on their way at once in a working machine; the oldest is forgotten beyond.
  static constexpr std::uint32_t kMost = 256;
  enum Stage : std::uint8_t { kSent, kArrived, kGranted };

  Write& add();
  Write* find(Stage below, arch::Coord origin, std::uint64_t begin);
  void remove(std::uint32_t index);
  void check_read(sim::Cycle now, arch::Coord reader, std::uint64_t address, std::uint32_t words);

  MisuseLog& misuse_;
  bool enabled_ = true;
  std::array<bool, 256> ports_{};
  std::array<Write, kMost> writes_{};  // the first count_, oldest first
  std::uint32_t count_ = 0;
  std::uint32_t grants_ = 0;
};

}  // namespace ktpu::memory
