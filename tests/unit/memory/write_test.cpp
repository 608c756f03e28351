// SPDX-License-Identifier: Apache-2.0
// memory.md sections 4.2, 4.5, 4.6 and 12: intake, writes, counters and what hangs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/memory/bench.h"
#include "tests/unit/memory/port_bench.h"

namespace ktpu::memory::test {
namespace {

using testing::ElementsAre;

void send_write(Sender& sender, Cycle from, std::uint64_t addr, unsigned beats, Coord src = kNode,
                unsigned txn = 0, std::uint64_t value = 0) {
  sender.send(from, write_request(addr, beats, src, txn));
  for (unsigned i = 0; i < beats; ++i) sender.send(from, write_data(value + i, i + 1 == beats, src));
}
std::uint64_t word_at(const SparseMemory& memory, std::uint64_t addr) {
  std::uint64_t word = 0;
  memory.read(addr, {reinterpret_cast<std::uint8_t*>(&word), 8});
  return word;
}

TEST(Memory_4_5, WorkedTwoWords) {
  BenchConfig config;
  config.bus_bits = 512;
  Bench bench(config);
  send_write(bench.sender(), 272, 0x4000, 2, kNode, 2);
  bench.run(400);
  EXPECT_THAT(cycles_of(bench.bus.aw), ElementsAre(291));
  EXPECT_THAT(cycles_of(bench.bus.w), ElementsAre(296));
  EXPECT_THAT(cycles_of(bench.bus.b), ElementsAre(297));
  EXPECT_THAT(bench.out_cycles(), ElementsAre(307));
  EXPECT_EQ(arch::to_hex(bench.out()[0].flit), "11013028" + std::string(64, '0'));  // section 13, message 16
}

TEST(Memory_4_5, FormulasThroughAgent) {
  for (const unsigned bus : {256u, 512u, 1024u}) {
    for (const unsigned dw : {1u, 4u, 33u}) {
      for (unsigned n = 1; n <= 8; ++n) {
        BenchConfig config;
        config.bus_bits = bus;
        config.dram.write_response = dw;
        Bench bench(config);
        send_write(bench.sender(), 10, 0x1000, n, kNode, 3, 100);
        send_write(bench.sender(), 10, 0x2000, n, kNode, 4, 200);
        bench.run(300);
        const Cycle k = 10 + n, a = k + 7;
        EXPECT_EQ(bench.sender().accepted[n].cycle, k);
        ASSERT_EQ(bench.bus.aw.size(), 2u);
        EXPECT_EQ(bench.bus.aw[0].cycle, a + 10);
        ASSERT_EQ(bench.bus.b.size(), 2u);
        EXPECT_EQ(bench.bus.b[0].cycle, a + 14 + (n - 1) + dw);
        ASSERT_EQ(bench.out().size(), 2u);
        EXPECT_EQ(bench.out()[0].cycle, a + 24 + (n - 1) + dw);
        EXPECT_EQ(bench.out()[0].flit.txn(), 3u);
        EXPECT_EQ(bench.out()[1].cycle - bench.out()[0].cycle, n + 24 + dw);
        for (unsigned i = 0; i < n; ++i) EXPECT_EQ(word_at(bench.memory, 0x1000 + 32 * i), 4 * (100 + i));
      }
    }
  }
}

// Section 7.3 and the interlink's worked write (11.8): which cycles the packed beats take on a 512-bit bus.
TEST(Memory_4_5, PackedBeatsOnBus512) {
  BenchConfig config;
  config.bus_bits = 512;
  Bench bench(config);
  send_write(bench.sender(), 24, 0x1000, 8);  // last data flit accepted in 32
  bench.run(150);
  EXPECT_THAT(cycles_of(bench.bus.aw), ElementsAre(49));
  EXPECT_THAT(cycles_of(bench.bus.w), ElementsAre(54, 56, 58, 60));
  EXPECT_THAT(cycles_of(bench.bus.b), ElementsAre(61));
  EXPECT_THAT(bench.out_cycles(), ElementsAre(71));
}

TEST(Memory_4_5, DramWriteNumbersThroughAgent) {
  BenchConfig config;
  config.dram.first_write_beat = 9;  // address in A+10, data could come from A+14 on: ready only in A+19
  config.dram.write_gaps = {2};
  config.dram.write_response = 5;
  Bench bench(config);
  send_write(bench.sender(), 0, 0, 4);
  bench.run(200);
  const Cycle a = 4 + 7;
  EXPECT_THAT(cycles_of(bench.bus.w), ElementsAre(a + 19, a + 22, a + 25, a + 28));
  EXPECT_THAT(cycles_of(bench.bus.b), ElementsAre(a + 33));
  EXPECT_THAT(bench.out_cycles(), ElementsAre(a + 43));
}

TEST(Memory_4_5, AddressSevenAfterLastDataFlit) {
  PortBench bench;
  bench.send(10, write_request(0x100, 3));
  for (unsigned i = 0; i < 3; ++i) bench.send(20 + 5 * i, write_data(i, i == 2));
  bench.run(60);
  EXPECT_THAT(bench.aw_valid, ElementsAre(37));
}

// Writes of several sources are told apart by source and issued in the order they become complete.
TEST(Memory_4_5, ReassemblyBySourceReadyOrder) {
  Bench bench;
  const Coord a{1, 1}, b{2, 1}, c{3, 1};
  Sender& s = bench.sender();
  s.send(0, write_request(0x000, 2, a, 1));
  s.send(1, write_request(0x100, 2, b, 2));
  s.send(2, write_request(0x200, 1, c, 3));
  s.send(3, write_data(10, false, a));
  s.send(4, write_data(20, false, b));
  s.send(5, write_data(30, true, c));
  s.send(6, write_data(21, true, b));
  s.send(7, write_data(11, true, a));
  bench.run(200);
  ASSERT_EQ(bench.out().size(), 3u);
  EXPECT_EQ(bench.out()[0].flit.txn(), 3u);
  EXPECT_EQ(bench.out()[0].flit.dst(), c);
  EXPECT_EQ(bench.out()[1].flit.txn(), 2u);
  EXPECT_EQ(bench.out()[2].flit.txn(), 1u);
  EXPECT_EQ(word_at(bench.memory, 0x20), 44u);
  EXPECT_EQ(word_at(bench.memory, 0x120), 84u);
  EXPECT_EQ(word_at(bench.memory, 0x200), 120u);
}

// The acknowledgement waits for the output; the slot is free again the cycle after it showed.
TEST(Memory_4_5, SlotReuseAfterAck) {
  for (const Cycle busy_until : {Cycle{0}, Cycle{120}}) {
    Bench bench;
    bench.receiver().busy = [=](Cycle now) { return now < busy_until; };
    Sender& s = bench.sender();
    // 16 open writes; the first is completed, the 17th descriptor needs its slot.
    for (unsigned i = 0; i < 16; ++i) {
      const Coord src{static_cast<std::uint8_t>(i), 2};
      s.send(i, write_request(0x1000 * i, 1, src, i));
    }
    s.send(16, write_data(1, true, Coord{0, 2}));
    s.send(17, write_request(0xF0000, 1, Coord{0, 3}, 77));
    s.send(18, write_data(2, true, Coord{0, 3}));
    bench.run(400);
    ASSERT_EQ(bench.out().size(), 2u);
    const Cycle shown = bench.receiver().first_shown[0].cycle;
    EXPECT_EQ(shown, 16u + 7 + 24 + 1);  // placed although the receiver does not take it
    // Reusable in ack+1: the descriptor pops there, its data one later, A = pop + 4.
    EXPECT_EQ(bench.bus.aw.at(1).cycle, shown + 2 + 4 + 10);
  }
}

TEST(Memory_4_5, AckWaitsForEmitter) {
  PortBench bench;
  Cycle ack = 0;
  bench.out_busy = [](Cycle now) { return now < 100; };
  bench.send(10, write_request(0, 1, kNode, 9));
  bench.send(11, write_data(5, true));
  bench.send(12, read_request(raw_entries(0, 1, 4)));
  for (Cycle now = 1; now <= 150; ++now) {
    if (now == 40) bench.port.wires().aw_granted = bench.port.wires().w_taken = true;
    if (now == 50) bench.port.wires().b = true;  // one cycle wide, while the emitter owns the output
    bench.run(now);
  }
  ASSERT_EQ(bench.out.size(), 5u);
  EXPECT_EQ(bench.out[3].flit.type(), FlitType::kMemRdResp);
  ack = bench.out[4].cycle;
  EXPECT_EQ(bench.out[4].flit.type(), FlitType::kMemWrAck);
  EXPECT_EQ(ack, 104u);
}

TEST(Memory_4_2, BusyAtSixty) {
  PortBench bench;
  bench.out_busy = [](Cycle) { return true; };
  for (unsigned i = 0; i < 80; ++i) bench.send(i, read_request(plain_read(0, 1)));
  bench.run(59);
  EXPECT_FALSE(bench.port.busy());
  bench.run(200);
  // One read runs, one more was answered into the output register; 60 are queued.
  EXPECT_TRUE(bench.port.busy());
  EXPECT_EQ(bench.ar_valid.size(), 2u);
}

TEST(Memory_4_6, CountersShowWithTheAddress) {
  Bench bench;
  bench.sender().send(10, read_request(raw_entries(0, 2, 1)));
  send_write(bench.sender(), 20, 0, 1);
  bench.start();
  std::vector<std::uint64_t> stat;
  for (Cycle now = 0; now < 150; ++now) {
    stat.push_back(bench.agent.aux_stat());
    bench.engine.run_until(now + 1);
  }
  const auto reads = [&](Cycle c) { return stat[c] >> 24 & 0xFFFF; };
  const auto writes = [&](Cycle c) { return stat[c] >> 8 & 0xFFFF; };
  EXPECT_EQ(reads(13), 0u);
  EXPECT_EQ(reads(14), 1u);
  const Cycle next = 14 + 20 + 1;  // entry period 20 + D for one word
  EXPECT_EQ(reads(next - 1), 1u);
  EXPECT_EQ(reads(next), 2u);
  EXPECT_EQ(writes(27), 0u);
  EXPECT_EQ(writes(28), 1u);  // data flit accepted in 21
}

TEST(Memory_12, DataWithoutSlotWedgesTheWriteQueue) {
  Bench bench;
  Sender& s = bench.sender();
  s.send(5, write_data(1, true, Coord{2, 2}));
  for (unsigned i = 0; i < 80; ++i) s.send(6, write_request(0, 1));
  bench.run(500);
  EXPECT_EQ(s.accepted.size(), 60u);  // then the port is busy for good
  ASSERT_EQ(bench.agent.misuse().total(), 1u);
  const Misuse& misuse = bench.agent.misuse().kept()[0];
  EXPECT_EQ(misuse.kind, MisuseKind::kDataWithoutSlot);
  EXPECT_EQ(misuse.cycle, 8u);
  EXPECT_EQ(misuse.requester, (Coord{2, 2}));
  bool named = false;
  for (const auto& wait : bench.agent.waits(bench.engine.now()))
    named |= wait.what.find("(2,2)") != std::string::npos;
  EXPECT_TRUE(named);
  // Everything addressed to the port stops, reads too.
  s.send(0, read_request(plain_read(0, 1)));
  bench.run(300);
  EXPECT_TRUE(bench.out().empty());
}

TEST(Memory_12, ShortWriteStaysOpenAndIsNamed) {
  Bench bench;
  Sender& s = bench.sender();
  s.send(0, write_request(0x100, 3));
  s.send(1, write_data(1, false));
  s.send(2, write_data(2, true));  // `last` is not read
  bench.run(200);
  EXPECT_TRUE(bench.out().empty());
  const auto waits = bench.agent.waits(bench.engine.now());
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].what, "port 0 at (0,1): write slot 0: 2 of 3 data flits from (1,1) received");
  // Later data of the same source binds to it.
  s.send(210, write_request(0x200, 1));
  s.send(211, write_data(3, true));
  bench.run(200);
  EXPECT_EQ(bench.bus.aw.size(), 1u);
  EXPECT_EQ(word_at(bench.memory, 0x140), 12u);
}

