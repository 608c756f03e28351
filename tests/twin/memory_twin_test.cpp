// SPDX-License-Identifier: Apache-2.0
// Memory agent model and SystemVerilog memory agent: every wire of every cycle, directed and random.
#include "tests/twin/memory_lockstep.h"

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

}  // namespace
}  // namespace ktpu::test
