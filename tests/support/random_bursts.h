// SPDX-License-Identifier: Apache-2.0
// Random bursts over the memory window: plain writes and reads, uploads, the staging memory.
#pragma once

#include "tlm/memory/window_bus.h"
#include "tlm/sim/random.h"

namespace ktpu::test {

struct RandomBurst {
  bool write = false;
  memory::WindowAddress address;
};

// `staged`: some go to the staging memory of mesh `mesh`.
inline RandomBurst random_burst(sim::Random& random, bool staged, unsigned mesh) {
  std::uint64_t addr = random.below(1u << 14) * 32ull;
  const std::uint32_t kind = random.below(8);
  std::uint32_t beats = 1 + random.below(random.below(5) == 0 ? 256 : 12);
  if (staged && kind == 0) addr |= 1ull << 39 | std::uint64_t{mesh} << 36;
  if (kind < 4 && kind != 0) return {false, {addr, beats}};
  if (kind >= 6) {  // an upload: whole entries, either layout
    beats = 8 * (1 + random.below(4));
    addr |= 1ull << 39 | std::uint64_t{4 + random.below(2)} << 32 | std::uint64_t{mesh} << 36;
  }
  return {true, {addr, beats}};
}

}  // namespace ktpu::test
