// SPDX-License-Identifier: Apache-2.0
// fabric.md section 12: the rows Store, Window, Served, Read hit, Responses and Writes.
#include "tests/unit/noc/adapter_bench.h"

namespace ktpu::noc::test {
namespace {

using B = AdapterBench;

std::vector<std::string> kinds(const B& b) {
  std::vector<std::string> out;
  for (const EndpointMisuse& m : b.adapter.misuse().kept()) out.push_back(m.kind);
  return out;
}

// Whether a request is served: offered to a fresh adapter of 64 lines, window on at kBase.
bool serves(const Flit& request) {
  B b;
  b.enable();
  b.unit.push(10, request);
  b.engine.run_until(30);
  EXPECT_EQ(b.adapter.served() + b.adapter.forwarded(), 1u);
  const bool served = b.adapter.served() == 1;
  EXPECT_EQ(b.at_router.taken.size(), served ? 2u : 3u);
  if (!served) {
    EXPECT_EQ(b.at_router.taken.back().flit, request) << "forwarded whole";
    EXPECT_EQ(b.at_router.taken.back().cycle, 11u);
  }
  return served;
}

TEST(Fabric_S12_Store, LinesKeepWhatWasWritten) {
  B b(64);
  b.enable();
  for (unsigned line = 0; line < 56; line += 8) b.fill(10, line, 8, 1000 + line);
  for (unsigned line = 0; line < 56; ++line) b.unit.push(10, B::read(line, 1, line));
  b.engine.run_until(400);
  const auto words = b.at_unit.taken_of(FlitType::kMemRdResp);
  ASSERT_EQ(words.size(), 56u);
  for (unsigned line = 0; line < 56; ++line) {
    EXPECT_EQ(words[line].flit.w[0], 1000u + line);
    EXPECT_EQ(words[line].flit.w[3], ~(1000ull + line));
  }
}

TEST(Fabric_S12_Store, AWordIsReadBeforeTheWriteOfItsCycle) {
  // The read accepted in 40 has line k at the RAM in cycle 43 + k; the beat accepted in c is written in c
  // + 1.
  for (const Cycle beat : {Cycle{44}, Cycle{45}, Cycle{46}}) {
    B b;
    b.enable();
    b.fill(10, 0, 8, 100);
    b.unit.push(40, B::read(0, 8));
    b.unit.push(41, B::write(3, 1));
    b.unit.push(beat, B::beat(999, true));
    b.engine.run_until(80);
    const auto words = b.at_unit.taken_of(FlitType::kMemRdResp);
    ASSERT_EQ(words.size(), 8u);
    EXPECT_EQ(words[3].flit.w[0], beat == 44 ? 999u : 103u) << beat;
  }
}

TEST(Fabric_S12_Window, DisabledAtReset) {
  B b;
  b.unit.push(10, B::read(0, 1));
  b.fill(11, 0, 2, 5);
  b.engine.run_until(40);
  EXPECT_EQ(b.adapter.served(), 0u);
  EXPECT_EQ(b.adapter.forwarded(), 2u);
  EXPECT_EQ(b.at_router.taken.size(), 4u);
  EXPECT_TRUE(b.at_unit.taken.empty());
  EXPECT_FALSE(b.adapter.window().enabled);
}

TEST(Fabric_S12_Window, ClaimsTheAddressBitsAboveItsSize) {
  // 64 lines: 11 bits.
  for (const auto& [addr, claimed] : {std::pair<std::uint64_t, bool>{B::kBase, true},
                                      {B::kBase + 0x7A0, true},
                                      {B::kBase + 0x800, false},
                                      {B::kBase - 32, false},
                                      {B::kBase | 1ull << 39, false},
                                      {B::kBase | 1ull << 36, false}}) {
    arch::MemReq fields;
    fields.addr = addr;
    EXPECT_EQ(serves(B::request(FlitType::kMemRdReq, fields, 1)), claimed) << std::hex << addr;
  }
}

TEST(Fabric_S12_Window, BitsOfTheBaseBelowItsSizeMeanNothing) {
  B b;
  b.enable(B::kBase + 0x7FF);
  b.unit.push(10, B::read(0, 1));
  b.engine.run_until(30);
  EXPECT_EQ(b.adapter.served(), 1u);
  EXPECT_EQ(b.adapter.window().base, B::kBase + 0x7FF);
}

TEST(Fabric_S12_Served, AReadWithoutConversionAndPeers) {
  EXPECT_TRUE(serves(B::read(0, 1)));
  EXPECT_TRUE(serves(B::stream(0, 4, 4)));
  for (const unsigned flags : {0x10u, 0x50u, 0x70u}) {
    arch::MemReq fields;
    fields.addr = B::kBase;
    fields.flags = flags;
    fields.count = 1;
    EXPECT_FALSE(serves(B::request(FlitType::kMemRdReq, fields, 1))) << flags;
  }
  arch::MemReq peers;
  peers.addr = B::kBase;
  peers.n_peer = 1;
  peers.peer0 = 0x12;
  EXPECT_FALSE(serves(B::request(FlitType::kMemRdReq, peers, 1)));
}

TEST(Fabric_S12_Served, TheTopLineIsNeverTheEndOfARun) {
  EXPECT_TRUE(serves(B::read(62, 1)));
  EXPECT_FALSE(serves(B::read(63, 1)));
  EXPECT_TRUE(serves(B::read(0, 63)));
  EXPECT_FALSE(serves(B::read(0, 64)));
  EXPECT_TRUE(serves(B::write(55, 8)));
  EXPECT_FALSE(serves(B::write(56, 8)));
  EXPECT_TRUE(serves(B::stream(31, 16, 2)));
  EXPECT_FALSE(serves(B::stream(32, 16, 2)));
}

TEST(Fabric_S12_Served, EntriesOfThreeWordsArePricedAsFour) {
  EXPECT_TRUE(serves(B::stream(0, 15, 3)));   // 45 words, priced 60
  EXPECT_FALSE(serves(B::stream(0, 16, 3)));  // 48 words, priced 64
  EXPECT_TRUE(serves(B::stream(0, 15, 4)));
  EXPECT_FALSE(serves(B::stream(0, 16, 0)));
  EXPECT_FALSE(serves(B::stream(0, 16, 5)));
}

TEST(Fabric_S12_Served, AStreamOfNoEntriesIsForwarded) { EXPECT_FALSE(serves(B::stream(0, 0, 1))); }

TEST(Fabric_S12_Served, ARemoteWriteIsForwarded) {
  arch::MemReq fields;
  fields.addr = B::kBase;
  EXPECT_FALSE(serves(B::request(FlitType::kMemWrReq, fields, 1, arch::kRsvdRemote | 1)));
}

TEST(Fabric_S12_Served, WhatTheWindowDoesNotServeIsReported) {
  B b;
  b.enable();
  b.unit.push(10, B::stream(0, 0, 1));
  b.unit.push(11, B::read(63, 1));
  b.engine.run_until(30);
  EXPECT_EQ(kinds(b), (std::vector<std::string>{"window-forwarded", "window-forwarded"}));
}

TEST(Fabric_S12_ReadHit, FirstWordEightCyclesAfterTheRequestThenOneACycle) {
  B b;
  b.enable();
  b.fill(10, 5, 8, 70);
  b.unit.push(40, B::read(5, 8));
  b.engine.run_until(80);
  const auto words = b.at_unit.taken_of(FlitType::kMemRdResp);
  ASSERT_EQ(b.unit.accepted.back().cycle, 40u);
  ASSERT_EQ(words.size(), 8u);
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(words[i].cycle, 48u + i);
    EXPECT_EQ(words[i].flit.w[0], 70u + i);
  }
}

TEST(Fabric_S12_ReadHit, LongRunsFlowAtOneWordACycle) {
  B b(256);
  b.enable();
  b.unit.push(20, B::read(0, 200));
  b.engine.run_until(300);
  const auto words = b.at_unit.taken_of(FlitType::kMemRdResp);
  ASSERT_EQ(words.size(), 200u);
  for (unsigned i = 0; i < 200; ++i) EXPECT_EQ(words[i].cycle, 28u + i);
}

TEST(Fabric_S12_ReadHit, AtMostThirteenWordsAreOutstanding) {
  B b(64, never, [](Cycle c) { return c < 100; });
  b.enable();
  b.fill(10, 0, 8, 1);
  b.fill(10, 8, 8, 9);
  b.fill(10, 16, 8, 17);
  b.unit.push(50, B::read(0, 24));
  // One more read is held in the register; nothing gets past it.
  b.unit.push(51, B::read(0, 1, 1));
  b.unit.push(52, B::beat(0));
  b.engine.run_until(100);
  EXPECT_EQ(b.unit.accepted.back().cycle, 51u);
  EXPECT_TRUE(b.from_unit.busy());
  // The three acknowledgements stand before the words and count with them. Line 10 and those behind it have
  // not been read yet.
  b.engine.run_until(160);
  const auto words = b.at_unit.taken_of(FlitType::kMemRdResp);
  ASSERT_EQ(words.size(), 25u);
  EXPECT_EQ(b.at_unit.taken_of(FlitType::kMemWrAck).size(), 3u);
  for (unsigned i = 0; i < 24; ++i) EXPECT_EQ(words[i].flit.w[0], 1u + i);
  // 13 answers leave from 100 on, one a cycle. The place the first one leaves is seen in 101; a word read
  // then comes out in 107 or later, before the 13th has gone: no gap.
  for (unsigned i = 0; i < 24; ++i) EXPECT_EQ(words[i].cycle, 103u + i);
}

TEST(Fabric_S12_ReadHit, TheFourteenthWordIsReadWhenAPlaceIsFree) {
  B b(64, never, [](Cycle c) { return c != 100; });
  b.enable();
  b.unit.push(20, B::read(0, 20));
  b.engine.run_until(101);
  EXPECT_EQ(b.at_unit.taken.size(), 1u);
  EXPECT_EQ(b.counter("words_read"), 13u);
  b.engine.run_until(102);
  EXPECT_EQ(b.counter("words_read"), 14u);
  b.engine.run_until(140);
  EXPECT_EQ(b.counter("words_read"), 14u);
}

TEST(Fabric_S12_ReadHit, AReadWaitsInTheRegisterForTheRunBeforeIt) {
  B b;
  b.enable();
  b.unit.push(20, B::read(0, 5, 1));
  b.unit.push(20, B::read(8, 2, 2));
  b.unit.push(20, B::passing(3, FlitType::kCuSignal));
  b.engine.run_until(60);
  EXPECT_EQ(b.unit.accepted[0].cycle, 20u);
  EXPECT_EQ(b.unit.accepted[1].cycle, 21u);
  EXPECT_EQ(b.unit.accepted[2].cycle, 27u) << "the run holds 22 to 26, the held read goes in 27";
  const auto words = b.at_unit.taken_of(FlitType::kMemRdResp);
  ASSERT_EQ(words.size(), 7u);
  EXPECT_EQ(words[4].cycle, 32u);
  EXPECT_EQ(words[5].cycle, 34u) << "one cycle between two runs";
  EXPECT_EQ(words[5].flit.txn(), 2u);
}

TEST(Fabric_S12_Responses, PlainReadsCarryTheRequestsTag) {
  B b;
  b.enable();
  b.fill(10, 0, 3, 7);
  b.unit.push(40, B::read(0, 3, 0xA5));
  b.engine.run_until(70);
  const auto words = b.at_unit.taken_of(FlitType::kMemRdResp);
  ASSERT_EQ(words.size(), 3u);
  for (unsigned i = 0; i < 3; ++i)
    EXPECT_EQ(words[i].flit.hdr(),
              arch::make_header(B::kUnit, B::kPort, FlitType::kMemRdResp, 0xA5, i == 2, 0));
}

TEST(Fabric_S12_Responses, StreamsCarryEntryAndWord) {
  for (unsigned entry_words = 1; entry_words <= 4; ++entry_words) {
    B b;
    b.enable();
    for (unsigned line = 0; line < 16; line += 8) b.fill(10, line, 8, 100 + line);
    b.unit.push(40, B::stream(2, 3, entry_words, 0xFE));
    b.engine.run_until(80);
    const auto words = b.at_unit.taken_of(FlitType::kMemRdResp);
    ASSERT_EQ(words.size(), 3u * entry_words);
    for (unsigned i = 0; i < words.size(); ++i) {
      const unsigned entry = i / entry_words, word = i % entry_words;
      EXPECT_EQ(words[i].flit.hdr(), arch::make_header(B::kUnit, B::kPort, FlitType::kMemRdResp,
                                                       (0xFE + entry) & 255, word + 1 == entry_words, word));
      EXPECT_EQ(words[i].flit.w[0], 102u + i);
    }
  }
}

TEST(Fabric_S12_Responses, ComeFromTheAddressedMemoryPort) {
  B b;
  b.enable();
  Flit request = B::read(0, 1);
  request.set_dst({0, 2});
  b.unit.push(20, request);
  b.engine.run_until(40);
  EXPECT_EQ(b.at_unit.taken_of(FlitType::kMemRdResp).at(0).flit.src(), (arch::Coord{0, 2}));
}

TEST(Fabric_S12_Writes, OneBeatACycleAndTheAcknowledgementSevenAfterTheLast) {
  B b;
  b.enable();
  b.fill(20, 0, 8, 1);
  b.engine.run_until(60);
  for (unsigned i = 0; i < 9; ++i) EXPECT_EQ(b.unit.accepted[i].cycle, 20u + i);
  const auto acks = b.at_unit.taken_of(FlitType::kMemWrAck);
  ASSERT_EQ(acks.size(), 1u);
  EXPECT_EQ(acks[0].cycle, 28u + 7);
  EXPECT_EQ(acks[0].flit, arch::make_flit(B::kUnit, B::kPort, FlitType::kMemWrAck, 2, true));
  EXPECT_EQ(b.at_router.taken.size(), 2u) << "nothing but the control replies";
}

TEST(Fabric_S12_Writes, BackToBackWritesAreAcknowledgedOneByOne) {
  B b;
  b.enable();
  b.fill(20, 0, 2, 1);
  b.fill(20, 2, 2, 3);
  b.engine.run_until(60);
  const auto acks = b.at_unit.taken_of(FlitType::kMemWrAck);
  ASSERT_EQ(acks.size(), 2u);
  EXPECT_EQ(acks[0].cycle, 29u);
  EXPECT_EQ(acks[1].cycle, 32u);
}

TEST(Fabric_S12_Writes, TheAcknowledgementGoesBeforeTheNextWordOfARun) {
  B b;
  b.enable();
  b.unit.push(20, B::read(0, 12));
  b.unit.push(21, B::write(20, 1));
  b.unit.push(22, B::beat(1, true));
  b.engine.run_until(60);
  ASSERT_EQ(b.at_unit.taken_of(FlitType::kMemWrAck).size(), 1u);
  EXPECT_EQ(b.at_unit.taken_of(FlitType::kMemWrAck)[0].cycle, 29u);
  EXPECT_EQ(b.at_unit.taken_of(FlitType::kMemRdResp).back().cycle, 28u + 12);
}

TEST(Fabric_S12_Writes, ABeatWaitsWhenTheAnswersFindNoPlace) {
  B b(64, never, [](Cycle c) { return c < 200; });
  b.enable();
  for (unsigned i = 0; i < 14; ++i) b.fill(20, i, 1, i);
  b.engine.run_until(199);
  EXPECT_EQ(b.unit.accepted.size(), 28u) << "the last one stands in the register";
  b.unit.push(0, B::passing(1, FlitType::kCuSignal));
  b.engine.run_until(201);
  EXPECT_EQ(b.unit.accepted.size(), 28u);
  b.engine.run_until(202);
  EXPECT_EQ(b.unit.accepted.size(), 29u) << "one cycle after the first answer was taken";
  b.engine.run_until(240);
  EXPECT_EQ(b.at_unit.taken_of(FlitType::kMemWrAck).size(), 14u);
}

TEST(Fabric_S12_Writes, DataOfAForwardedWritePasses) {
  B b;
  b.enable();
  b.unit.push(10, B::write(60, 8));
  for (unsigned i = 0; i < 8; ++i) b.unit.push(10, B::beat(i, i == 7));
  b.engine.run_until(40);
  EXPECT_EQ(b.at_router.taken.size(), 2u + 9u);
  EXPECT_TRUE(b.at_unit.taken.empty());
}

TEST(Fabric_S12_Writes, ASecondRequestGoesToMemoryAndItsDataEndTheOpenOne) {
  B b;
  b.enable();
  b.unit.push(10, B::write(0, 2, 1));
  b.unit.push(10, B::beat(1));
  b.unit.push(10, B::write(8, 2, 2));
  b.unit.push(10, B::beat(2));
  b.unit.push(10, B::beat(3, true));
  b.engine.run_until(40);
  EXPECT_EQ(kinds(b), std::vector<std::string>{"window-write"});
  ASSERT_EQ(b.at_router.taken.size(), 4u);
  EXPECT_EQ(b.at_router.taken[2].flit, B::write(8, 2, 2));
  EXPECT_EQ(b.at_router.taken[3].flit, B::beat(3, true));
  ASSERT_EQ(b.at_unit.taken.size(), 1u);
  EXPECT_EQ(b.at_unit.taken[0].flit.txn(), 1u);
}

TEST(Fabric_S12_Writes, DataForAnotherMeshPassAnOpenWrite) {
  B b;
  b.enable();
  Flit remote = B::beat(5, true);
  remote.w[4] |= arch::kRsvdRemote;
  b.unit.push(10, B::write(0, 1));
  b.unit.push(10, remote);
  b.unit.push(10, B::beat(6, true));
  b.engine.run_until(40);
  ASSERT_EQ(b.at_router.taken.size(), 3u);
  EXPECT_EQ(b.at_router.taken[2].flit, remote);
  EXPECT_EQ(b.at_unit.taken_of(FlitType::kMemWrAck).size(), 1u);
}

TEST(Fabric_S12_Writes, ARunKeepsGoingWhenTheWindowIsClosed) {
  B b;
  b.enable();
  b.unit.push(20, B::write(0, 2));
  b.unit.push(20, B::beat(1));
  b.router.push(21, B::control(arch::kCtrlWrite, 0xE2, 0));
  b.unit.push(30, B::beat(2, true));
  b.unit.push(31, B::read(0, 2));
  b.engine.run_until(60);
  EXPECT_EQ(b.at_unit.taken_of(FlitType::kMemWrAck).size(), 1u);
  EXPECT_EQ(b.at_unit.taken_of(FlitType::kMemRdResp).size(), 0u);
  EXPECT_EQ(b.adapter.forwarded(), 1u);
}

TEST(Fabric_S12_Writes, TheObserverLearnsThatAWriteEndsHere) {
  struct Log final : WriteObserver {
    std::vector<Flit> kept;
    void write_sent(Cycle, const Flit&) override {}
    void write_kept(Cycle, const Flit& request) override { kept.push_back(request); }
  } log;
  B b;
  b.adapter.set_write_observer(&log);
  b.enable();
  b.fill(20, 0, 2, 1);
  b.fill(20, 60, 8, 1);
  b.engine.run_until(60);
  EXPECT_EQ(log.kept, std::vector<Flit>{B::write(0, 2)});
}

// What a blocked adapter says (docs/diagnosis.md).
TEST(StagingAdapter_Waits, NameWhatStandsStill) {
  const auto has = [](B& b, std::string_view part, std::string_view what, const sim::LinkBase* over) {
    for (const sim::Wait& w : b.adapter.waits(b.engine.now()))
      if (w.part == part && w.over == over && w.what.find(what) != std::string::npos) return true;
    return false;
  };
  const auto always = [](Cycle c) { return c > 15; };
  B unit(64, never, always);
  unit.enable();
  unit.unit.push(20, B::read(0, 20));
  unit.unit.push(21, B::read(0, 1));
  unit.engine.run_until(100);
  EXPECT_TRUE(has(unit, "down", "its answer to be taken: 13 on their way, 7 words", &unit.to_unit));
  EXPECT_TRUE(has(unit, "up", "the read before it, 7 words to come", nullptr));

  B pass(64, always, always);
  pass.router.push(20, B::passing(1));
  pass.unit.push(20, B::passing(1, FlitType::kCuSignal));
  pass.engine.run_until(100);
  EXPECT_TRUE(has(pass, "down", "a CU_INST flit from the router", &pass.to_unit));
  EXPECT_TRUE(has(pass, "up", "its CU_SIGNAL flit for (1,1)", &pass.to_router));

  B open;
  open.enable();
  open.unit.push(20, B::write(0, 8));
  open.engine.run_until(100);
  EXPECT_TRUE(has(open, "write", "8 data flits of the open write", nullptr));
  EXPECT_TRUE(B().adapter.waits(0).empty());
}

}  // namespace
}  // namespace ktpu::noc::test
