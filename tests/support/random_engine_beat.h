// SPDX-License-Identifier: Apache-2.0
// Random host accesses to a command engine: commands of all kinds, GO, reads of every register.
#pragma once

#include "arch/encoding/registers.h"
#include "tlm/orchestrator/register_bus.h"
#include "tlm/sim/random.h"

namespace ktpu::test {

// `commands`: of the engine.
inline orchestrator::BusBeat random_engine_beat(sim::Random& random, unsigned commands) {
  namespace eng = arch::engine;
  orchestrator::BusBeat beat;
  beat.write = random.below(3) != 0;
  beat.read = !beat.write || random.below(6) == 0;
  beat.read_offset = 8 * random.below(5) + (random.below(10) == 0 ? 1 : 0);
  const std::uint32_t kind = random.below(20);
  const std::uint32_t command = random.below(commands + 2), field = random.below(4);
  beat.write_offset = eng::command_field(command, field) + (kind == 0 ? random.below(8) : 0);
  beat.data =
      field == 0 ? (random.below(24) == 0 ? random.next() : 1 + random.below(40) / 19) : random.next();
  if (field == 3 && random.below(4) != 0) beat.data = random.below(2);  // polls that come true
  if (field == 2 && random.below(4) != 0) beat.data = random.below(2);
  if (kind == 1) beat.write_offset = static_cast<std::uint32_t>(random.next());
  if (kind == 2 || kind == 3) {
    beat.write_offset = eng::kCtrl;
    beat.data = random.below(8) != 0 ? 1 : random.next();
  }
  return beat;
}

}  // namespace ktpu::test
