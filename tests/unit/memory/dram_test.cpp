// SPDX-License-Identifier: Apache-2.0
// memory.md section 15: the simple DRAM, each parameter; the byte store behind it; the banked model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "arch/error.h"
#include "tests/unit/memory/bench.h"
#include "tlm/memory/banked_dram.h"

namespace ktpu::memory::test {
namespace {

using testing::ElementsAre;

// Drives a device's channels directly: addresses from given cycles, always ready to take data.
class DeviceBench {
 public:
  explicit DeviceBench(DramDevice& d) : device(d) { device.reset(0); }
  struct Burst {
    Cycle from;
    DramAddress address;
  };
  std::vector<Burst> reads, writes;
  std::vector<std::uint64_t> write_values;  // word 0 of each beat in order
  std::function<bool(Cycle)> take_r = [](Cycle) { return true; };
  std::function<bool(Cycle)> take_b = [](Cycle) { return true; };
  std::function<bool(Cycle)> give_w = [](Cycle) { return true; };

  void run(Cycle end) {
    for (; now < end; ++now) {
      const DramOutputs& out = device.out();
      DramInputs in;
      DramWriteBeat beat;
      if (out.ar_ready) ar_ready.push_back(now);
      if (ar_next < reads.size() && reads[ar_next].from <= now && out.ar_ready) {
        in.ar = &reads[ar_next++].address;
        ar.push_back(now);
      }
      if (aw_next < writes.size() && writes[aw_next].from <= now && out.aw_ready) {
        in.aw = &writes[aw_next++].address;
        aw.push_back(now);
      }
      if (out.w_ready && w_next < write_values.size() && give_w(now)) {
        beat.data.words.fill(write_values[w_next++]);
        beat.lanes = 0xFF & ((1u << (device.bus_bits() / 256)) - 1);
        in.w = &beat;
        w.push_back(now);
      }
      if (out.r_valid) {
        if (!r_shown_) r_offered.push_back(now);
        r_shown_ = true;
        if (take_r(now)) {
          in.r_taken = true;
          r_shown_ = false;
          r.push_back(now);
          r_values.push_back(out.r_data.words[0]);
          r_ids.push_back(out.r_id);
        }
      }
      if (out.b_valid && take_b(now)) {
        in.b_taken = true;
        b.push_back(now);
      }
      device.clock(now, in);
    }
  }

  DramDevice& device;
  Cycle now = 0;
  std::size_t ar_next = 0, aw_next = 0, w_next = 0;
  std::vector<Cycle> ar, aw, w, r, r_offered, b, ar_ready;
  std::vector<std::uint64_t> r_values;
  std::vector<unsigned> r_ids;

