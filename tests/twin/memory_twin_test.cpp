// SPDX-License-Identifier: Apache-2.0
// Memory agent model and SystemVerilog memory agent: every wire of every cycle, directed and random.
#include "tests/twin/memory_load.h"
#include "tests/twin/memory_moves.h"

namespace ktpu::test {
namespace {

using arch::Coord;
using arch::Flit;
using arch::FlitType;

TEST(MemoryTwin, OneReadBurst) {
  MemoryPair pair;
  mt::fill_words(pair.memory, 0x4000, 64);
  pair.senders[0]->send(20, mt::read_request(mt::raw_entries(0x4000, 3, 4), mt::kNode, 7));
  pair.run(300);
  EXPECT_EQ(pair.receivers[0]->taken.size(), 12u);
  EXPECT_TRUE(pair.at_rest());
  pair.pair->require_compared();
}

TEST(MemoryTwin, OneWriteBurst) {
  MemoryPair pair;
  pair.senders[0]->send(20, mt::write_request(0x4020, 3));
  for (unsigned n = 0; n < 3; ++n) pair.senders[0]->send(20, mt::write_data(n + 1, n == 2));
  pair.run(200);
  ASSERT_EQ(pair.receivers[0]->taken.size(), 1u);
  EXPECT_EQ(pair.receivers[0]->taken[0].flit.type(), FlitType::kMemWrAck);
  EXPECT_TRUE(pair.at_rest());
}

TEST(MemoryTwin, OnePlainRead) {
  MemoryPair pair(on_bus(512));
  mt::fill_words(pair.memory, 0x4000, 300);
  pair.senders[0]->send(20, mt::read_request(mt::plain_read(0x4020, 1), mt::kNode, 9));
  pair.senders[0]->send(20, mt::read_request(mt::plain_read(0x4020, 256), mt::kNode, 10));
  pair.run(800);
  EXPECT_EQ(pair.receivers[0]->taken.size(), 257u);
  EXPECT_TRUE(pair.at_rest());
}

TEST(MemoryTwin, QuantisedEntries) {
  MemoryPair pair(on_bus(512));
  sim::Random random(3);
  for (unsigned n = 0; n < 8 * 200; ++n) {
    std::uint64_t w[4];
    for (std::uint64_t& word : w) {
      word = random.next();
      // Blocks of large, of small, of subnormal and of no elements at all, too.
      const unsigned kind = n / 8 % 8;
      if (kind == 1) word &= 0x83FF83FF83FF83FFull;
      if (kind == 2) word &= 0x8007800780078007ull;
      if (kind == 3) word = n % 2 == 0 ? 0 : word & 0x8000800080008000ull;
      if (kind == 4) word |= 0x7C007C007C007C00ull;
      if (kind == 5) word &= 0x8FFF8FFF8FFF8FFFull;
    }
    pair.memory.write(0x10000 + 32ull * n, {reinterpret_cast<const std::uint8_t*>(w), 32});
  }
  pair.senders[0]->send(5, mt::read_request(mt::quant_entries(0x10000, 200, false), mt::kNode, 0));
  pair.senders[0]->send(5, mt::read_request(mt::quant_entries(0x10000, 200, true), mt::kNode, 0));
  pair.run(400 * 30 + 100);
  EXPECT_EQ(pair.receivers[0]->taken.size(), 1600u);
  EXPECT_TRUE(pair.at_rest());
}

TEST(MemoryTwin, LockstepUnderRandomLoad) {
  std::uint64_t reads = 0, writes = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    const MemoryLoad done = run_memory_load(seed, 400);
    reads += done.responses;
    writes += done.acks;
  }
  EXPECT_GT(reads, 20000u);
  EXPECT_GT(writes, 500u);
}

TEST(MemoryTwin, StagingMemoryInThePorts) {
  std::uint64_t reads = 0, writes = 0;
  for (std::uint64_t seed = 1; seed <= 23; seed += 2) {
    const MemoryLoad done = run_memory_load(seed, 400, {memory::StagingPlacement::kPort, 1});
    reads += done.responses;
    writes += done.acks;
  }
  EXPECT_GT(reads, 10000u);
  EXPECT_GT(writes, 250u);
}

TEST(MemoryTwin, SeveralReadsInFlight) {
  std::uint64_t reads = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed)
    reads +=
        run_memory_load(seed, 400,
                        {memory::StagingPlacement::kConverged, 2 + static_cast<unsigned>(seed * seed % 63)})
            .responses;
  EXPECT_GT(reads, 20000u);
}

