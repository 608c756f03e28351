// SPDX-License-Identifier: Apache-2.0
// memory.md section 7: the adapters, arbiters and FIFOs in front of the DRAM, driven as bare requesters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/memory/path_bench.h"

namespace ktpu::memory::test {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(Memory_7_3, ReadAlone) {
  PathBench bench(256, {.first_read_beat = 5});
  fill_words(bench.memory, 0x1000, 8);
  bench.ends[1].reads.push_back({10, 0x1000, 3});
  bench.run(100);
  EXPECT_THAT(bench.ends[1].ar_granted, ElementsAre(11));
  EXPECT_THAT(cycles_of(bench.bus.ar), ElementsAre(20));
  EXPECT_THAT(cycles_of(bench.bus.r), ElementsAre(25, 26, 27));
  EXPECT_THAT(bench.ends[1].beats, ElementsAre(33, 34, 35));
  EXPECT_THAT(bench.ends[1].values, ElementsAre(0, 4, 8));
  EXPECT_EQ(bench.bus.ar[0].id, 1u);
}

TEST(Memory_7_3, WriteAlone) {
  PathBench bench(256, {.write_response = 3});
  bench.ends[2].writes.push_back({10, 0x40, 4});
  bench.run(100);
  EXPECT_THAT(bench.ends[2].aw_granted, ElementsAre(11));
  EXPECT_THAT(cycles_of(bench.bus.aw), ElementsAre(20));
  EXPECT_THAT(bench.ends[2].taken, ElementsAre(16, 17, 18, 19));
  EXPECT_THAT(cycles_of(bench.bus.w), ElementsAre(24, 25, 26, 27));
  EXPECT_THAT(cycles_of(bench.bus.b), ElementsAre(30));
  EXPECT_THAT(bench.ends[2].responses, ElementsAre(39));
}

TEST(Memory_7_3, PackingPhaseAndStrobes) {
  for (const unsigned bus : {256u, 512u, 1024u}) {
    const unsigned r = bus / 256;
    for (unsigned phase = 0; phase < 4; ++phase) {
      for (unsigned n = 1; n <= 9; ++n) {
        PathBench bench(bus);
        fill_words(bench.memory, 0, 64, 1000);
        const std::uint64_t addr = 0x100 + 32 * phase;
        bench.ends[0].writes.push_back({0, addr, n});
        bench.ends[0].reads.push_back({60, addr, n});
        bench.run(150);
        const unsigned in_beat = phase % r, beats = (n + in_beat + r - 1) / r;
        ASSERT_EQ(bench.bus.aw.size(), 1u);
        EXPECT_EQ(bench.bus.aw[0].addr, addr / (32 * r) * (32 * r));
        EXPECT_EQ(bench.bus.aw[0].beats, beats);
        ASSERT_EQ(bench.bus.w.size(), beats);
        unsigned lanes = 0;
        for (const auto& w : bench.bus.w)
          lanes += static_cast<unsigned>(std::popcount(w.id));  // id: lane mask
        EXPECT_EQ(lanes, n);
        EXPECT_EQ(bench.bus.w[0].id & 1, in_beat == 0);
        EXPECT_EQ(bench.bus.ar[0].beats, beats);
        EXPECT_EQ(bench.bus.r.size(), beats);
        ASSERT_EQ(bench.ends[0].values.size(), n);
        for (unsigned i = 0; i < n; ++i) {
          EXPECT_EQ(bench.ends[0].values[i], i + 1);
          EXPECT_EQ(bench.ends[0].beats[i], 60 + 11 + 8 + i);  // head over-fetch costs no cycle
        }
        std::uint64_t before = 0, after = 0;
        bench.memory.read(addr - 32, {reinterpret_cast<std::uint8_t*>(&before), 8});
        bench.memory.read(addr + 32 * n, {reinterpret_cast<std::uint8_t*>(&after), 8});
        EXPECT_EQ(before, 1000 + (addr - 32) / 8);  // the neighbours are untouched
        EXPECT_EQ(after, 1000 + (addr + 32 * n) / 8);
      }
    }
  }
}

// Both arbiters: lowest requester at or after the pointer, pointer = winner + 1, decided on the vector of the
// cycle before, and the winner is out for one cycle.
TEST(Memory_7_3, RoundRobin) {
  PathBench bench;
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned k = 0; k < 3; ++k) bench.ends[i].writes.push_back({10, 0x1000 * i, 1});
  bench.run(500);
  for (unsigned i = 0; i < 4; ++i)
    EXPECT_THAT(bench.ends[i].aw_granted, ElementsAre(11 + i, 15 + i, 19 + i)) << i;
  EXPECT_EQ(bench.bus.aw.size(), 12u);
  for (unsigned k = 0; k < 12; ++k) EXPECT_EQ(bench.bus.aw[k].id, k % 4);
}

