// SPDX-License-Identifier: Apache-2.0
// fabric.md section 1.2: a word of an asynchronous FIFO is readable from the seventh read edge strictly after
// the write edge that ends its write cycle, w + 8 at equal clocks; depth + 1 words.
#include "tlm/sim/async_fifo.h"

#include <gtest/gtest.h>

#include <vector>

#include "tlm/sim/fifo.h"
#include "tlm/sim/random.h"

namespace ktpu::sim {
namespace {

// The rule by counting edges: those of the read clock are at 1/to, 2/to, ...
Cycle by_counting(Cycle written, std::uint64_t from, std::uint64_t to) {
  Cycle edge = 1;
  while (edge * from <= (written + 1) * to) ++edge;  // edge/to <= (written+1)/from: not strictly after
  for (unsigned counted = 1; counted < 7; ++counted) ++edge;
  return edge;  // the cycle that this edge begins
}

TEST(AsyncFifo, ReadableFromTheSeventhEdgeStrictlyAfter) {
  struct Pair {
    std::uint64_t from, to;
  };
  for (const Pair p : {Pair{300, 300},
                       {300, 600},
                       {600, 300},
                       {300, 500},
                       {500, 300},
                       {7, 6},
                       {1, 1000},
                       {1000, 1},
                       {299'999'999, 300'000'000}}) {
    const ClockRatio ratio(p.from * 1'000'000, p.to * 1'000'000);
    for (Cycle w = 0; w < 60; ++w)
      EXPECT_EQ(seen_across(ratio, w), by_counting(w, p.from, p.to)) << p.from << "->" << p.to << " at " << w;
  }
}

TEST(AsyncFifo, EqualClocksAreWPlus8) {
  AsyncFifo<int> fifo(16, ClockRatio(300, 300));
  Fifo<int> same(FifoShape::async(16));
  fifo.push(5, 1);
  same.push(5, 1);
  EXPECT_EQ(fifo.readable_from(), 13u);
  EXPECT_EQ(fifo.readable_from(), same.readable_from());
  EXPECT_FALSE(fifo.readable(12));
  EXPECT_TRUE(fifo.readable(13));
}

// As long as it is not full the one FIFO with two clocks of one frequency is the other one: random pushes and
// pops, every flag in every cycle.
TEST(AsyncFifo, EqualsTheFifoOfOneClock) {
  const std::uint64_t seed = 20261130;
  Random random(seed);
  AsyncFifo<int> fifo(16, {});
  Fifo<int> same(FifoShape::async(16));
  int next = 0;
  unsigned pops = 0;
  for (Cycle now = 0; now < 20'000; ++now) {
    const unsigned pace = now / 2000 % 3;  // seldom full, seldom empty, both
    ASSERT_EQ(fifo.size(), same.size()) << "seed " << seed;
    ASSERT_EQ(fifo.readable(now), same.readable(now)) << "cycle " << now << " seed " << seed;
    const bool pop = same.readable(now) && random.next() % 4 >= pace;
    const bool push = !fifo.full(now) && random.next() % 4 <= pace;
    if (fifo.readable(now)) {
      ASSERT_EQ(fifo.head(), same.head());
    }
    ASSERT_TRUE(!same.full() || fifo.full(now)) << "conservative: full whenever the other one is";
    if (push) {
      fifo.push(now, next);
      same.push(now, next++);
    }
    if (pop) {
      fifo.pop(now);
      same.pop(now);
      ++pops;
    }
  }
  EXPECT_GT(pops, 3000u);
}

// Depth + 1 words; the place of a pop in p counts as free from p + 8.
TEST(AsyncFifo, CapacityAndTheReturnOfPlaces) {
  AsyncFifo<int> fifo(16, {});
  for (Cycle w = 0; w < 17; ++w) {
    ASSERT_FALSE(fifo.full(w)) << w;
    fifo.push(w, static_cast<int>(w));
  }
  EXPECT_TRUE(fifo.full(17));
  EXPECT_EQ(fifo.free_from(), kNever);
  ASSERT_TRUE(fifo.readable(30));
  fifo.pop(30);
  EXPECT_EQ(fifo.free_from(), 38u);
  EXPECT_TRUE(fifo.full(37));
  EXPECT_FALSE(fifo.full(38));
}

// The round trip of 16 cycles is covered by the 17 places of depth 16: a word a cycle for ever. 16 places
// would just do; the power of two below does not.
TEST(AsyncFifo, SustainsAWordACycleFromDepth16On) {
  for (const std::uint32_t depth : {8u, 14u, 15u, 16u}) {
    AsyncFifo<int> fifo(depth, {});
    unsigned refused = 0, gaps = 0;
    for (Cycle now = 0; now < 200; ++now) {
      const bool full = fifo.full(now);
      if (fifo.readable(now))
        fifo.pop(now);
      else if (now >= 8)
        ++gaps;
      if (full)
        ++refused;
      else
        fifo.push(now, 0);
    }
    EXPECT_EQ(refused == 0 && gaps == 0, depth >= 15) << depth;
  }
}

// Many words may become readable at one edge of a slow reader; it takes one a cycle all the same.
TEST(AsyncFifo, OnePopACycle) {
  AsyncFifo<int> fifo(16, ClockRatio(1000, 10));
  for (Cycle w = 0; w < 5; ++w) fifo.push(w, static_cast<int>(w));
  EXPECT_EQ(fifo.readable_from(), 7u);
  for (Cycle r = 7; r < 12; ++r) {
    ASSERT_TRUE(fifo.readable(r));
    EXPECT_EQ(fifo.head(), static_cast<int>(r - 7));
    fifo.pop(r);
    EXPECT_FALSE(fifo.readable(r)) << "not twice in one cycle";
  }
}

TEST(ClockRatio, ExactAtTheEndOfTime) {
  const ClockRatio up(299'999'999, 100'000'000'000);
  const ClockRatio down = up.inverse();
  for (const Cycle c : {Cycle{0}, Cycle{1}, Cycle{299'999'999}, Cycle{1} << 40, Cycle{1} << 55}) {
    EXPECT_EQ(down.containing(up.begun_before(c)), c);  // the first `to` cycle at or after the start of c
    EXPECT_GE(up.begun_before(c), up.containing(c));
    EXPECT_LE(up.begun_before(c), up.containing(c) + 1);
  }
  EXPECT_EQ(up.containing(kNever), kNever);
  EXPECT_LT(up.containing(kNever - 1), kNever);  // saturates below "never"
}

}  // namespace
}  // namespace ktpu::sim