 private:
  bool r_shown_ = false;
};

TEST(Memory_15, Defaults) {
  SparseMemory memory{{}};
  SimpleDram dram(memory, {}, 256);
  DeviceBench bench(dram);
  bench.reads = {{10, {0, 3, 0, {}}}, {10, {64, 1, 1, {}}}};
  bench.writes = {{10, {0, 2, 0, {}}}, {10, {64, 1, 1, {}}}};
  bench.write_values = {7, 8, 9};
  bench.run(60);
  EXPECT_THAT(bench.ar, ElementsAre(10, 14));
  EXPECT_THAT(bench.r, ElementsAre(11, 12, 13, 15));
  EXPECT_THAT(bench.aw, ElementsAre(10, 14));
  EXPECT_THAT(bench.w, ElementsAre(11, 12, 15));
  EXPECT_THAT(bench.b, ElementsAre(13, 16));
}

TEST(Memory_15, FirstReadBeatAndGaps) {
  SparseMemory memory{{}};
  SimpleDram dram(memory, {.first_read_beat = 7, .read_gaps = {0, 2, 5}}, 256);
  DeviceBench bench(dram);
  bench.reads = {{10, {0, 5, 0, {}}}, {10, {0, 2, 0, {}}}};
  bench.run(80);
  EXPECT_THAT(bench.r, ElementsAre(17, 18, 21, 27, 28, 36, 37));  // gap index starts over in each burst
  EXPECT_THAT(bench.ar, ElementsAre(10, 29));
  for (const Cycle c : bench.ar_ready) EXPECT_FALSE(c >= 11 && c <= 28) << c;
}

// Gaps count from the cycle in which a beat is accepted; a beat is held until then.
TEST(Memory_15, HeldReadBeat) {
  SparseMemory memory{{}};
  SimpleDram dram(memory, {.read_gaps = {3}}, 256);
  DeviceBench bench(dram);
  bench.reads = {{10, {0, 2, 0, {}}}};
  bench.take_r = [](Cycle now) { return now >= 20; };
  bench.run(60);
  EXPECT_THAT(bench.r_offered, ElementsAre(11, 24));
  EXPECT_THAT(bench.r, ElementsAre(20, 24));
}

TEST(Memory_15, WriteNumbers) {
  SparseMemory memory{{}};
  SimpleDram dram(memory, {.first_write_beat = 6, .write_gaps = {1, 4}, .write_response = 9}, 256);
  DeviceBench bench(dram);
  bench.writes = {{10, {0, 4, 0, {}}}, {10, {0, 1, 0, {}}}};
  bench.write_values = {1, 2, 3, 4, 5};
  bench.take_b = [](Cycle now) { return now >= 40; };
  bench.run(90);
  EXPECT_THAT(bench.w, ElementsAre(16, 18, 23, 25, 47));
  EXPECT_THAT(bench.b, ElementsAre(40, 56));  // the first was offered from 34
  EXPECT_THAT(bench.aw, ElementsAre(10, 41));
}

TEST(Memory_15, WriteGapCountsFromTheBeat) {
  SparseMemory memory{{}};
  SimpleDram dram(memory, {.write_gaps = {2}}, 256);
  DeviceBench bench(dram);
  bench.writes = {{10, {0, 2, 0, {}}}};
  bench.write_values = {1, 2};
  bench.give_w = [](Cycle now) { return now >= 20; };
  bench.run(60);
  EXPECT_THAT(bench.w, ElementsAre(20, 23));
}

// A beat accepted in cycle w is seen by beats offered from w+2 on, whatever the read's latency.
TEST(Memory_15, ReadsSeeOldBytesInTheSameCycle) {
  for (const unsigned d : {1u, 2u, 5u}) {
    for (int offset = -3; offset <= 3; ++offset) {
      SparseMemory memory{{}};
      SimpleDram dram(memory, {.first_read_beat = d}, 256);
      DeviceBench bench(dram);
      bench.writes = {{10, {0, 1, 0, {}}}};
      bench.write_values = {42};
      bench.give_w = [](Cycle now) { return now >= 30; };
      const Cycle offered = static_cast<Cycle>(31 + offset);
      bench.reads = {{offered - d, {0, 1, 0, {}}}};
      bench.run(60);
      ASSERT_THAT(bench.w, ElementsAre(30));
      ASSERT_THAT(bench.r_offered, ElementsAre(offered));
      EXPECT_EQ(bench.r_values[0], offered >= 32 ? 42u : 0u) << d << " " << offset;
    }
  }
}

// The beat is sampled when it is offered, not when it is taken.
TEST(Memory_15, HeldBeatKeepsItsData) {
  SparseMemory memory{{}};
  SimpleDram dram(memory, {}, 256);
  DeviceBench bench(dram);
  bench.reads = {{10, {0, 1, 0, {}}}};
  bench.take_r = [](Cycle now) { return now >= 40; };
  bench.writes = {{15, {0, 1, 0, {}}}};
  bench.write_values = {42};
  bench.run(60);
  EXPECT_THAT(bench.r_values, ElementsAre(0));
}

TEST(Memory_15, ZeroLatenciesAreRefused) {
  SparseMemory memory{{}};
  EXPECT_THROW(SimpleDram(memory, {.first_read_beat = 0}, 256), arch::UserError);
  EXPECT_THROW(SimpleDram(memory, {.first_write_beat = 0}, 256), arch::UserError);
  EXPECT_THROW(SimpleDram(memory, {.write_response = 0}, 256), arch::UserError);
  EXPECT_THROW(SimpleDram(memory, {}, 300), arch::UserError);
}

TEST(Memory_15, OutOfRangeIsRecorded) {
  SparseMemory memory({.base = 0x8000'0000, .size = 0x10000, .wrap = false});
  SimpleDram dram(memory, {}, 256);
  MisuseLog log;
  dram.set_misuse_log(&log);
  DeviceBench bench(dram);
  bench.reads = {{10, {0x8000'FFE0, 1, 0, {}}}, {20, {0x8000'FFE0, 2, 0, Coord{2, 1}}}};
  bench.writes = {{40, {0x7FFF'FFE0, 1, 3, Coord{1, 2}}}};
  bench.write_values = {5};
  bench.run(80);
  ASSERT_EQ(log.total(), 2u);
  EXPECT_EQ(log.kept()[0].cycle, 20u);
  EXPECT_EQ(log.kept()[0].address, 0x8000'FFE0u);
  EXPECT_EQ(log.kept()[0].requester, (Coord{2, 1}));
  EXPECT_EQ(log.kept()[1].kind, MisuseKind::kOutOfRange);
  EXPECT_EQ(log.kept()[1].cycle, 40u);
}

TEST(SparseMemory, SpansPagesAndWraps) {
  SparseMemory memory({.base = 0x1000, .size = 3 * SparseMemory::kPageBytes, .wrap = false});
  std::vector<std::uint8_t> bytes(SparseMemory::kPageBytes + 100);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 + 1);
  const std::uint64_t at = 0x1000 + SparseMemory::kPageBytes - 50;
  memory.write(at, bytes);
  std::vector<std::uint8_t> back(bytes.size());
  memory.read(at, back);
  EXPECT_EQ(back, bytes);
  unsigned pages = 0;
  memory.for_each_page([&](std::uint64_t addr, std::span<const std::uint8_t> page) {
    EXPECT_EQ(addr, 0x1000 + pages * SparseMemory::kPageBytes);
    EXPECT_EQ(page.size(), SparseMemory::kPageBytes);
    ++pages;
  });
  EXPECT_EQ(pages, 3u);
  EXPECT_TRUE(memory.contains(0x1000, 3 * SparseMemory::kPageBytes));
  EXPECT_FALSE(memory.contains(0x1000, 3 * SparseMemory::kPageBytes + 1));
  EXPECT_FALSE(memory.contains(0xFFF, 1));
  EXPECT_TRUE(memory.contains(0x80'0000'1000, 1));  // bits [35:0] count
  std::array<std::uint8_t, 4> outside{1, 1, 1, 1};
  memory.write(0, outside);
  memory.read(0, outside);
  EXPECT_THAT(outside, ElementsAre(0, 0, 0, 0));

  SparseMemory ring({.base = 0x8000'0000, .size = 0x800000, .wrap = true});
  ring.write(0x8010'0000, std::span<const std::uint8_t>(bytes.data(), 16));
  ring.read(0x10'0000, std::span<std::uint8_t>(back.data(), 16));
  EXPECT_EQ(back[3], bytes[3]);
  ring.write(0x7F'FFF8, std::span<const std::uint8_t>(bytes.data(), 16));
  ring.read(0, std::span<std::uint8_t>(back.data(), 8));
  EXPECT_EQ(back[0], bytes[8]);
}

BankedDramParams small_banks() {
  return {.banks = 4,
          .row_bytes = 1024,
          .row_hit = 10,
          .row_closed = 16,
          .row_conflict = 24,
          .write_response = 5,
          .reads_outstanding = 4,
          .writes_outstanding = 2,
          .bytes_per_cycle = 64};
}

TEST(BankedDram, RowStates) {
  SparseMemory memory{{}};
  BankedDram dram(memory, small_banks(), 512);
  DeviceBench bench(dram);
  bench.reads = {
      {100, {0, 1, 0, {}}}, {200, {64, 1, 0, {}}}, {300, {4 * 1024, 1, 0, {}}}, {400, {1024, 1, 0, {}}}};
  bench.run(500);
  EXPECT_THAT(bench.r, ElementsAre(116, 210, 324, 416));  // closed, hit, conflict, another bank closed
}

TEST(BankedDram, BanksOverlapOneBankDoesNot) {
  const auto last = [](std::uint64_t stride) {
    SparseMemory memory{{}};
    BankedDram dram(memory, small_banks(), 512);
    DeviceBench bench(dram);
    for (unsigned i = 0; i < 4; ++i)
      bench.reads.push_back({10, {stride * i, 2, static_cast<std::uint8_t>(i), {}}});
    bench.run(300);
    EXPECT_THAT(bench.r_ids, ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
    return bench.r.back();
  };
  EXPECT_EQ(last(1024), 10u + 16 + 7);  // four banks side by side, the bus is the limit
  // One bank: opened once, then exchanged three times, each after the accesses before it.
  EXPECT_EQ(last(4096), 10u + 6 + 2 + 14 + 2 + 14 + 2 + 14 + 10 + 1);
}

TEST(BankedDram, OutstandingLimit) {
  SparseMemory memory{{}};
  BankedDram dram(memory, small_banks(), 512);
  DeviceBench bench(dram);
  for (unsigned i = 0; i < 6; ++i) bench.reads.push_back({10, {64 * i, 1, 0, {}}});
  bench.run(300);
  EXPECT_THAT(bench.ar, ElementsAre(10, 11, 12, 13, 27, 28));
}

TEST(BankedDram, BandwidthIsShared) {
  const auto both = [](double bytes_per_cycle, bool reads, bool writes) {
    SparseMemory memory{{}};
    BankedDramParams params = small_banks();
    params.bytes_per_cycle = bytes_per_cycle;
    BankedDram dram(memory, params, 512);
    DeviceBench bench(dram);
    for (unsigned i = 0; reads && i < 40; ++i) bench.reads.push_back({0, {64 * 8 * i, 8, 0, {}}});
    for (unsigned i = 0; writes && i < 40; ++i) bench.writes.push_back({0, {0x10000 + 64 * 8 * i, 8, 0, {}}});
    bench.write_values.resize(writes ? 320 : 0);
    bench.run(20000);
    EXPECT_EQ(bench.r.size(), reads ? 320u : 0u);
    EXPECT_EQ(bench.w.size(), writes ? 320u : 0u);
    return std::max(reads ? bench.r.back() : 0, writes ? bench.w.back() : 0);
  };
  EXPECT_NEAR(both(16, true, false), 320 * 4, 60);
  EXPECT_NEAR(both(16, false, true), 320 * 4, 60);
  EXPECT_NEAR(both(16, true, true), 640 * 4, 60);
  EXPECT_NEAR(both(48, true, true), 640 * 64 / 48.0, 60);
}

TEST(BankedDram, WriteThenReadSeesTheData) {
  SparseMemory memory{{}};
  BankedDram dram(memory, small_banks(), 512);
  DeviceBench bench(dram);
  bench.writes = {{10, {0x40, 2, 1, {}}}};
  bench.write_values = {5, 6};
  bench.reads = {{40, {0x40, 2, 1, {}}}};
  bench.run(100);
  EXPECT_THAT(bench.r_values, ElementsAre(5, 6));
  EXPECT_EQ(bench.b.size(), 1u);
  EXPECT_EQ(bench.b[0], bench.w[1] + 16);  // the row had to be opened
}

TEST(BankedDram, BadNumbersAreRefused) {
  SparseMemory memory{{}};
  for (unsigned i = 0; i < 6; ++i) {
    BankedDramParams p = small_banks();
    if (i == 0) p.banks = 3;
    if (i == 1) p.row_bytes = 32;
    if (i == 2) p.row_hit = 0;
    if (i == 3) p.row_closed = 5;
    if (i == 4) p.bytes_per_cycle = 0;
    if (i == 5) p.writes_outstanding = 0;
    EXPECT_THROW(BankedDram(memory, p, 512), arch::UserError) << i;
  }
}

}  // namespace
}  // namespace ktpu::memory::test
