// SPDX-License-Identifier: Apache-2.0
// fabric.md section 1.2 and memory.md section 7.3: the FIFOs of the DRAM bus between two clocks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/unit/memory/path_bench.h"
#include "tlm/memory/dram_bus_unit.h"
#include "tlm/sim/state_archive.h"
#include "tlm/sim/timeline.h"

namespace ktpu::memory::test {
namespace {

using testing::ElementsAre;

struct Collect final : sim::Archive {
  std::map<std::string, std::uint64_t> counters;

 protected:
  void on_enter(std::string_view scope) override { path_.push_back(std::string(scope)); }
  void on_leave() override { path_.pop_back(); }
  void on_value(std::string_view name, void* value, std::size_t bytes, const sim::ValueInfo& info) override {
    if (info.kind != sim::ValueKind::kCounter || bytes != 8) return;
    std::string full;
    for (const std::string& part : path_) full += part + ".";
    counters[full + std::string(name)] = *static_cast<const std::uint64_t*>(value);
  }
  void on_computed(std::string_view, std::uint64_t, const sim::ValueInfo&) override {}
  void on_memory(std::string_view, void*, std::size_t, std::size_t) override {}

 private:
  std::vector<std::string> path_;
};

struct RigConfig {
  unsigned bus_bits = 256;
  SimpleDramParams dram;
  unsigned requesters = 4;
  unsigned reads_in_flight = 1;
};

// Bare requesters on one clock, the DRAM on another one or, with 0 Hz, on theirs.
class Rig final : public sim::Unit {
 public:
  Rig(const RigConfig& setup, std::uint64_t fabric_hertz, std::uint64_t dram_hertz, bool idle_skip = true)
      : Unit("memory"), bench(setup.bus_bits, setup.dram, setup.requesters, setup.reads_in_flight) {
    timeline.add("fabric", fabric_hertz, fabric);
    fabric.add(*this);
    if (dram_hertz != 0) {
      timeline.add("dram", dram_hertz, dram);
      const sim::ClockRatio to_dram = timeline.clocks()[1].from_base;
      bus =
          std::make_unique<DramBusUnit>("memory.dram_path", bench.path.bus(), to_dram.inverse(), *this, due_);
      bench.path.set_far(*bus, to_dram);
      bus->set_probe(&bench.bus);
      dram.add(*bus);
      dram.elaborate();
    }
    timeline.set_idle_skip(idle_skip);
    fabric.elaborate();
  }
  void reset(Cycle start) override { bench.path.reset(start); }
  void drive(Cycle) override {}
  Cycle clock(Cycle now) override {
    bench.run_cycle(now);
    Cycle next = bench.path.next(now);
    for (const PathBench::End& e : bench.ends) {
      if (e.stalled || e.wires.events()) return now + 1;
      if (!e.reads.empty() && !e.wires.ar_valid)
        next = std::min(next, std::max(now + 1, e.reads.front().from));
      if (!e.writes.empty() && !e.wires.aw_valid)
        next = std::min(next, std::max(now + 1, e.writes.front().from));
      if (!e.data.empty() && e.wires.w_data == nullptr) return now + 1;
    }
    return next;
  }
  void sync(Cycle now) override { bench.path.sync(now); }
  std::map<std::string, std::uint64_t> counters() {
    timeline.sync();
    Collect collect;
    bench.path.visit(collect);
    if (bus != nullptr) bus->visit(collect);
    return collect.counters;
  }

  sim::Engine fabric, dram;
  sim::Timeline timeline;
  PathBench bench;
  std::unique_ptr<DramBusUnit> bus;