// The two meet at the nearer end of the FIFOs of the DRAM bus.
TEST(MemoryTwin, DramOnAClockOfItsOwn) {
  constexpr std::array<std::pair<std::uint64_t, std::uint64_t>, 6> kRatios{
      {{1, 1}, {3, 1}, {1, 3}, {7, 3}, {250, 333}, {800, 300}}};
  std::uint64_t reads = 0, writes = 0;
  for (std::uint64_t seed = 1; seed <= 18; ++seed) {
    MemoryLoadOptions options;
    options.dram_clock = kRatios[seed % kRatios.size()];
    if (seed % 3 == 0) options.reads_in_flight = 1 + static_cast<unsigned>(seed);
    if (seed % 4 == 1) options.staging = memory::StagingPlacement::kPort;
    const MemoryLoad done = run_memory_load<rtl::FarMemoryTwin>(seed, 300, options);
    reads += done.responses;
    writes += done.acks;
  }
  EXPECT_GT(reads, 10000u);
  EXPECT_GT(writes, 250u);
}

TEST(MemoryTwin, Moves) {
  std::uint64_t moves = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) moves += run_moves(seed, 40, false).moves;
  EXPECT_GT(moves, 500u);
}

TEST(MemoryTwin, MovesWhoseRegistersChangeMeanwhile) {
  std::uint64_t moves = 0;
  for (std::uint64_t seed = 21; seed <= 40; ++seed) moves += run_moves(seed, 60, true).moves;
  EXPECT_GT(moves, 150u);
}

TEST(MemoryTwin, HostWindow) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    mt::BenchConfig config = on_bus(256u << seed % 3);
    config.agent.mesh_id = static_cast<unsigned>(seed % 4);
    if (seed % 2 == 0) config.agent.staging = memory::StagingPlacement::kConverged;
    memory::WindowBus window("window");
    RandomHost host(window, seed, 60, seed % 2 == 0, config.agent.mesh_id);
    const std::size_t writes = host.writes.size(), reads = host.reads.size();
    MemoryPair pair(config, {.window = &window, .host = &host});
    for (int k = 0; k < 1000 && (!host.done() || !pair.at_rest()); ++k) pair.run(50);
    EXPECT_TRUE(host.done() && pair.at_rest());
    EXPECT_EQ(host.answers, writes);
    EXPECT_GT(host.words_read, reads);
  }
}

// What the back door puts into the staging memory is there for both.
TEST(MemoryTwin, StagingMemoryThatWasLoaded) {
  mt::BenchConfig config = on_bus(512);
  config.agent.staging = memory::StagingPlacement::kConverged;
  MemoryPair pair(config);
  constexpr std::uint64_t kAt = 1ull << 39 | 0x1F0084;
  std::vector<std::uint8_t> bytes(1000);
  for (std::size_t n = 0; n < bytes.size(); ++n) bytes[n] = static_cast<std::uint8_t>(n * 7 + 1);
  pair.agent->staging()->write(kAt, bytes);
  pair.twin->store(kAt, bytes);
  pair.senders[0]->send(20, mt::read_request(mt::raw_entries(1ull << 39 | 0x1F0080, 10, 4)));
  pair.run(500);
  ASSERT_EQ(pair.receivers[0]->taken.size(), 40u);
  EXPECT_NE(pair.receivers[0]->taken[5].flit.w[0], 0u);
}

// More words than a slot holds: the 4-bit length wraps, and the slot's words alias.
TEST(MemoryTwin, WritesThatAreTooLong) {
  MemoryPair pair(on_bus(512));
  for (unsigned beats = 1; beats <= 20; ++beats) {
    pair.senders[0]->send(0, mt::write_request(0x1000 * beats, beats));
    for (unsigned n = 0; n < (beats - 1) % 16 + 1; ++n)
      pair.senders[0]->send(0, mt::write_data(100 * beats + n, false));
  }
  pair.run(1500);
  EXPECT_EQ(pair.receivers[0]->taken.size(), 20u);
  EXPECT_TRUE(pair.at_rest());
}

// Data without a descriptor: the write queue stops for good, and the port when it is full.
TEST(MemoryTwin, AWedgedWriteQueue) {
  MemoryPair pair;
  for (unsigned n = 0; n < 80; ++n) pair.senders[0]->send(n, mt::write_data(n, false));
  pair.senders[0]->send(0, mt::read_request(mt::raw_entries(0, 1, 4)));
  pair.run(400);
  EXPECT_GT(pair.senders[0]->unsent(), 10u);
  EXPECT_FALSE(pair.agent->idle());
  EXPECT_TRUE(pair.twin->resting() || pair.senders[0]->unsent() != 0);
}