TEST(Memory_7_3, WinnerCannotWinAgainInTheNextCycle) {
  PathBench bench;
  for (unsigned k = 0; k < 4; ++k) bench.ends[3].writes.push_back({10, 0, 1});
  bench.run(300);
  EXPECT_THAT(bench.ends[3].aw_granted, ElementsAre(11, 13, 15, 17));
}

TEST(Memory_7_3, PointerStartsAtZeroAndStays) {
  PathBench bench;
  bench.ends[1].writes.push_back({10, 0, 1});  // pointer 2 afterwards
  for (const unsigned i : {0u, 1u, 2u}) bench.ends[i].writes.push_back({50, 0, 1});
  bench.run(300);
  EXPECT_THAT(bench.ends[2].aw_granted, ElementsAre(51));
  EXPECT_THAT(bench.ends[0].aw_granted, ElementsAre(52));
  EXPECT_THAT(bench.ends[1].aw_granted, ElementsAre(11, 53));
}

// Write data follows address order; one idle cycle between bursts.
TEST(Memory_7_3, WriteMuxIdleCycle) {
  PathBench bench;
  bench.ends[0].writes.push_back({10, 0, 3});
  bench.ends[1].writes.push_back({10, 0x1000, 2});
  bench.run(100);
  EXPECT_THAT(bench.ends[0].taken, ElementsAre(16, 17, 18));
  EXPECT_THAT(bench.ends[1].taken, ElementsAre(20, 21));
}

// Section 10.4: single-word writes of one requester whose next address shows the cycle after the word is
// taken follow each other every 7 cycles.
TEST(Memory_7_3, SevenCyclesPerSingleWordWrite) {
  PathBench bench;
  bench.ends[0].writes.push_back({10, 0, 1});
  bench.ends[0].writes.push_back({17, 32, 1});
  bench.ends[0].writes.push_back({24, 64, 1});
  bench.run(200);
  EXPECT_THAT(bench.ends[0].taken, ElementsAre(16, 23, 30));
  EXPECT_THAT(bench.ends[0].aw_granted, ElementsAre(11, 18, 25));
}

// Section 7.1: both offered together, the write is presented; the choice is held until granted. A second read
// behind one in flight is held and the write behind it waits: last word in r, read granted r+2, its first
// beat on the bus r+12, write presented r+3.
TEST(Memory_7_1, WriteFirstThenHeld) {
  PathBench bench;
  bench.ends[0].writes.push_back({10, 0, 1});
  bench.ends[0].reads.push_back({10, 0x100, 4});
  bench.ends[0].reads.push_back({11, 0x200, 1});
  bench.ends[0].writes.push_back({16, 0x40, 1});
  bench.run(200);
  EXPECT_EQ(bench.ends[0].aw_granted[0], 11u);
  EXPECT_EQ(bench.ends[0].ar_granted[0], 13u);  // presented in 12
  const Cycle r = bench.ends[0].beats[3];
  EXPECT_EQ(r, 12u + 10 + 1 + 3 + 8);
  EXPECT_EQ(bench.ends[0].ar_granted[1], r + 2);
  EXPECT_EQ(bench.bus.r[4].cycle, r + 12);
  EXPECT_EQ(bench.ends[0].aw_granted[1], r + 4);  // presented in r+3
}

