// SPDX-License-Identifier: Apache-2.0
// Random moves of the memory mover: every mode, shape, width and cap, faults among them.
#pragma once

#include "tests/twin/memory_lockstep.h"
#include "tests/unit/memory/mover_bench.h"

namespace ktpu::test {

// One move's register writes, the last of them GO. Small sizes; `base`: address bits of all of it.
inline mt::Writes random_move(sim::Random& random, std::uint64_t base) {
  namespace mover = arch::mover;
  mt::Writes writes;
  const auto words = [&](std::uint32_t bound) { return base + random.below(bound) * 32ull; };
  for (const bool destination : {false, true}) {
    const unsigned ndim = random.below(16) == 0 ? random.below(8) : 1 + random.below(3);
    std::uint64_t at = words(1u << 14);
    if (random.below(40) == 0) at += 1 + random.below(31);  // misaligned
    writes.push_back({mover::kBase, mover::base_word(destination, at, ndim)});
    unsigned left = 1 + random.below(random.below(4) == 0 ? 400 : 60);
    for (unsigned d = 0; d < std::min(ndim, 6u); ++d) {
      const unsigned count = d + 1 == ndim ? left : random.below(std::min(left, 6u) + 1);
      left = std::max(1u, left / std::max(1u, count));
      std::int64_t stride = d + 1 == ndim && random.below(3) != 0 ? 32 : (random.below(65) - 32ll) * 32;
      if (random.below(60) == 0) stride += 8;
      mt::add_dimension(writes, destination, d, count, stride, random.below(4), random.below(9) - 4ll);
    }
    for (unsigned axis = 1; axis <= 2; ++axis)
      writes.push_back({mover::kExtent, mover::extent_word(destination, axis, random.below(9) - 4ll,
                                                           random.below(3) == 0 ? random.below(40) : 0)});
  }
  writes.push_back(
      {mover::kIndex,
       words(1u << 14) | std::uint64_t{random.below(16) == 0 ? random.below(65536) : 1 + random.below(60)}
                             << 40});
  writes.push_back({mover::kSeed, random.next()});
  writes.push_back({mover::kImmediate, random.next() & 0xFFFFFFFFu});
  writes.push_back(
      {mover::kGatherRow, std::uint64_t{32u * random.below(64)} | std::uint64_t{random.below(5)} << 32});
  if (random.below(4) == 0) writes.push_back({0x48 + 8 * random.below(30), random.next()});  // no register
  std::uint64_t control =
      random.below(12) == 0 ? random.below(8) : std::array{0u, 0u, 0u, 2u, 3u, 4u}[random.below(6)];
  control |= std::uint64_t{random.below(24) == 0 ? 3u : random.below(3)} << 3;
  control |= std::uint64_t{random.below(2)} << 11;                              // coalesce
  control |= std::uint64_t{random.below(3) == 0 ? random.below(8) : 0u} << 13;  // cap
  control |= 1ull << 16;
  writes.push_back({mover::kControl, control});
  return writes;
}

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
  load.handovers = pair.compared->compared();
  std::printf("seed %llu: %llu cycles, %llu moves done, %llu DRAM handovers compared, 0 mismatches\n",
              static_cast<unsigned long long>(seed), static_cast<unsigned long long>(load.cycles),
              static_cast<unsigned long long>(load.moves), static_cast<unsigned long long>(load.handovers));
  return load;
}

}  // namespace ktpu::test