 private:
  Cycle due_ = 0;
};

TEST(Memory_7_3_Clocks, ReadWithAFastDram) {
  // 300 and 900 MHz: pushed in 12, over at DRAM edge 39, readable from 46 on; +5 the first beat, whose cycle
  // ends at fabric edge 17.33: seen from 24 on.
  Rig rig({.dram = {.first_read_beat = 5}}, 300'000'000, 900'000'000);
  fill_words(rig.bench.memory, 0x1000, 8);
  rig.bench.ends[1].reads.push_back({10, 0x1000, 3});
  rig.timeline.run_until(100);
  EXPECT_THAT(rig.bench.ends[1].ar_granted, ElementsAre(11));
  EXPECT_THAT(cycles_of(rig.bench.bus.ar), ElementsAre(46 / 3));
  EXPECT_THAT(cycles_of(rig.bench.bus.r), ElementsAre(51 / 3, 52 / 3, 53 / 3));
  // The cycles of the beats end at edges 17.33, 17.67 and 18.
  EXPECT_THAT(rig.bench.ends[1].beats, ElementsAre(24, 25, 26));
  EXPECT_THAT(rig.bench.ends[1].values, ElementsAre(0, 4, 8));
}

TEST(Memory_7_3_Clocks, ReadWithASlowDram) {
  // 300 and 100 MHz: pushed in 12, which ends at fabric edge 13, in DRAM cycle 4: readable from 4 + 7 = 11
  // on. The beats of cycles 16, 17, 18 end at fabric edges 51, 54, 57 and are seen seven later.
  Rig rig({.dram = {.first_read_beat = 5}}, 300'000'000, 100'000'000);
  rig.bench.ends[1].reads.push_back({10, 0x1000, 3});
  rig.timeline.run_until(200);
  EXPECT_THAT(cycles_of(rig.bench.bus.ar), ElementsAre(33));
  EXPECT_THAT(cycles_of(rig.bench.bus.r), ElementsAre(48, 51, 54));
  EXPECT_THAT(rig.bench.ends[1].beats, ElementsAre(58, 61, 64));
}

// A word that meets a read edge exactly waits for the next one: the phase of every crossing of a long run at
// 3 : 7 is worked out in fractions.
TEST(Memory_7_3_Clocks, ThreeToSevenInFractions) {
  Rig rig({}, 300'000'000, 700'000'000);
  for (unsigned i = 0; i < 40; ++i) rig.bench.ends[0].reads.push_back({Cycle{50} * i, 0x40ull * i, 1});
  rig.timeline.run_until(2100);
  ASSERT_EQ(rig.bench.ends[0].beats.size(), 40u);
  for (unsigned i = 0; i < 40; ++i) {
    const Cycle pushed = rig.bench.ends[0].ar_granted[i] + 1;
    const Cycle taken = (pushed + 1) * 7 / 3 + 7;  // DRAM cycle of the address
    EXPECT_EQ(rig.bench.bus.ar[i].cycle, taken * 3 / 7);
    EXPECT_EQ(rig.bench.ends[0].beats[i], (taken + 1 + 1) * 3 / 7 + 7) << i;
  }
}

// The full flag of a writer on the other clock: free with the first of its cycles that begins when the cycle
// of the pop is over.
TEST(Memory_7_3_Clocks, TheFullFlagLooksBackToThePop) {
  sim::Engine engine;
  struct Nobody final : sim::Unit {
    Nobody() : Unit("nobody") {}
    void reset(Cycle) override {}
    void drive(Cycle) override {}
    Cycle clock(Cycle) override { return sim::kNever; }
  } unit;
  engine.add(unit);
  engine.elaborate();
  for (const auto& [writer_hertz, reader_hertz] :
       std::vector<std::pair<std::uint64_t, std::uint64_t>>{{300, 300}, {300, 700}, {700, 300}, {100, 900}}) {
    ClockBorder writer{sim::ClockRatio(writer_hertz, reader_hertz)};
    ClockBorder reader{sim::ClockRatio(reader_hertz, writer_hertz)};
    writer.set_other(unit);
    reader.set_other(unit);
    sim::Fifo<int> fifo(sim::FifoShape::async(16));
    for (int i = 0; i < 17; ++i) writer.push(fifo, static_cast<Cycle>(i), i);
    EXPECT_TRUE(writer.full(fifo, 1000));
    const Cycle pop = 100;
    reader.pop(fifo, pop);
    const Cycle free = ((pop + 1) * writer_hertz + reader_hertz - 1) / reader_hertz;
    EXPECT_TRUE(writer.full(fifo, free - 1)) << writer_hertz << " to " << reader_hertz;
    EXPECT_FALSE(writer.full(fifo, free)) << writer_hertz << " to " << reader_hertz;
    EXPECT_EQ(writer.room_from(fifo, free - 1), free);
  }
}

// The words of an AsyncFifo cross by the same rule.
TEST(Memory_7_3_Clocks, WordsCrossAsThroughAnAsyncFifo) {
  std::mt19937 random(11);
  sim::Engine engine;
  for (unsigned round = 0; round < 200; ++round) {
    const sim::ClockRatio ratio(1 + random() % 50, 1 + random() % 50);
    struct Nobody final : sim::Unit {
      Nobody() : Unit("nobody") {}
      void reset(Cycle) override {}
      void drive(Cycle) override {}
      Cycle clock(Cycle) override { return sim::kNever; }
    } unit;
    sim::Engine own;
    own.add(unit);
    own.elaborate();
    ClockBorder border{ratio};
    border.set_other(unit);
    sim::Fifo<int> fifo(sim::FifoShape::async(16));
    sim::AsyncFifo<int> other(16, ratio);
    Cycle now = random() % 3;
    for (int i = 0; i < 10; ++i, now += 1 + random() % 20) {
      border.push(fifo, now, i);
      other.push(now, i);
      ASSERT_EQ(fifo.readable_from(), other.readable_from());
      if (random() % 2 == 0) {
        const Cycle pop = fifo.readable_from() + random() % 3;
        fifo.pop(pop);
        other.pop(pop);
        ASSERT_EQ(fifo.readable_from(), other.readable_from());
      }
    }
  }
}

struct Traffic {
  explicit Traffic(std::mt19937& random) {
    const auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    setup.requesters = 1 + pick(6);
    setup.reads_in_flight = pick(3) == 0 ? 1 + pick(12) : 1;
    setup.bus_bits = 256u << pick(3);
    setup.dram.first_read_beat = 1 + pick(pick(2) ? 60 : 4);
    setup.dram.first_write_beat = 1 + pick(10);
    setup.dram.write_response = 1 + pick(20);
    if (pick(2)) setup.dram.read_gaps = {pick(5), pick(9)};
    if (pick(2)) setup.dram.write_gaps = {pick(12), pick(3)};
    stalls = pick(3) == 0;
    for (unsigned i = 0; i < setup.requesters; ++i) {
      Cycle at = pick(100);
      for (unsigned n = 0; n < 25; ++n, at += pick(3) == 0 ? pick(200) : 0) {
        const bool write = pick(2) == 0;
        // Each requester has its own 64 KiB, so that what a read must return depends on it alone.
        actions.push_back(
            {i, write, {at, 0x10000ull * i + 32ull * pick(1000), 1 + pick(pick(4) == 0 ? 128 : 8)}});
      }
    }
  }
  void give(Rig& rig) const {
    for (const Action& a : actions)
      (a.write ? rig.bench.ends[a.who].writes : rig.bench.ends[a.who].reads).push_back(a.request);
    if (stalls)
      for (PathBench::End& e : rig.bench.ends) e.stalled = [](Cycle now) { return now % 97 < 60; };
  }
  struct Action {
    unsigned who;
    bool write;
    PathBench::Request request;
  };
  RigConfig setup;
  bool stalls = false;
  std::vector<Action> actions;
};

void expect_same(Rig& a, Rig& b) {
  for (std::size_t i = 0; i < a.bench.ends.size(); ++i) {
    const PathBench::End &x = a.bench.ends[i], &y = b.bench.ends[i];
    EXPECT_EQ(x.ar_granted, y.ar_granted) << i;
    EXPECT_EQ(x.aw_granted, y.aw_granted) << i;
    EXPECT_EQ(x.taken, y.taken) << i;
    EXPECT_EQ(x.beats, y.beats) << i;
    EXPECT_EQ(x.values, y.values) << i;
    EXPECT_EQ(x.responses, y.responses) << i;
  }
  EXPECT_EQ(a.bench.bus.ar, b.bench.bus.ar);
  EXPECT_EQ(a.bench.bus.aw, b.bench.bus.aw);
  EXPECT_EQ(a.bench.bus.r, b.bench.bus.r);
  EXPECT_EQ(a.bench.bus.w, b.bench.bus.w);
  EXPECT_EQ(a.bench.bus.b, b.bench.bus.b);
  EXPECT_EQ(a.counters(), b.counters());
}

constexpr Cycle kEnd = 60'000;

// Every event in its cycle, every counter and account, full FIFOs included.
TEST(Memory_7_3_Clocks, EqualClocksAreOneClock) {
  const unsigned seed = 2024;
  std::mt19937 random(seed);
  for (unsigned round = 0; round < 60; ++round) {
    SCOPED_TRACE(fmt::format("seed {}, round {}", seed, round));
    const Traffic traffic(random);
    Rig one(traffic.setup, 300, 0), two(traffic.setup, 300, 300), every(traffic.setup, 300, 300, false);
    for (Rig* rig : {&one, &two, &every}) {
      traffic.give(*rig);
      for (Cycle at = 0; at < kEnd;) rig->timeline.run_until(at += 1 + random() % 5000);
      rig->timeline.run_until(kEnd + 5000);
      EXPECT_TRUE(rig->bench.path.idle());
    }
    expect_same(one, two);
    expect_same(two, every);
    if (HasFailure()) return;
  }
}

// What was written comes back, in order, at any two clocks; sleeping changes nothing.
TEST(Memory_7_3_Clocks, EveryReadReturnsWhatWasWrittenAtAnyClocks) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  for (unsigned round = 0; round < 25; ++round) {
    const std::uint64_t fabric = 1 + random() % 40, dram = 1 + random() % 40;
    const Cycle end = kEnd + kEnd * fabric / dram;  // enough for a slow DRAM
    SCOPED_TRACE(fmt::format("seed {}, round {}: fabric {} to DRAM {}", seed, round, fabric, dram));
    const RigConfig setup = Traffic(random).setup;
    Rig rig(setup, fabric, dram), every(setup, fabric, dram, false);
    struct Region {
      unsigned who;
      std::uint64_t addr;
      unsigned beats;
      std::uint64_t first;
    };
    std::vector<Region> regions;
    for (Rig* each : {&rig, &every}) {
      std::mt19937 same(seed + round);
      std::vector<std::uint64_t> next(setup.requesters, 1);
      regions.clear();
      for (unsigned n = 0; n < 60; ++n) {
        const unsigned who = static_cast<unsigned>(same() % setup.requesters);
        const unsigned beats = 1 + static_cast<unsigned>(same() % 32);
        regions.push_back({who, 0x1000ull * n, beats, next[who]});
        next[who] += beats;
        each->bench.ends[who].writes.push_back({Cycle{same() % 300}, 0x1000ull * n, beats});
      }
      each->timeline.run_until(end);
      std::size_t answered = 0;
      for (const auto& e : each->bench.ends) answered += e.responses.size();
      ASSERT_EQ(answered, regions.size());
      for (const Region& r : regions) each->bench.ends[r.who].reads.push_back({0, r.addr, r.beats});
      each->fabric.wake_at(*each, each->fabric.now());
      each->timeline.run_until(2 * end);
    }
    std::vector<std::vector<std::uint64_t>> right(setup.requesters);
    for (const Region& r : regions)
      for (unsigned i = 0; i < r.beats; ++i) right[r.who].push_back(r.first + i);
    for (unsigned i = 0; i < setup.requesters; ++i) EXPECT_EQ(rig.bench.ends[i].values, right[i]);
    expect_same(rig, every);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace ktpu::memory::test