// The DRAM serves one read at a time: the second address waits on the bus.
TEST(Memory_7_3, TwoReadersShareTheDram) {
  PathBench bench;
  bench.ends[0].reads.push_back({10, 0, 8});
  bench.ends[1].reads.push_back({10, 0x1000, 8});
  bench.run(200);
  EXPECT_THAT(bench.ends[0].ar_granted, ElementsAre(11));
  EXPECT_THAT(bench.ends[1].ar_granted, ElementsAre(12));
  EXPECT_THAT(cycles_of(bench.bus.ar), ElementsAre(20, 29));  // ready again after the last beat in 28
  EXPECT_EQ(bench.ends[1].beats[0], 38u);
}

// A requester that stalls blocks everybody's data behind its own, up to the FIFO and then the DRAM.
TEST(Memory_7_3, StalledRequesterBlocksOthers) {
  PathBench bench;
  bench.ends[0].stalled = [](Cycle now) { return now < 300; };
  bench.ends[0].reads.push_back({10, 0, 100});
  bench.ends[1].reads.push_back({11, 0x1000, 8});
  bench.run(300);
  EXPECT_EQ(bench.bus.r.size(), 65u);  // R FIFO: 64 + 1
  EXPECT_TRUE(bench.ends[1].beats.empty());
  bench.run(600);
  EXPECT_EQ(bench.ends[0].beats.front(), 300u);
  EXPECT_EQ(bench.ends[0].beats.size(), 100u);
  EXPECT_EQ(bench.ends[1].beats.size(), 8u);
}

// With several reads in flight only a requester's own data wait for it.
TEST(Memory_7_3, StalledRequesterAloneWithManyReads) {
  PathBench bench(256, {}, 4, 16);
  bench.ends[0].stalled = [](Cycle now) { return now < 300; };
  for (unsigned k = 0; k < 6; ++k) {
    bench.ends[0].reads.push_back({10, 0x1000 * k, 8});
    bench.ends[1].reads.push_back({10, 0x1000 * k, 8});
  }
  bench.run(300);
  EXPECT_EQ(bench.ends[1].beats.size(), 48u);
  bench.run(600);
  EXPECT_EQ(bench.ends[0].beats.front(), 300u);
  EXPECT_EQ(bench.ends[0].beats.size(), 48u);
}

TEST(Memory_7_3, WriteFifosFillUp) {
  PathBench bench(256, {.first_write_beat = 400});
  for (unsigned k = 0; k < 30; ++k) bench.ends[3].writes.push_back({10, 0x100u * k, 4});
  bench.run(400);
  // In the DRAM 1, in the FIFO 17, in the register before it 1.
  EXPECT_EQ(bench.ends[3].aw_granted.size(), 19u);
  EXPECT_EQ(bench.ends[3].taken.size(), 65u);
  bench.run(20000);
  EXPECT_EQ(bench.ends[3].responses.size(), 30u);
}

TEST(Memory_3, AddressesThatNothingServesGoOut) {
  Bench bench;
  bench.sender().send(0, read_request(plain_read(0x80'0000'0080, 1)));
  bench.sender().send(1, read_request(plain_read(0x20'0000'0000, 1)));
  bench.run(200);
  EXPECT_EQ(bench.bus.ar[0].addr, 0x80'0000'0080u);  // bit 39 still set
  EXPECT_EQ(bench.bus.ar[1].addr, 0x20'0000'0000u);  // mesh bits too
  EXPECT_EQ(bench.out().size(), 2u);
  ASSERT_EQ(bench.agent.misuse().total(), 2u);
  EXPECT_EQ(bench.agent.misuse().kept()[0].kind, MisuseKind::kAperture);
  EXPECT_EQ(bench.agent.misuse().kept()[1].kind, MisuseKind::kForeignMesh);
  EXPECT_EQ(bench.agent.misuse().kept()[1].requester, kNode);
}

}  // namespace
}  // namespace ktpu::memory::test
