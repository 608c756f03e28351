// SPDX-License-Identifier: Apache-2.0
// Random moves of the memory mover: every mode, shape, width and cap, faults among them.
#pragma once

#include "tests/unit/memory/mover_bench.h"
#include "tlm/sim/random.h"

namespace ktpu::test {

// One move's register writes, the last of them GO. Small sizes; `base`: address bits of all of it.
inline memory::test::Writes random_move(sim::Random& random, std::uint64_t base) {
  namespace mover = arch::mover;
  memory::test::Writes writes;
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
      memory::test::add_dimension(writes, destination, d, count, stride, random.below(4),
                                  random.below(9) - 4ll);
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

}  // namespace ktpu::test
