// SPDX-License-Identifier: Apache-2.0
// memory.md section 7.2: the converged staging memory, with bare requesters and through memory ports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/formats/quantise.h"
#include "tests/unit/memory/path_bench.h"

namespace ktpu::memory::test {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t kStaging = 0x80'0000'0000;

PathBench staged(SimpleDramParams dram = {}, unsigned reads_in_flight = 1) {
  return PathBench(256, std::move(dram), 4, reads_in_flight, true);
}

TEST(Memory_7_2, ReadGrantAndSixCyclesABeat) {
  auto bench = staged();
  fill_words(bench.path.staging()->memory(), 0x1000, 8);
  bench.ends[1].reads.push_back({10, kStaging + 0x1000, 4});
  bench.run(100);
  EXPECT_THAT(bench.ends[1].ar_granted, ElementsAre(11));
  EXPECT_THAT(bench.ends[1].beats, ElementsAre(17, 23, 29, 35));  // a+7, +13, +19, +25
  EXPECT_THAT(bench.ends[1].values, ElementsAre(0, 4, 8, 12));
  EXPECT_TRUE(bench.bus.ar.empty());
  EXPECT_EQ(bench.misuse.total(), 0u);
}

TEST(Memory_7_2, WriteOneBeatACycleAndResponse) {
  auto bench = staged();
  bench.ends[2].writes.push_back({10, kStaging + 0x40, 4});
  bench.run(100);
  EXPECT_THAT(bench.ends[2].aw_granted, ElementsAre(11));
  EXPECT_THAT(bench.ends[2].taken, ElementsAre(12, 13, 14, 15));
  EXPECT_THAT(bench.ends[2].responses, ElementsAre(16));
  EXPECT_TRUE(bench.bus.aw.empty());
  std::uint64_t word = 0;
  bench.path.staging()->memory().read(0x40 + 96, {reinterpret_cast<std::uint8_t*>(&word), 8});
  EXPECT_EQ(word, 4u);
}

// Released in e, looks in e+1, ready in e+2, active in e+3.
TEST(Memory_7_2, Release) {
  auto bench = staged();
  bench.ends[0].reads.push_back({10, kStaging, 1});   // last beat e = 17
  bench.ends[1].writes.push_back({10, kStaging, 2});  // waits; last beat x = 21, e = 22
  bench.ends[2].reads.push_back({10, kStaging, 1});
  bench.run(100);
  EXPECT_THAT(bench.ends[0].beats, ElementsAre(17));
  EXPECT_THAT(bench.ends[1].aw_granted, ElementsAre(19));
  EXPECT_THAT(bench.ends[1].taken, ElementsAre(20, 21));
  EXPECT_THAT(bench.ends[1].responses, ElementsAre(22));
  EXPECT_THAT(bench.ends[2].ar_granted, ElementsAre(24));
  EXPECT_THAT(bench.ends[2].beats, ElementsAre(30));
}

TEST(Memory_7_2, ReadBeatWaitsForItsRequester) {
  auto bench = staged();
  bench.ends[0].stalled = [](Cycle now) { return now < 20; };
  bench.ends[0].reads.push_back({10, kStaging, 2});
  bench.ends[1].reads.push_back({11, 0x40, 1});  // DRAM data of others is not behind it
  bench.run(100);
  EXPECT_THAT(bench.ends[0].beats, ElementsAre(20, 26));
  EXPECT_THAT(bench.ends[1].beats, ElementsAre(11 + 19));
}

TEST(Memory_7_2, RoundRobinFromThePointer) {
  auto bench = staged();
  for (unsigned i : {0u, 1u, 3u})
    for (unsigned n = 0; n < 2; ++n) bench.ends[i].writes.push_back({10, kStaging + 32 * i, 1});
  bench.run(200);
  // One word: grant to grant 4 cycles. 0, 1, 3, then 0 again although it asked first.
  EXPECT_THAT(bench.ends[0].aw_granted, ElementsAre(11, 23));
  EXPECT_THAT(bench.ends[1].aw_granted, ElementsAre(15, 27));
  EXPECT_THAT(bench.ends[3].aw_granted, ElementsAre(19, 31));
}

// A requester with a burst of the same kind at DRAM is not claimed; one of the other kind does not matter.
TEST(Memory_7_2, NotClaimedWhileTheSameKindIsAtDram) {
  auto bench = staged({}, 2);
  bench.ends[0].reads.push_back({60, 0x40, 1});
  bench.ends[0].reads.push_back({62, kStaging, 1});
  bench.ends[1].writes.push_back({10, 0x80, 1});  // response at 34
  bench.ends[1].writes.push_back({12, kStaging, 1});
  bench.ends[2].reads.push_back({8, 0xC0, 1});
  bench.ends[2].writes.push_back({12, kStaging, 1});  // at once
  bench.run(200);
  ASSERT_EQ(bench.ends[0].beats.size(), 2u);
  EXPECT_EQ(bench.ends[0].ar_granted[1], bench.ends[0].beats[0] + 2);
  EXPECT_EQ(bench.ends[1].aw_granted[1], 34u + 2);
  EXPECT_EQ(bench.ends[2].aw_granted[0], 13u);
}

// And the reverse: not forwarded to DRAM while the requester's own staged burst of the same kind runs.
TEST(Memory_7_2, NotForwardedWhileTheSameKindIsStaged) {
  auto bench = staged({}, 2);
  bench.ends[0].reads.push_back({10, kStaging, 4});  // until 35
  bench.ends[0].reads.push_back({12, 0x40, 1});
  bench.ends[1].reads.push_back({12, kStaging, 4});  // waits for the store: a DRAM write passes it by
  bench.run(200);
  EXPECT_THAT(bench.ends[0].ar_granted, ElementsAre(11, 35 + 2));
  EXPECT_EQ(bench.ends[0].beats.back(), 36u + 19);

  auto other = staged();
  other.ends[0].reads.push_back({10, kStaging, 4});
  other.ends[0].writes.push_back({12, 0x40, 1});
  other.run(200);
  EXPECT_THAT(other.ends[0].aw_granted, ElementsAre(13));
}

// A requester that presents a write keeps presenting it: its staged read waits behind it (7.1).
TEST(Memory_7_2, OnePresentationARequester) {
  auto bench = staged();
  bench.ends[0].reads.push_back({10, kStaging, 1});
  bench.ends[0].writes.push_back({10, kStaging + 0x100, 1});
  bench.run(100);
  EXPECT_THAT(bench.ends[0].aw_granted, ElementsAre(11));
  EXPECT_THAT(bench.ends[0].ar_granted, ElementsAre(15));
}

// Claim: special, reserved bit clear, own mesh, aperture 0. Bit 38 set goes to DRAM.
TEST(Memory_7_2, Claim) {
  EXPECT_TRUE(is_staged(0x80'0000'0080, 0));
  EXPECT_TRUE(is_staged(0xA0'0000'0000, 2));
  EXPECT_FALSE(is_staged(0xA0'0000'0000, 0));
  EXPECT_FALSE(is_staged(0x81'0000'0000, 0));
  EXPECT_FALSE(is_staged(0xC0'0000'0000, 0));
  EXPECT_FALSE(is_staged(0x00'0000'4000, 0));
  auto bench = staged();
  bench.ends[0].reads.push_back({10, 0xC0'0000'0000, 1});
  bench.run(100);
  ASSERT_EQ(bench.bus.ar.size(), 1u);
  EXPECT_EQ(bench.bus.ar[0].addr, 0xC0'0000'0000u);
}

// Size 2 MiB: higher bits within the aperture alias, which is recorded.
TEST(Memory_7_2, HigherAddressBitsAlias) {
  auto bench = staged();
  fill_words(bench.path.staging()->memory(), 0, 1, 7);
  fill_words(bench.path.staging()->memory(), (2u << 20) - 32, 1, 9);
  bench.ends[0].reads.push_back({10, kStaging + (2u << 20) - 32, 2});
  bench.ends[0].reads.push_back({50, kStaging + (6u << 20), 1});
  bench.run(100);
  EXPECT_THAT(bench.ends[0].values, ElementsAre(9, 7, 7));
  ASSERT_EQ(bench.misuse.total(), 2u);
  EXPECT_EQ(bench.misuse.kept()[0].kind, MisuseKind::kStagingAlias);
  EXPECT_THAT(bench.misuse.kept()[0].text, testing::HasSubstr("0x80001fffe0"));
}

// Other traffic costs no cycle (vectors/rtl: converged staging built, never addressed).
TEST(Memory_7_2, UnaddressedItChangesNothing) {
  std::vector<Cycle> cycles[2];
  for (const bool staging : {false, true}) {
    PathBench bench(512, {}, 4, 1, staging);
    for (unsigned i = 0; i < 4; ++i)
      for (unsigned n = 0; n < 5; ++n) {
        bench.ends[i].reads.push_back({3 * n, 0x1000 * i + 64 * n, 1 + n});
        bench.ends[i].writes.push_back({5 * n, 0x8000 + 0x1000 * i + 64 * n, 1 + n});
      }
    bench.run(3000);
    for (const auto& e : bench.ends)
      for (const auto* list : {&e.ar_granted, &e.aw_granted, &e.beats, &e.taken, &e.responses})
        cycles[staging].insert(cycles[staging].end(), list->begin(), list->end());
  }
  EXPECT_EQ(cycles[0].size(), 4u * (5 + 5 + 15 + 15 + 5));
  EXPECT_EQ(cycles[0], cycles[1]);
}

BenchConfig staging_mesh() {
  BenchConfig config;
  config.agent.staging = StagingPlacement::kConverged;
  return config;
}

// Section 13, rows 14 and 7: a write to entry 1, and four raw entries read back through the port.
TEST(Memory_7_2, ThroughAPort) {
  Bench bench(staging_mesh());
  fill_words(*bench.agent.staging(), 0, 16);
  const auto row14 =
      arch::flit_from_hex("011110508000000080000000000000000000000000000000000000000000000000000000");
  const auto row7 =
      arch::flit_from_hex("011100888000000000034004000000000000000000000000000000000000000000000000");
  bench.sender().send(10, row14);
  bench.sender().send(11, write_data(500, true));
  bench.sender().send(40, row7);
  bench.run(400);
  ASSERT_EQ(bench.out().size(), 1u + 16);
  // Data accepted in 11: address A = 18, beat A+2, response A+3, ack on mem_out A+4.
  EXPECT_EQ(bench.out_cycles()[0], 22u);
  EXPECT_EQ(bench.out()[0].flit.type(), FlitType::kMemWrAck);
  // Request 40: a = 44; the last beat crosses in a+25, b = a+26, words from b+3; next address b+1.
  for (unsigned entry = 0; entry < 4; ++entry)
    for (unsigned word = 0; word < 4; ++word) {
      const Seen& seen = bench.receiver().first_shown[1 + 4 * entry + word];
      EXPECT_EQ(seen.cycle, 44u + 29 + 27 * entry + word);
      EXPECT_EQ(seen.flit.txn(), 8u + entry);
      const bool written = entry == 1 && word == 0;
      EXPECT_EQ(seen.flit.w[0], written ? 2000u : 4u * (4 * entry + word));
    }
  EXPECT_TRUE(bench.bus.ar.empty());
  EXPECT_EQ(bench.agent.misuse().total(), 0u);
}

// The converged store claims by address alone: a QUANT read gets its raw beats quantised.
TEST(Memory_7_2, QuantReadIsServedThroughTheQuantiser) {
  Bench bench(staging_mesh());
  std::vector<std::uint16_t> half(128);
  for (unsigned i = 0; i < 128; ++i) half[i] = static_cast<std::uint16_t>(0x3C00 + 7 * i);
  bench.agent.staging()->write(0x100, {reinterpret_cast<const std::uint8_t*>(half.data()), 256});
  bench.sender().send(10, read_request(quant_entries(kStaging + 0x100, 1)));
  bench.run(200);
  ASSERT_EQ(bench.out().size(), 4u);
  // a = 14, beats in a+7 + 6k, the 8th taken in b = a + 7 + 42 + 1; words from b+13.
  EXPECT_EQ(bench.out_cycles()[0], 14u + 50 + 13);
  const auto entry = arch::quantise_entry(std::span<const std::uint16_t, 128>(half));
  for (unsigned w = 0; w < 4; ++w) {
    const auto word = arch::operand_word(arch::Side::kA, w, entry);
    for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(bench.out()[w].flit.w[i], word[i]);
  }
}

// Section 4.3 with staging: every peer gets every entry.
TEST(Memory_7_2, PeersReadStaging) {
  Bench bench(staging_mesh());
  fill_words(*bench.agent.staging(), 0, 8);
  arch::MemReq request = raw_entries(kStaging, 2, 2);
  request.n_peer = 3;
  request.peer0 = Coord{2, 1}.node_byte();
  request.peer1 = Coord{1, 2}.node_byte();
  request.peer2 = Coord{2, 2}.node_byte();
  bench.sender().send(10, read_request(request, kNode, 5));
  bench.run(200);
  ASSERT_EQ(bench.out().size(), 16u);
  const std::array<Coord, 4> to{kNode, {2, 1}, {1, 2}, {2, 2}};
  for (unsigned i = 0; i < 16; ++i) {
    const Flit& flit = bench.out()[i].flit;
    const unsigned entry = i / 8, dst = i / 2 % 4, word = i % 2;
    EXPECT_EQ(flit.hdr(),
              arch::make_header(to[dst], kPort, FlitType::kMemRdResp, 5 + entry, word == 1, word));
    EXPECT_EQ(flit.w[0], 4u * (2 * entry + word));
  }
}

// A plain read never checks its address at the port; the converged store claims it all the same.
TEST(Memory_7_2, PlainReadIsClaimed) {
  Bench bench(staging_mesh());
  fill_words(*bench.agent.staging(), 0x40, 2);
  bench.sender().send(10, read_request(plain_read(kStaging + 0x40, 2)));
  bench.run(100);
  ASSERT_EQ(bench.out().size(), 2u);
  EXPECT_THAT(bench.out_cycles(), ElementsAre(14 + 7 + 2, 14 + 13 + 2));  // taken one later, shown one later
}

}  // namespace
}  // namespace ktpu::memory::test