// Sixteen open writes: a seventeenth descriptor waits at the head.
TEST(MemoryTwin, AllSlotsInUse) {
  MemoryPair pair(on_bus(512));
  for (unsigned n = 0; n < 20; ++n)
    pair.senders[0]->send(0, mt::write_request(0x100 * n, 2, {static_cast<std::uint8_t>(n % 16), 3}, n));
  pair.run(200);
  EXPECT_FALSE(pair.agent->idle());
  EXPECT_FALSE(pair.twin->resting() && pair.agent->idle());
}

TEST(MemoryTwin, LockstepThroughResets) {
  MemoryPair pair(on_bus(512));
  mt::fill_words(pair.memory, 0, 512);
  for (unsigned n = 0; n < 60; ++n) {
    pair.senders[0]->send(n, mt::read_request(mt::quant_entries(0x100 * n, 3), mt::kNode, n));
    pair.senders[0]->send(n, mt::write_request(0x100 * n, 1));
    pair.senders[0]->send(n, mt::write_data(n, true));
  }
  for (int round = 0; round < 5; ++round) {
    pair.run(203);
    pair.engine.reset();
  }
  EXPECT_EQ(pair.pair->compared_cycles(), 5u * 203u);
}

TEST(MemoryTwin, WhatItHasNotIsRefusedByName) {
  mt::BenchConfig config;
  memory::SparseMemory memory(config.memory);
  memory::SimpleDram dram(memory, config.dram, config.bus_bits);
  apps::DramOfTwin socket(dram);
  const auto refusal = [&](auto change) -> std::string {
    rtl::MemoryPlace place = rtl::MemoryTwin::place_of(config.agent, config.bus_bits);
    change(place);
    try {
      rtl::MemoryTwin twin("memory", place, socket);
    } catch (const arch::UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal([](rtl::MemoryPlace&) {}), "");
  for (const auto& [text, word] : std::vector<std::pair<std::string, std::string>>{
           {refusal([](rtl::MemoryPlace& p) { p.reads_in_flight = 65; }), "reads_in_flight"},
           {refusal([](rtl::MemoryPlace& p) { p.bus_bits = 128; }), "128"},
           {refusal([](rtl::MemoryPlace& p) { p.ports.clear(); }), "0 memory ports"}})
    EXPECT_NE(text.find(word), std::string::npos) << text;
}

// The RTL alone, on a DRAM of its own.
TEST(MemoryTwin, RtlAlone) {
  mt::BenchConfig config = on_bus(512);
  memory::SparseMemory memory(config.memory);
  memory::SimpleDram dram(memory, config.dram, config.bus_bits);
  apps::DramOfTwin socket(dram);
  rtl::MemoryTwin twin("memory", rtl::MemoryTwin::place_of(config.agent, config.bus_bits), socket);
  sim::FlitLink in("in", arch::kFlitBits), out("out", arch::kFlitBits);
  twin.bind_port(0, {&in, &out});
  mt::Sender sender("sender", in);
  mt::Receiver receiver("receiver", out);
  sim::Engine engine;
  engine.add(twin);
  engine.add(in);
  engine.add(out);
  engine.add(sender);
  engine.add(receiver);
  engine.elaborate();
  sender.send(20, mt::write_request(0x2000, 2));
  sender.send(20, mt::write_data(1, false));
  sender.send(20, mt::write_data(2, true));
  sender.send(100, mt::read_request(mt::plain_read(0x2000, 2)));
  engine.run_until(200);
  ASSERT_EQ(receiver.taken.size(), 3u);
  // memory.md 4.5: last data flit accepted at k, acknowledgement at k + 7 + 24 + (n - 1) + Dw.
  EXPECT_EQ(receiver.taken[0].cycle, 22u + 7 + 24 + 1 + 1);
  EXPECT_EQ(receiver.taken[1].cycle, 100u + 24 + 1);  // 4.4
  EXPECT_EQ(receiver.taken[1].flit.w[0], 4u);
  EXPECT_EQ(receiver.taken[2].flit.w[0], 8u);
  EXPECT_TRUE(twin.resting());
}

}  // namespace
}  // namespace ktpu::test
