// SPDX-License-Identifier: Apache-2.0
// memory.md section 3: what a port does with addresses it cannot serve, with its timing; and section 7.2: the
// private store of a port.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/memory/bench.h"

namespace ktpu::memory::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kStaging = 0x80'0000'0000;

BenchConfig with(StagingPlacement placement, unsigned mesh = 0) {
  BenchConfig config;
  config.agent.staging = placement;
  config.agent.mesh_id = mesh;
  return config;
}

constexpr auto kPlacements = {StagingPlacement::kConverged, StagingPlacement::kPort};

// Counters by cycle: entry or plain reads in the first, writes in the second.
std::vector<std::pair<unsigned, unsigned>> counters(Bench& bench, Cycle end) {
  bench.start();
  std::vector<std::pair<unsigned, unsigned>> stat;
  for (Cycle now = 0; now < end; ++now) {
    stat.emplace_back(bench.agent.aux_stat() >> 24 & 0xFFFF, bench.agent.aux_stat() >> 8 & 0xFFFF);
    bench.engine.run_until(now + 1);
  }
  return stat;
}

// Row by row: special, own mesh, aperture 0 | special, others | not special, other mesh.
TEST(Memory_3, WhatAPortDoesWithAddressesItCannotServe) {
  struct Row {
    std::uint64_t addr;
    bool dropped;
  };
  for (const auto placement : kPlacements)
    for (const Row row : {Row{0x81'0000'0000, true}, Row{0x84'0000'1000, true}, Row{0xA0'0000'0000, true},
                          Row{0xC0'0000'0040, false}, Row{0x20'0000'0000, false}}) {
      Bench bench(with(placement));
      bench.sender().send(10, read_request(raw_entries(row.addr, 2, 4)));
      bench.sender().send(11, write_request(row.addr, 2));
      bench.sender().send(12, write_data(1, false));
      bench.sender().send(13, write_data(2, true));
      bench.run(300);
      EXPECT_EQ(bench.out().size(), row.dropped ? 0u : 9u) << std::hex << row.addr;
      EXPECT_EQ(bench.bus.ar.size(), row.dropped ? 0u : 2u);
      EXPECT_EQ(bench.bus.aw.size(), row.dropped ? 0u : 1u);
      ASSERT_FALSE(bench.agent.misuse().kept().empty());
      EXPECT_EQ(bench.agent.misuse().kept()[0].kind == MisuseKind::kDroppedAperture, row.dropped);
      EXPECT_TRUE(bench.agent.idle());
    }
}

TEST(Memory_3, StagingNotBuiltNothingIsDropped) {
  for (const std::uint64_t addr : {0x80'0000'0000, 0x81'0000'0000, 0xA0'0000'0000}) {
    Bench bench;
    bench.sender().send(10, read_request(raw_entries(addr, 1, 4)));
    bench.run(200);
    EXPECT_EQ(bench.out().size(), 4u);
    EXPECT_EQ(bench.bus.ar.at(0).addr, addr);
    EXPECT_EQ(bench.agent.misuse().kept().at(0).kind, MisuseKind::kAperture);
  }
}

// The request counts in a = t+4; the next one is taken in a, so its address is valid in a+1.
TEST(Memory_3, TimingOfADroppedRead) {
  Bench bench(with(StagingPlacement::kConverged));
  bench.sender().send(10, read_request(raw_entries(0x81'0000'0000, 8, 4)));
  bench.sender().send(11, read_request(raw_entries(0x81'0000'0000, 8, 4)));
  bench.sender().send(12, read_request(raw_entries(0x1000, 1, 1)));
  const auto stat = counters(bench, 200);
  EXPECT_EQ(stat[13].first, 0u);
  EXPECT_EQ(stat[14].first, 1u);  // one in total, not one an entry
  EXPECT_EQ(stat[15].first, 2u);
  EXPECT_EQ(stat[16].first, 3u);
  EXPECT_EQ(bench.bus.ar.at(0).cycle, 16u + 10);
  EXPECT_EQ(bench.out().size(), 1u);
}

// The write counts in A = k+7; the next ready slot is taken in A+1, its address valid in A+2.
TEST(Memory_3, TimingOfADroppedWrite) {
  Bench bench(with(StagingPlacement::kConverged));
  Sender& s = bench.sender();
  s.send(10, write_request(0x81'0000'0000, 1, Coord{1, 1}));
  s.send(11, write_request(0x4000, 1, Coord{2, 1}));
  s.send(12, write_data(1, true, Coord{1, 1}));  // A = 19
  s.send(13, write_data(2, true, Coord{2, 1}));
  const auto stat = counters(bench, 200);
  EXPECT_EQ(stat[18].second, 0u);
  EXPECT_EQ(stat[19].second, 1u);
  EXPECT_EQ(stat[20].second, 1u);
  EXPECT_EQ(stat[21].second, 2u);
  EXPECT_EQ(bench.bus.aw.at(0).cycle, 21u + 10);
  EXPECT_EQ(bench.out().size(), 1u);  // one acknowledgement
  EXPECT_EQ(bench.agent.misuse().kept().at(0).address, 0x81'0000'0000u);
  EXPECT_THAT(bench.agent.misuse().kept().at(0).text, HasSubstr("aperture 0x1 of mesh 0"));
}

