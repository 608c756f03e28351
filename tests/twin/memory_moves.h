// SPDX-License-Identifier: Apache-2.0
// Random moves of the memory mover: every mode, shape, width and cap, faults among them.
#pragma once

#include "tests/support/random_moves.h"
#include "tests/twin/memory_lockstep.h"

namespace ktpu::test {

struct MoveLoad {
  std::uint64_t moves = 0, faults = 0, cycles = 0, handovers = 0;
};

// Moves and nothing else. `meddle`: register writes also reach moves that run.
template <class Twin = rtl::MemoryTwin>
MoveLoad run_moves(std::uint64_t seed, unsigned count, bool meddle) {
  SCOPED_TRACE(fmt::format("seed {}", seed));
  sim::Random random(seed);
  mt::BenchConfig config = on_bus(256u << seed % 3);
  config.agent.quirks = seed % 2 == 0;
  config.agent.interlink = seed % 3 == 2;  // idle
  config.agent.mesh_id = random.below(4);
  if (seed % 5 == 1) config.agent.staging = memory::StagingPlacement::kConverged;
  if (seed % 4 != 0)
    config.dram.first_read_beat = 1 + random.below(30), config.dram.write_response = 1 + random.below(40);
  if (seed % 7 == 0) config.dram.write_gaps = {3, 0, 9};
  RandomClient client(seed + 100, 0);
  MemoryPair<Twin> pair(config, {.client = &client});
  client.one_move_at_a_time = !meddle;
  for (unsigned n = 0; n < 1u << 14; ++n) {
    std::uint64_t w[4];
    for (std::uint64_t& word : w) word = random.next() & 0x00FF00FF000000FFull;  // as indices, too
    pair.memory.write(32ull * n, {reinterpret_cast<const std::uint8_t*>(w), 32});
  }
  sim::Cycle at = 10;
  for (unsigned n = 0; n < count; ++n) {
    const bool staged = seed % 5 == 1 && random.below(2) == 0;
    const std::uint64_t base = staged ? 1ull << 39 | std::uint64_t{config.agent.mesh_id} << 36 : 0;
    bool first = true;
    for (const auto& [offset, data] : random_move(random, base)) {
      // A seed that changes within a word is the one thing the two take at different times.
      if (meddle && offset == arch::mover::kSeed) continue;
      if (meddle) at += random.below(12);
      client.writes.push_back({first && !meddle ? 0 : at, offset, data});
      first = false;
    }
  }
  MoveLoad load;
  while ((!client.writes.empty() || !pair.at_rest()) && load.cycles < 600000 &&
         !testing::Test::HasFatalFailure()) {
    pair.run(50);
    load.cycles += 50;
  }
  pair.run(100);
  EXPECT_TRUE(pair.at_rest());
  load.moves = pair.agent->mover().moves();
  load.handovers = pair.compared_handovers();
  std::printf("seed %llu: %llu cycles, %llu moves done, %llu DRAM handovers compared, 0 mismatches\n",
              static_cast<unsigned long long>(seed), static_cast<unsigned long long>(load.cycles),
              static_cast<unsigned long long>(load.moves), static_cast<unsigned long long>(load.handovers));
  return load;
}

}  // namespace ktpu::test
