// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/digest.h"

#include <gtest/gtest.h>

#include "tests/unit/observe/test_machine.h"

namespace ktpu::observe {
namespace {

using test::TestMachine;

TEST(ObserveDigest, EqualWithAndWithoutIdleSkipInEveryCycle) {
  for (const sim::Cycle end : {1u, 4u, 7u, 30u, 31u, 60u, 150u, 400u}) {
    TestMachine fast(12, 9, 2, true), slow(12, 9, 2, false);
    fast.engine.run_until(end);
    slow.engine.run_until(end);
    EXPECT_EQ(digest(fast.engine), digest(slow.engine)) << "cycle " << end;
    EXPECT_EQ(digest(fast.sink), digest(slow.sink)) << "cycle " << end;
  }
}

TEST(ObserveDigest, SeesRegistersMemoriesQueuedWordsCountersAndWires) {
  TestMachine a(12, 1, 40), b(12, 1, 40);
  a.engine.run_until(8);
  b.engine.run_until(8);
  const std::uint64_t same = digest(a.engine);
  EXPECT_EQ(digest(b.engine), same);
  b.sink.table_[2] ^= 1;
  EXPECT_NE(digest(b.engine), same);
  b.sink.table_[2] ^= 1;
  ++b.sink.served_;
  EXPECT_NE(digest(b.engine), same);
  EXPECT_EQ(digest(b.engine, DigestOf::kState), digest(a.engine, DigestOf::kState));
  --b.sink.served_;
  ++b.link.stalled_cycles();
  EXPECT_NE(digest(b.engine), same);
  EXPECT_EQ(digest(b.engine, DigestOf::kState), digest(a.engine, DigestOf::kState));
  --b.link.stalled_cycles();
  EXPECT_EQ(digest(b.engine), same);
  b.link.set_busy(!b.link.busy());
  EXPECT_NE(digest(b.engine), same);
}

// The same number on every host and in every later version, as long as the machine is the same.
TEST(ObserveDigest, IsAFixedNumber) {
  TestMachine machine(3, 1, 40);
  machine.engine.run_until(5);
  const std::uint64_t value = digest(machine.engine);
  TestMachine again(3, 1, 40);
  again.engine.run_until(5);
  EXPECT_EQ(digest(again.engine), value);
  again.engine.run_until(6);
  EXPECT_NE(digest(again.engine), value);
}

TEST(ObserveDigest, TheOrderOfValuesCounts) {
  struct Pair final : sim::Unit {
    using Unit::Unit;
    void reset(sim::Cycle) override {}
    void drive(sim::Cycle) override {}
    sim::Cycle clock(sim::Cycle) override { return sim::kNever; }
    void visit(sim::Archive& archive) override { archive.memory("words", words, 2); }
    std::uint64_t words[2] = {1, 2};
  } a("p"), b("p");
  b.words[0] = 2;
  b.words[1] = 1;
  EXPECT_NE(digest(a), digest(b));
}

TEST(ObserveDigest, AQueuedWordCounts) {
  struct Queue final : sim::Unit {
    using Unit::Unit;
    void reset(sim::Cycle) override {}
    void drive(sim::Cycle) override {}
    sim::Cycle clock(sim::Cycle) override { return sim::kNever; }
    void visit(sim::Archive& archive) override { fifo.visit(archive, "fifo"); }
    sim::Fifo<std::uint64_t> fifo{sim::FifoShape::sync(4)};
  } a("q"), b("q");
  a.fifo.push(0, 5);
  b.fifo.push(0, 6);
  EXPECT_NE(digest(a), digest(b));
  b.fifo.pop(4);
  b.fifo.push(5, 5);  // another place in the ring, the same content
  EXPECT_EQ(digest(a), digest(b));
}

}  // namespace
}  // namespace ktpu::observe