// The dropped write's own slot is reusable from A+2: a seventeenth descriptor opens there.
TEST(Memory_3, SlotOfADroppedWrite) {
  Bench bench(with(StagingPlacement::kConverged));
  Sender& s = bench.sender();
  for (unsigned i = 0; i < 16; ++i)
    s.send(i, write_request(i == 0 ? 0x81'0000'0000 : 0x1000 * i, 1, Coord{static_cast<std::uint8_t>(i), 2}));
  s.send(16, write_data(1, true, Coord{0, 2}));  // A = 23
  s.send(17, write_request(0xF0000, 1, Coord{0, 3}, 77));
  s.send(18, write_data(2, true, Coord{0, 3}));
  bench.run(300);
  // The descriptor leaves the queue in 25, its data in 26, so the address is valid in 30.
  EXPECT_EQ(bench.bus.aw.at(0).cycle, 23u + 2 + 1 + 4 + 10);
}

BenchConfig private_stores() {
  BenchConfig config = with(StagingPlacement::kPort);
  config.agent.ports = {{0, 1}, {0, 2}};
  return config;
}

// A whole entry 4 cycles after the request for it, then as a raw entry of section 4.3: words from b+3, the
// next request in b+1. The run counts once.
TEST(Memory_7_2_Port, EntryReads) {
  Bench bench(private_stores());
  fill_words(*bench.agent.staging(0), 0x80, 12);
  bench.sender().send(10, read_request(raw_entries(kStaging + 0x80, 3, 4), kNode, 7));
  const auto stat = counters(bench, 100);
  const Cycle a = 14, b = a + 4;
  EXPECT_EQ(stat[a - 1].first, 0u);
  EXPECT_EQ(stat[a].first, 1u);
  EXPECT_EQ(stat.back().first, 1u);
  ASSERT_EQ(bench.out().size(), 12u);
  for (unsigned i = 0; i < 12; ++i) {
    EXPECT_EQ(bench.out_cycles()[i], b + 3 + 5 * (i / 4) + i % 4) << i;
    EXPECT_EQ(bench.out()[i].flit.txn(), 7u + i / 4);
    EXPECT_EQ(bench.out()[i].flit.w[0], 4u * i);
  }
  EXPECT_TRUE(bench.bus.ar.empty());
}

// Writes go in at one word a cycle, the response one cycle after the last.
TEST(Memory_7_2_Port, Writes) {
  Bench bench(private_stores());
  bench.sender().send(10, write_request(kStaging + 0x20, 3));
  for (unsigned i = 0; i < 3; ++i) bench.sender().send(11 + i, write_data(i + 1, i == 2));
  bench.run(100);
  const Cycle address = 13 + 7;
  EXPECT_THAT(bench.out_cycles(), ElementsAre(address + 3 + 1));
  for (unsigned i = 0; i < 3; ++i) {
    std::uint64_t word = 0;
    bench.agent.staging(0)->read(0x20 + 32 * i, {reinterpret_cast<std::uint8_t*>(&word), 8});
    EXPECT_EQ(word, 4u * (i + 1));
    bench.agent.staging(1)->read(0x20 + 32 * i, {reinterpret_cast<std::uint8_t*>(&word), 8});
    EXPECT_EQ(word, 0u);  // another port, another store
  }
  EXPECT_TRUE(bench.bus.aw.empty());
}

// The store holds finished words only: a request for conversion goes to the DRAM path, and so does a plain
// read, which is never checked.
TEST(Memory_7_2_Port, QuantAndPlainReadsGoToDram) {
  for (const arch::MemReq& request : {quant_entries(kStaging, 1), plain_read(kStaging, 1)}) {
    Bench bench(private_stores());
    bench.sender().send(10, read_request(request));
    bench.run(100);
    EXPECT_EQ(bench.bus.ar.at(0).addr, kStaging);
    EXPECT_EQ(bench.agent.misuse().kept().at(0).kind, MisuseKind::kAperture);
  }
}

TEST(Memory_7_2_Port, PeersReadTheStore) {
  Bench bench(private_stores());
  fill_words(*bench.agent.staging(0), 0, 8);
  arch::MemReq request = raw_entries(kStaging, 2, 2);
  request.n_peer = 1;
  request.peer0 = Coord{2, 1}.node_byte();
  bench.sender().send(9, read_request(request));
  bench.run(100);
  // b = 17 as in the worked example of section 4.3.
  EXPECT_THAT(bench.out_cycles(), ElementsAre(20, 21, 22, 23, 25, 26, 27, 28));
}

TEST(Memory_7_2_Port, RunsPastTheEndAreRecorded) {
  Bench bench(private_stores());
  bench.sender().send(10, read_request(raw_entries(kStaging + (2u << 20) - 128, 2, 4)));
  bench.run(100);
  EXPECT_EQ(bench.out().size(), 8u);
  EXPECT_EQ(bench.agent.misuse().kept().at(0).kind, MisuseKind::kStagingAlias);
}

}  // namespace
}  // namespace ktpu::memory::test
