// SPDX-License-Identifier: Apache-2.0
// The control agent's slave port as wires: at most one write beat and one read sample a cycle. The address
// phase and the response of the reference's bus are timing that the master keeps (orchestrator.md section 2):
// address in c, the write beat or the read sample in c+1, response or data in c+2, next address in c+3.
#pragma once

#include <cstdint>
#include <string>

#include "tlm/sim/link.h"

namespace ktpu::orchestrator {

struct BusBeat {
  bool write = false;
  bool read = false;
  std::uint8_t strobe = 0xFF;      // byte enables of a write; honoured by TX_FLIT only
  std::uint32_t write_offset = 0;  // byte offset inside the slave
  std::uint32_t read_offset = 0;
  std::uint64_t data = 0;
  bool operator==(const BusBeat&) const = default;
};

inline void visit_data(sim::Archive& archive, BusBeat& beat) {
  archive.state("write", beat.write, 1);
  archive.state("read", beat.read, 1);
  archive.state("strobe", beat.strobe, 8);
  archive.state("write_offset", beat.write_offset, 32);
  archive.state("read_offset", beat.read_offset, 32);
  archive.state("data", beat.data);
}

class RegisterBus {
 public:
  explicit RegisterBus(const std::string& name) : beat(name + ".beat", 64 + 32 + 32 + 2) {}

  sim::Link<BusBeat> beat;      // master to slave
  std::uint64_t read_data = 0;  // slave to master, in the cycle after the sample
};

inline constexpr unsigned kBusPeriod = 3;  // cycles of a single write or read (orchestrator.md section 2)

}  // namespace ktpu::orchestrator
