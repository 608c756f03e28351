// SPDX-License-Identifier: Apache-2.0
// Random beats and flits for the control agent.
#pragma once

#include "arch/encoding/codes.h"
#include "arch/encoding/registers.h"
#include "arch/flit.h"
#include "tlm/orchestrator/register_bus.h"
#include "tlm/sim/random.h"

namespace ktpu::test {

// Every register and window, the ends of the windows, and what is none of them.
inline std::uint32_t random_agent_offset(sim::Random& random) {
  namespace reg = arch::agent;
  const std::uint32_t high = random.below(16) == 0 ? 0x10000000u | random.below(16) << 16 : 0x10000000u;
  switch (random.below(12)) {
    case 0:
    case 1:
      return high | (reg::kStage + 8 * random.below(700));
    case 2:
      return high | (reg::kNodeStatus + 8 * random.below(512));
    case 3:
      return high | random.below(0x10000);
    case 4:
      return high | (reg::kAuxCfgMover - 16 + 8 * random.below(36));
    case 5:
      return high | (reg::kTxFlit + random.below(0x30));
    case 6:
      return high | (random.below(2) != 0 ? reg::kTxKick : reg::kRxPop);
    default: {
      const auto& table = reg::kRegisters;
      const auto& one = table[random.below(static_cast<std::uint32_t>(table.size()))];
      return high | (one.offset + 8 * random.below(one.count));
    }
  }
}

// Lengths and bases that let most dispatches end.
inline std::uint64_t random_agent_data(sim::Random& random, std::uint32_t offset) {
  namespace reg = arch::agent;
  switch (offset & 0xFFFF) {
    case reg::kProgLen:
      return random.below(16) == 0 ? random.next() : random.below(12);
    case reg::kProgBase:
      return random.below(16) == 0 ? random.next() : random.below(128);
    case reg::kProgCred:
      return random.below(8) == 0 ? random.next() : random.below(40);
    default:
      return random.next();
  }
}

inline orchestrator::BusBeat random_agent_beat(sim::Random& random) {
  orchestrator::BusBeat beat;
  beat.write = random.below(3) != 0;
  beat.read = !beat.write || random.below(8) == 0;
  beat.strobe = random.below(4) == 0 ? static_cast<std::uint8_t>(random.below(256)) : 0xFF;
  beat.write_offset = random_agent_offset(random);
  beat.read_offset = random_agent_offset(random);
  beat.data = random_agent_data(random, beat.write_offset);
  return beat;
}

// Signals of a few nodes, and anything.
inline arch::Flit random_agent_flit(sim::Random& random) {
  arch::Flit flit;
  for (std::uint64_t& word : flit.w) word = random.next();
  flit.w[4] &= 0xFFFFFFFFu;
  if (random.below(3) != 0) {
    flit = arch::make_flit(
        {0, 1}, {static_cast<std::uint8_t>(random.below(4)), static_cast<std::uint8_t>(random.below(4))},
        arch::FlitType::kCuSignal, random.below(256), true);
    flit.w[3] = (random.next() & ~(0xFFull << 56)) | static_cast<std::uint64_t>(random.below(6)) << 56;
  }
  return flit;
}

}  // namespace ktpu::test