// len > 7: the length is len[3:0] + 1 and the eight words are used round and round.
TEST(Memory_12, TooLongWriteAliases) {
  Bench bench;
  Sender& s = bench.sender();
  s.send(0, write_request(0, 10));
  for (unsigned i = 0; i < 10; ++i) s.send(1, write_data(50 + i, i == 9));
  bench.run(200);
  ASSERT_EQ(bench.bus.aw.size(), 1u);
  EXPECT_EQ(bench.bus.aw[0].beats, 10u);
  EXPECT_EQ(word_at(bench.memory, 0), 4 * 58u);
  EXPECT_EQ(word_at(bench.memory, 32 * 2), 4 * 52u);
  EXPECT_EQ(word_at(bench.memory, 32 * 8), 4 * 58u);
  EXPECT_EQ(bench.agent.misuse().kept().at(0).kind, MisuseKind::kWriteTooLong);
  // len 16 counts as one word: its second data flit has no slot.
  s.send(200, write_request(0x1000, 17));
  s.send(201, write_data(1, false));
  s.send(202, write_data(2, false));
  bench.run(200);
  EXPECT_EQ(bench.bus.aw.at(1).beats, 1u);
  EXPECT_EQ(bench.agent.misuse().kept().back().kind, MisuseKind::kDataWithoutSlot);
}

}  // namespace
}  // namespace ktpu::memory::test
