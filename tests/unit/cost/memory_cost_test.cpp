// SPDX-License-Identifier: Apache-2.0
// Port, path and DRAM against the measured instances of memory.md sections 4.3 to 4.5 and 7.3.
#include <gtest/gtest.h>

#include "compiler/cost/port.h"

namespace ktpu::cost {
namespace {

struct Rig : Port::Client {
  PortCost port_cost;
  PathCost path;
  DramCost dram_cost;
  Ledger ledger;
  EventQueue events;
  Dram dram{dram_cost, path, ledger};
  Port port{0, port_cost, path, dram, ledger, events, *this};
  std::vector<Message> waiting;
  std::vector<Cycles> answers;
  std::vector<std::pair<Cycles, unsigned>> signals;

  explicit Rig(const DramCost& cost = {}) : dram_cost(cost) {}

  void at_agent(const Message& m, Moment at) override { signals.emplace_back(at.t, m.unit); }
  void pass(const Message& m, Moment at) override { at_agent(m, at); }
  void answered(const Message&, unsigned, Moment out) override { answers.push_back(out.t); }

  void arrive(Cycles t, Message m) {
    m.at = ledger.after({}, t, Cause::kNetwork);
    waiting.push_back(m);
    events.add(t, Event::Kind::kArrive, 0, static_cast<std::uint32_t>(waiting.size() - 1));
  }
  void run() {
    while (!events.empty()) {
      const Event e = events.take();
      if (e.kind == Event::Kind::kArrive)
        port.arrive(waiting[e.what]);
      else if (e.kind == Event::Kind::kEntry)
        port.entry(ledger.at(e.what));
      else if (e.kind == Event::Kind::kGrant)
        dram.grant([&](unsigned, bool is_write, Moment moment) {
          port.answer(is_write, moment);
          port.wake(e.t);
        });
      else
        port.wake(e.t);
    }
  }
};

Message entries(unsigned count, bool quant) {
  Message m;
  m.kind = Message::Kind::kEntries;
  m.count = static_cast<std::uint16_t>(count);
  m.quant = quant;
  return m;
}
Message plain(std::uint64_t addr = 0) {
  Message m;
  m.kind = Message::Kind::kPlain;
  m.addr = addr;
  return m;
}
Message write(unsigned words, std::uint64_t addr = 0) {
  Message m;
  m.kind = Message::Kind::kWrite;
  m.words = static_cast<std::uint8_t>(words);
  m.flits = static_cast<std::uint8_t>(words + 1);
  m.addr = addr;
  return m;
}

// Worked: t = 20, raw: flits 50 to 53, second entry 74 to 77.
TEST(MemoryCost, RawEntries) {
  Rig one, two;
  one.arrive(20, entries(1, false));
  one.run();
  EXPECT_EQ(one.answers, std::vector<Cycles>{53});
  two.arrive(20, entries(2, false));
  two.run();
  EXPECT_EQ(two.answers, std::vector<Cycles>{77});
}

// Worked: t = 131, quantised: flits 175 to 178, second entry 203 to 206; then 27 + D a further entry.
TEST(MemoryCost, QuantisedEntries) {
  for (const auto& [count, last] : {std::pair{1u, 178}, {2u, 206}, {32u, 178 + 31 * 28}}) {
    Rig r;
    r.arrive(131, entries(count, true));
    r.run();
    EXPECT_EQ(r.answers, std::vector<Cycles>{last});
  }
}

TEST(MemoryCost, SlowerMemoryLengthensEveryEntry) {
  DramCost slow;
  slow.first_read_beat = 11;
  Rig r(slow);
  r.arrive(0, entries(3, true));
  r.run();
  EXPECT_EQ(r.answers[0], 0 + 23 + 11 + 7 + 13 + 3 + 2 * (27 + 11));
}

// Worked: t = 1047: flit 1072 (t + 24 + D), then one every 21 + D.
TEST(MemoryCost, PlainReads) {
  Rig r;
  for (Cycles k = 0; k < 3; ++k) r.arrive(1047 + 3 * k, plain());
  r.run();
  EXPECT_EQ(r.answers, (std::vector<Cycles>{1072, 1094, 1116}));
}

// Worked: n = 2, last flit 274: B 297 on the DRAM bus, ack 307. 512-bit beats, aligned.
TEST(MemoryCost, OneWrite) {
  DramCost narrow;
  narrow.bus_bits = 256;
  Rig r(narrow);
  r.arrive(274, write(2));
  r.run();
  EXPECT_EQ(r.dram.last_write_beat().t, 296);
  EXPECT_EQ(r.port.books().write_busy, 307 + 1 - 281);
}

// An 8-word write every 32 + Dw, a word every 25 + Dw.
TEST(MemoryCost, WritesOfOnePort) {
  for (const auto& [words, period] : {std::pair{8u, 33}, {1u, 26}}) {
    Rig one, more;
    one.arrive(0, write(words));
    one.run();
    for (int k = 0; k < 5; ++k) more.arrive(k, write(words));
    more.run();
    EXPECT_EQ(more.dram.last_write_beat().t - one.dram.last_write_beat().t, 4 * period) << words;
  }
}

// And behind one that has begun: the write machine does both.
TEST(MemoryCost, APlainReadWaitsForTheWriteMachine) {
  Rig r, alone;
  r.arrive(0, write(8));
  r.arrive(9, plain());
  r.run();
  alone.arrive(9, plain());
  alone.run();
  EXPECT_GT(r.answers.at(0), alone.answers.at(0) + 20);
}

TEST(MemoryCost, APlainReadGoesBeforeAWaitingWrite) {
  Rig r;
  r.arrive(0, write(8));
  r.arrive(1, write(8));
  r.arrive(2, plain());
  r.run();
  Rig without;
  without.arrive(0, write(8));
  without.arrive(2, plain());
  without.run();
  EXPECT_EQ(r.answers, without.answers);
}

// Sixteen slots and sixty flits of queue are full after so many writes: a signal behind them on the same
// input waits, one on another input does not.
TEST(MemoryCost, WhatComesBehindAFullQueueWaits) {
  const auto signal_at = [](std::uint8_t input) {
    Rig r;
    for (Cycles k = 0; k < 40; ++k) r.arrive(k, write(8));
    Message m;
    m.kind = Message::Kind::kSignal;
    m.input = input;
    r.arrive(40, m);
    r.run();
    return r.signals.at(0).first;
  };
  EXPECT_GT(signal_at(0), 300);
  EXPECT_LE(signal_at(1), 100);
}

// Two ports ask at the same time: the device takes one burst after the other.
TEST(MemoryCost, OneReadAtATimeInTheDevice) {
  Rig r;
  const Moment a = r.ledger.after({}, 100, Cause::kPort);
  const Moment first = r.dram.read(a, 0, 8), second = r.dram.read(a, 0x1000, 8);
  EXPECT_EQ(first.t, 100 + 10 + 1 + 8 + 7 + 1);
  EXPECT_EQ(second.t - first.t, 8);  // the words come back one a cycle
  DramCost gaps;
  gaps.read_gaps = {4};
  Rig slow(gaps);
  const Moment b = slow.ledger.after({}, 100, Cause::kPort);
  const Cycles alone = slow.dram.read(b, 0, 8).t;
  EXPECT_EQ(slow.dram.read(b, 0, 8).t - alone, 1 + 3 * 5 + 1);  // D, beats with their gaps, next address
}

// Requests of one cycle are granted in turns, whoever asked first.
TEST(MemoryCost, RequestersTakeTurns) {
  Rig r;
  std::vector<unsigned> order;
  for (Cycles t : {100, 200}) {
    const Moment a = r.ledger.after({}, t, Cause::kPort);
    if (t == 100) {
      r.dram.ask(0, false, {a, 0, 8});
    } else {
      r.dram.ask(0, false, {a, 0, 8});
      r.dram.ask(1, false, {a, 0, 8});
    }
    r.dram.grant([&](unsigned requester, bool, Moment) { order.push_back(requester); });
  }
  EXPECT_EQ(order, (std::vector<unsigned>{0, 1, 0}));
}

TEST(MemoryCost, AWiderBusTakesFewerBeats) {
  EXPECT_EQ(Rig().dram.read({}, 0, 8).t, 27);
  DramCost gaps;
  gaps.read_gaps = {9};
  const Cycles narrow = Rig(gaps).dram.read({}, 0, 8).t;
  gaps.bus_bits = 1024;
  EXPECT_EQ(narrow - Rig(gaps).dram.read({}, 0, 8).t, 2 * 10 - 2);  // four beats, then two of four words
}

TEST(MemoryCost, AWordInsideABeatTakesItsShare) {
  DramCost gaps;
  gaps.read_gaps = {9};
  EXPECT_EQ(Rig(gaps).dram.read({}, 32, 2).t - Rig(gaps).dram.read({}, 0, 2).t, 10);
}

TEST(MemoryCost, BanksKeepOneRowOpen) {
  DramCost banked;
  banked.banks = 16;
  banked.in_flight = 8;
  Rig r(banked);
  const auto latency = [&](Cycles t, std::uint64_t addr) {
    return r.dram.read(r.ledger.after({}, t, Cause::kPort), addr, 2).t - t;
  };
  const Cycles closed = latency(0, 0);
  EXPECT_EQ(closed - latency(1000, 64), banked.row_closed - banked.row_hit);
  EXPECT_EQ(latency(2000, 16 * 2048) - closed, banked.row_conflict - banked.row_closed);
  EXPECT_EQ(closed - latency(3000, 16 * 2048), banked.row_closed - banked.row_hit);  // that row is open now
}

}  // namespace
}  // namespace ktpu::cost
