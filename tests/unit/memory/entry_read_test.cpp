// SPDX-License-Identifier: Apache-2.0
// memory.md section 4.3: the entry read engine, alone and through the whole agent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/formats/quantise.h"
#include "tests/unit/memory/bench.h"
#include "tests/unit/memory/port_bench.h"

namespace ktpu::memory::test {
namespace {

using testing::ElementsAre;

TEST(Memory_4_3, PortAloneRaw) {
  PortBench bench;
  bench.send(10, read_request(raw_entries(0x1000, 2, 4)));
  bench.beat_cycles = {20, 21, 25, 30, 40, 41, 42, 43};  // of the bus; taken one later
  bench.run(100);
  const Cycle b = 31;
  EXPECT_THAT(bench.ar_valid, ElementsAre(14, b + 1));  // a = t + 4, next b + 1
  EXPECT_THAT(bench.out_shown, ElementsAre(b + 3, b + 4, b + 5, b + 6, 47, 48, 49, 50));
}

TEST(Memory_4_3, PortAloneQuant) {
  PortBench bench;
  bench.send(10, read_request(quant_entries(0x1000, 2)));
  bench.beat_cycles = {20, 21, 22, 23, 24, 25, 26, 29, 60, 61, 62, 63, 64, 65, 66, 67};
  bench.run(100);
  const Cycle b = 30;
  EXPECT_THAT(bench.ar_valid, ElementsAre(14, b + 1));
  EXPECT_THAT(bench.out_shown, ElementsAre(b + 13, b + 14, b + 15, b + 16, 81, 82, 83, 84));
}

// Beats wait in the skid from the start: taken from t+4 (raw) and, after the start pulse in t+4, from t+5
// (quantised). With memory never the limit an entry takes ew + 1 cycles, 20 when quantised.
TEST(Memory_4_3, MinimumEntryPeriod) {
  for (unsigned ew = 1; ew <= 4; ++ew) {
    PortBench bench(16);  // the memory runs ahead
    bench.send(10, read_request(raw_entries(0, 9, ew)));
    bench.run(150);
    ASSERT_EQ(bench.out_shown.size(), 9u * ew);
    for (unsigned e = 4; e < 9; ++e)
      EXPECT_EQ(bench.out_shown[e * ew] - bench.out_shown[(e - 1) * ew], ew + 1) << ew;
  }
  PortBench bench(16);
  bench.send(10, read_request(quant_entries(0, 6)));
  bench.run(200);
  ASSERT_EQ(bench.out_shown.size(), 24u);
  for (unsigned e = 1; e < 6; ++e) EXPECT_EQ(bench.out_shown[4 * e] - bench.out_shown[4 * (e - 1)], 20u);
}

TEST(Memory_4_3, PeersWorked) {
  PortBench bench(4);
  arch::MemReq request = raw_entries(0, 2, 2);
  request.n_peer = 1;
  request.peer0 = Coord{2, 1}.node_byte();
  bench.send(10, read_request(request, kNode, 5));
  bench.run(60);
  EXPECT_THAT(bench.out_shown, ElementsAre(20, 21, 22, 23, 25, 26, 27, 28));
  const Coord peer{2, 1};
  const std::vector<std::uint32_t> headers = {
      arch::make_header(kNode, kPort, FlitType::kMemRdResp, 5, false, 0),
      arch::make_header(kNode, kPort, FlitType::kMemRdResp, 5, true, 1),
      arch::make_header(peer, kPort, FlitType::kMemRdResp, 5, false, 0),
      arch::make_header(peer, kPort, FlitType::kMemRdResp, 5, true, 1),
      arch::make_header(kNode, kPort, FlitType::kMemRdResp, 6, false, 0),
      arch::make_header(kNode, kPort, FlitType::kMemRdResp, 6, true, 1),
      arch::make_header(peer, kPort, FlitType::kMemRdResp, 6, false, 0),
      arch::make_header(peer, kPort, FlitType::kMemRdResp, 6, true, 1)};
  ASSERT_EQ(bench.out.size(), 8u);
  for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(bench.out[i].flit.hdr(), headers[i]) << i;
  for (unsigned i : {0u, 4u})
    for (unsigned k : {0u, 1u}) EXPECT_EQ(bench.out[i + k].flit.w[0], bench.out[i + k + 2].flit.w[0]);
}

TEST(Memory_4_3, NextRequestTakenWhenFinalWordShows) {
  PortBench bench;
  bench.send(10, read_request(raw_entries(0, 2, 3)));
  bench.send(11, read_request(raw_entries(0x100, 1, 3)));
  bench.run(100);
  ASSERT_EQ(bench.ar_valid.size(), 3u);
  EXPECT_EQ(bench.ar_valid[2], bench.out_shown[5] + 1);
}

// WAIT holds until the emit buffer is empty, whatever the receiver does.
TEST(Memory_4_3, StalledOutputHoldsNextEntry) {
  PortBench bench(2);
  bench.out_busy = [](Cycle now) { return now < 60; };
  bench.send(10, read_request(raw_entries(0, 3, 4)));
  bench.run(120);
  ASSERT_EQ(bench.out.size(), 12u);
  EXPECT_EQ(bench.out[0].cycle, 60u);
  EXPECT_EQ(bench.out[3].cycle, 63u);
  EXPECT_EQ(bench.out[4].cycle, 65u);  // loaded in 63, the first cycle with an empty emit buffer
}

TEST(Memory_4_3, RequestFields) {
  const auto flits = [](const arch::MemReq& request) {
    PortBench bench;
    bench.send(0, read_request(request));
    bench.run(400);
    return bench.out.size();
  };
  arch::MemReq request = raw_entries(0, 3, 0);
  EXPECT_EQ(flits(request), 12u);  // entry_words 0 means 4
  request.entry_words = 5;
  EXPECT_EQ(flits(request), 12u);
  request.entry_words = 2;
  request.len = 77;  // ignored
  EXPECT_EQ(flits(request), 6u);
  request.count = 0;  // means 1
  EXPECT_EQ(flits(request), 2u);
  request = quant_entries(0, 5);
  request.flags = arch::kMemFlagQuant;  // QUANT alone: exactly one entry
  EXPECT_EQ(flits(request), 4u);
}

TEST(Memory_4_3, AddressesAndTagsWrap) {
  BenchConfig config;
  Bench bench(config);
  bench.sender().send(0, read_request(raw_entries(0xFF'FFFF'FF80, 2, 4), kNode, 255));
  bench.run(200);
  ASSERT_EQ(bench.bus.ar.size(), 2u);
  EXPECT_EQ(bench.bus.ar[0].addr, 0xFF'FFFF'FF80u);
  EXPECT_EQ(bench.bus.ar[1].addr, 0u);
  EXPECT_EQ(bench.out()[0].flit.txn(), 255u);
  EXPECT_EQ(bench.out()[4].flit.txn(), 0u);
  ASSERT_GE(bench.agent.misuse().total(), 1u);
  EXPECT_EQ(bench.agent.misuse().kept()[0].kind, MisuseKind::kTagOverflow);
}

TEST(Memory_4_3, WorkedRawThroughAgent) {
  Bench bench;
  fill_words(bench.memory, 0, 16);
  bench.sender().send(20, read_request(raw_entries(0, 2, 4), kNode, 7));
  bench.run(200);
  EXPECT_THAT(cycles_of(bench.bus.ar), ElementsAre(34, 34 + 24));
  EXPECT_THAT(cycles_of(bench.bus.r), ElementsAre(35, 36, 37, 38, 59, 60, 61, 62));
  EXPECT_THAT(bench.out_cycles(), ElementsAre(50, 51, 52, 53, 74, 75, 76, 77));
  for (unsigned i = 0; i < 8; ++i) {
    const Flit& flit = bench.out()[i].flit;
    EXPECT_EQ(flit.hdr(),
              arch::make_header(kNode, kPort, FlitType::kMemRdResp, 7 + i / 4, i % 4 == 3, i % 4));
    EXPECT_EQ(flit.w[0], 4 * i);
    EXPECT_EQ(flit.w[3], 4 * i + 3);
  }
}

// The worked numbers of the section are those of a 512-bit bus: two DRAM beats an entry, the same flits.
TEST(Memory_4_3, WorkedRawBus512) {
  BenchConfig config;
  config.bus_bits = 512;
  Bench bench(config);
  bench.sender().send(20, read_request(raw_entries(0, 2, 4)));
  bench.run(200);
  EXPECT_THAT(cycles_of(bench.bus.ar), ElementsAre(34, 58));
  EXPECT_THAT(cycles_of(bench.bus.r), ElementsAre(35, 36, 59, 60));
  EXPECT_THAT(bench.out_cycles(), ElementsAre(50, 51, 52, 53, 74, 75, 76, 77));
}

TEST(Memory_4_3, WorkedQuantThroughAgent) {
  Bench bench;
  bench.sender().send(131, read_request(quant_entries(0x100, 2)));
  bench.run(300);
  EXPECT_THAT(bench.out_cycles(), ElementsAre(175, 176, 177, 178, 203, 204, 205, 206));
}

TEST(Memory_4_3, FormulasThroughAgent) {
  for (const unsigned bus : {256u, 512u, 1024u}) {
    for (const unsigned d : {1u, 2u, 9u, 40u}) {
      for (unsigned ew = 1; ew <= 4; ++ew) {
        BenchConfig config;
        config.bus_bits = bus;
        config.dram.first_read_beat = d;
        Bench bench(config);
        bench.sender().send(5, read_request(raw_entries(0, 3, ew)));
        bench.run(400);
        ASSERT_EQ(bench.out().size(), 3 * ew);
        EXPECT_EQ(bench.out()[0].cycle, 5u + 23 + d + (ew - 1) + 3);
        if (ew == 4) {
          EXPECT_EQ(bench.out()[ew].cycle - bench.out()[0].cycle, 23u + d);
        }
      }
      BenchConfig config;
      config.bus_bits = bus;
      config.dram.first_read_beat = d;
      Bench bench(config);
      bench.sender().send(5, read_request(quant_entries(0, 3)));
      bench.run(400);
      ASSERT_EQ(bench.out().size(), 12u);
      EXPECT_EQ(bench.out()[0].cycle, 5u + 23 + d + 7 + 13);
      EXPECT_EQ(bench.out()[4].cycle - bench.out()[0].cycle, 27u + d);
      EXPECT_EQ(bench.out()[8].cycle - bench.out()[4].cycle, 27u + d);
    }
  }
}

// A gap of the DRAM between beats delays the entry by itself, unless it hides behind the unpacking.
TEST(Memory_4_3, ReadGapsThroughAgent) {
  const auto first = [](unsigned bus, std::vector<std::uint32_t> gaps) {
    BenchConfig config;
    config.bus_bits = bus;
    config.dram.read_gaps = std::move(gaps);
    Bench bench(config);
    bench.sender().send(5, read_request(quant_entries(0, 1)));
    bench.run(400);
    return bench.out_cycles().at(0) - (5 + 23 + 1 + 7 + 13);
  };
  EXPECT_EQ(first(256, {2}), 14u);       // 7 gaps of 2
  EXPECT_EQ(first(256, {0, 0, 3}), 6u);  // after beats 2 and 5
  EXPECT_EQ(first(512, {1}), 0u);        // a 512-bit beat feeds two internal beats
  EXPECT_EQ(first(512, {4}), 9u);        // 3 gaps of 4, less one cycle a beat
  EXPECT_EQ(first(512, {0, 5, 0, 1}),
            3u);  // beat 2 is offered 5 late; one unpacked beat was left over, twice
}

TEST(Memory_6, QuantisedWordLayout) {
  for (const bool b_layout : {false, true}) {
    Bench bench;
    std::array<std::uint16_t, 128> source;
    std::uint32_t x = 12345;
    for (auto& v : source)
      v = static_cast<std::uint16_t>(0x2C00 + ((x = x * 1664525 + 1013904223) >> 20) % 0x1800);
    bench.memory.write(0x200, {reinterpret_cast<const std::uint8_t*>(source.data()), 256});
    bench.sender().send(0, read_request(quant_entries(0x200, 1, b_layout)));
    bench.run(100);
    ASSERT_EQ(bench.out().size(), 4u);
    for (unsigned lane = 0; lane < 4; ++lane) {
      const auto block =
          arch::quantise_block(std::span<const std::uint16_t, 32>(source.data() + 32 * lane, 32));
      for (unsigned k = 0; k < 32; ++k) {
        const Flit& word = bench.out()[k / 8].flit;
        const unsigned slot = b_layout ? (k % 8) * 4 + lane : lane * 8 + k % 8;
        EXPECT_EQ(word.bits(249 - 7 * slot, 7), static_cast<std::uint8_t>(block.q[k]) & 0x7Fu);
        EXPECT_EQ(word.bits(24 - 8 * lane, 8), block.scale);
      }
    }
  }
}

// Section 13, messages 8 to 10: responses of memory bytes 0, 1, .. 31.
TEST(Memory_13, WorkedResponses) {
  Bench bench;
  std::array<std::uint8_t, 32> bytes;
  for (unsigned i = 0; i < 32; ++i) bytes[i] = static_cast<std::uint8_t>(i);
  for (unsigned w = 0; w < 128; ++w) bench.memory.write(32 * w, bytes);
  bench.sender().send(0, read_request(raw_entries(0, 32, 4)));
  bench.run(1000);
  const std::string payload = "1f1e1d1c1b1a191817161514131211100f0e0d0c0b0a09080706050403020100";
  ASSERT_EQ(bench.out().size(), 128u);
  EXPECT_EQ(arch::to_hex(bench.out()[3].flit), "1101200b" + payload);
  EXPECT_EQ(arch::to_hex(bench.out()[126].flit), "110121f2" + payload);
}

// With more reads in flight the bursts of one run overlap and the port itself becomes the limit.
TEST(Memory_7_3, ReadsInFlightPrefetch) {
  const auto period = [](unsigned reads_in_flight) {
    BenchConfig config;
    config.bus_bits = 512;
    config.agent.reads_in_flight = reads_in_flight;
    Bench bench(config);
    fill_words(bench.memory, 0, 64 * 8);
    bench.sender().send(0, read_request(raw_entries(0, 64, 4)));
    bench.run(3000);
    EXPECT_EQ(bench.out().size(), 256u);
    for (unsigned i = 0; i < 256; ++i) EXPECT_EQ(bench.out()[i].flit.w[0], 4 * i);  // in order
    return (bench.out()[252].cycle - bench.out()[124].cycle) / 32.0;                // cycles an entry
  };
  EXPECT_EQ(period(1), 24);
  EXPECT_EQ(period(2), 12);
  EXPECT_EQ(period(8), 5);  // ew + 1: the port's own limit
  EXPECT_EQ(period(16), 5);
}

}  // namespace
}  // namespace ktpu::memory::test
