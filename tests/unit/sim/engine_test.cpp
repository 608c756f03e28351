// SPDX-License-Identifier: Apache-2.0
#include "tlm/sim/engine.h"

#include <gtest/gtest.h>

#include <deque>

#include "arch/error.h"
#include "tests/unit/sim/toy_units.h"
#include "tlm/sim/random.h"
#include "tlm/traffic/node.h"

namespace ktpu::test {
namespace {

using sim::Cycle;
using sim::kNever;

TEST(Engine, RunsAllUnitsInTheFirstCycleAndThenAsTheyAsk) {
  Sleeper every("every", [](Cycle now) { return now + 1; });
  Sleeper third("third", [](Cycle now) { return now + 3; });
  Sleeper once("once", [](Cycle) { return kNever; });
  sim::Engine engine;
  for (sim::Unit* unit : {&every, &third, &once}) engine.add(*unit);
  engine.elaborate();
  engine.run_until(10);
  EXPECT_EQ(every.ran.size(), 10u);
  EXPECT_EQ(third.ran, (std::vector<Cycle>{0, 3, 6, 9}));
  EXPECT_EQ(once.ran, (std::vector<Cycle>{0}));
}

// The wheel covers 64 cycles, later timers go to a heap: every distance must come back in its cycle.
TEST(Engine, TimersOfAllDistancesFireInTheirCycle) {
  for (Cycle distance = 1; distance < 300; ++distance) {
    Sleeper unit("unit", [&](Cycle now) { return now + distance; });
    sim::Engine engine;
    engine.add(unit);
    engine.elaborate();
    engine.run_until(1000);
    std::vector<Cycle> expected;
    for (Cycle c = 0; c < 1000; c += distance) expected.push_back(c);
    ASSERT_EQ(unit.ran, expected) << distance;
    EXPECT_EQ(engine.cycles_run(), expected.size());
    EXPECT_EQ(engine.cycles_run() + engine.cycles_skipped(), 1000u);
  }
}

TEST(Engine, RandomTimersOfManyUnits) {
  const std::uint64_t seed = 3;
  SCOPED_TRACE(seed);
  sim::Random random(seed);
  std::vector<std::vector<Cycle>> expected(150);  // more than two words of the activity mask
  std::deque<Sleeper> units;
  sim::Engine engine;
  for (auto& cycles : expected) {
    for (Cycle c = 0; c < 5000; c += 1 + (random.below(3) == 0 ? random.below(700) : random.below(70)))
      cycles.push_back(c);
    units.emplace_back("unit", [&cycles](Cycle now) {
      const auto next = std::upper_bound(cycles.begin(), cycles.end(), now);
      return next == cycles.end() ? kNever : *next;
    });
    engine.add(units.back());
  }
  engine.elaborate();
  engine.run_until(5000);
  for (std::size_t k = 0; k < expected.size(); ++k) ASSERT_EQ(units[k].ran, expected[k]) << k;
  EXPECT_EQ(engine.next_event(), kNever);
}

TEST(Engine, WakeNextAndWakeAt) {
  Sleeper unit("unit", [](Cycle) { return kNever; });
  sim::Engine engine;
  engine.add(unit);
  engine.elaborate();
  engine.run_until(10);
  unit.wake_next();
  EXPECT_EQ(engine.next_event(), 10u);
  engine.run_until(20);
  engine.wake_at(unit, 25);
  engine.wake_at(unit, 250);
  EXPECT_EQ(engine.next_event(), 25u);
  engine.run_until(300);
  EXPECT_EQ(unit.ran, (std::vector<Cycle>{0, 10, 25, 250}));
}

TEST(Engine, SkipOverAnEventIsRefused) {
  Sleeper unit("unit", [](Cycle now) { return now + 7; });
  sim::Engine engine;
  engine.add(unit);
  engine.elaborate();
  engine.step();
  EXPECT_EQ(engine.next_event(), 7u);
  engine.skip_to(7);
  EXPECT_THROW(engine.skip_to(8), arch::InternalError);
  engine.step();
  EXPECT_EQ(unit.ran, (std::vector<Cycle>{0, 7}));
}

TEST(Engine, ResetForgetsTimersAndLowersLinks) {
  Sleeper unit("unit", [](Cycle now) { return now + 40; });
  sim::FlitLink link("link", arch::kFlitBits);
  sim::Engine engine;
  engine.add(unit);
  engine.add(link);
  engine.elaborate();
  engine.step();
  link.offer({});
  link.set_busy(true);
  engine.run_until(10);
  engine.reset();
  EXPECT_FALSE(link.valid());
  EXPECT_FALSE(link.busy());
  engine.run_until(60);
  EXPECT_EQ(unit.ran, (std::vector<Cycle>{10, 50}));  // 40, the timer from before, is gone
}

// Units in a row, in every order in the engine: nothing changes, and an offer wakes the receiver in its own
// cycle.
TEST(Engine, OrderOfUnitsDoesNotMatter) {
  std::vector<std::vector<Cycle>> arrivals;
  std::vector<std::size_t> order{0, 1, 2, 3, 4};
  do {
    sim::FlitLink a("a", 288), b("b", 288), c("c", 288), back("back", 288), unused("unused", 288);
    traffic::NodeParams source_params, sink_params;
    for (Cycle t = 3; t < 60; t += 11) source_params.script.push_back({t, {}});
    sink_params.busy = traffic::BusyPattern::periodic(5, 1);
    sink_params.record = true;
    traffic::Node source("source", source_params, {&back, &a}), sink("sink", sink_params, {&c, &unused});
    Stage first("first", a, b), second("second", b, c);
    Sleeper other("other", [](Cycle) { return kNever; });
    const std::vector<sim::Unit*> units{&source, &first, &second, &sink, &other};
    sim::Engine engine;
    for (const std::size_t k : order) engine.add(*units[k]);
    for (sim::FlitLink* link : {&a, &b, &c, &back, &unused}) engine.add(*link);
    engine.elaborate();
    engine.run_until(80);
    EXPECT_LT(first.runs, 30u);  // it slept
    EXPECT_EQ(other.ran.size(), 1u);
    std::vector<Cycle> seen;
    for (const traffic::Delivery& d : sink.deliveries()) seen.push_back(d.cycle);
    arrivals.push_back(seen);
  } while (std::next_permutation(order.begin(), order.end()));
  // Offered in 3, 14, 25, 36, 47, 58, one cycle a stage; 5, 60 and so on are refused.
  EXPECT_EQ(arrivals[0], (std::vector<Cycle>{6, 16, 27, 38, 49, 61}));
  for (const auto& seen : arrivals) ASSERT_EQ(seen, arrivals[0]);
}

TEST(Engine, MealyUnitsSettleInTheOrderOfTheirWires) {
  for (int order = 0; order < 6; ++order) {
    std::deque<sim::FlitLink> links;
    for (const char* name : {"a", "b", "c", "d"}) links.emplace_back(name, 288u);
    std::vector<std::string> settled;
    ValidOnly first("first", links[0], links[1], settled, false),
        second("second", links[1], links[2], settled, false),
        third("third", links[2], links[3], settled, false);
    std::vector<sim::Unit*> units{&first, &second, &third};
    for (int k = 0; k < order; ++k) std::next_permutation(units.begin(), units.end());
    sim::Engine engine;
    for (sim::Unit* unit : units) engine.add(*unit);
    for (auto& link : links) engine.add(link);
    engine.elaborate();
    links[0].offer({});
    engine.step();
    EXPECT_EQ(settled, (std::vector<std::string>{"first", "second", "third"}));  // once each
    EXPECT_TRUE(links[3].valid());
  }
}

// A part that settles apart has its own place in the order: there and back through another unit is no circle.
TEST(Engine, PartsOfAUnitSettleInTheirOwnPlaces) {
  for (const bool swapped : {false, true}) {
    std::deque<sim::FlitLink> links;
    for (const char* name : {"a", "b", "c", "d"}) links.emplace_back(name, 288u);
    std::vector<std::string> settled;
    TwoPlaces outer("outer", links[0], links[1], links[2], links[3], settled);
    ValidOnly inner("inner", links[1], links[2], settled, false);
    sim::Engine engine;
    if (swapped) engine.add(inner);
    engine.add(outer);
    if (!swapped) engine.add(inner);
    for (auto& link : links) engine.add(link);
    engine.elaborate();
    links[0].offer({});
    engine.step();
    EXPECT_EQ(settled, (std::vector<std::string>{"outer.first", "inner", "outer"}));  // once each
    EXPECT_TRUE(links[3].valid());
  }
}

// Wires in both directions have no order; the engine repeats until nothing changes.
TEST(Engine, MealyChainsWithBusyBackwardsSettle) {
  std::deque<sim::FlitLink> links;
  for (const char* name : {"a", "b", "c", "d"}) links.emplace_back(name, 288u);
  Wire third("third", links[2], links[3]), first("first", links[0], links[1]),
      second("second", links[1], links[2]);
  sim::Engine engine;
  for (sim::Unit* unit : {&third, &first, &second}) engine.add(*unit);
  for (auto& link : links) engine.add(link);
  engine.elaborate();
  for (const bool busy : {false, true, false}) {
    links[0].offer({});
    links[3].set_busy(busy);
    engine.step();
    EXPECT_TRUE(links[3].valid());
    EXPECT_EQ(links[0].busy(), busy);
  }
}

TEST(Engine, CombinationalCycleIsReportedByName) {
  sim::FlitLink a("a", 288), b("b", 288);
  std::vector<std::string> settled;
  ValidOnly there("there", a, b, settled, false),
      back("back", b, a, settled, true);  // an odd number of inversions
  sim::Engine engine;
  engine.add(there);
  engine.add(back);
  engine.add(a);
  engine.add(b);
  engine.elaborate();
  try {
    engine.step();
    FAIL() << "no report";
  } catch (const arch::UserError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("combinational cycle"), std::string::npos) << text;
    EXPECT_NE(text.find("there"), std::string::npos) << text;
    EXPECT_NE(text.find("back"), std::string::npos) << text;
    EXPECT_NE(text.find("cycle 0"), std::string::npos) << text;
  }
}

TEST(Engine, SecondDriverOfALinkIsRefused) {
  sim::FlitLink a("a", 288), b("b", 288), c("c", 288);
  Stage first("first", a, b);
  EXPECT_THROW(Stage("second", c, b), arch::InternalError);
  EXPECT_THROW(Stage("third", a, c), arch::InternalError);
}

TEST(Engine, ObserversSeeRunCyclesAndAreToldOfSkippedOnes) {
  struct Watch final : sim::Observer {
    void on_cycle(Cycle now) override { seen.push_back(now); }
    void on_skip(Cycle first, Cycle end) override {
      for (Cycle c = first; c < end; ++c) skipped.push_back(c);
    }
    std::vector<Cycle> seen, skipped;
  } watch;
  Sleeper unit("unit", [](Cycle now) { return now + 4; });
  sim::Engine engine;
  engine.add(unit);
  engine.add(watch);
  engine.elaborate();
  engine.run_until(10);
  EXPECT_EQ(watch.seen, (std::vector<Cycle>{0, 4, 8}));
  EXPECT_EQ(watch.skipped, (std::vector<Cycle>{1, 2, 3, 5, 6, 7, 9}));
  engine.remove(watch);
  engine.run_until(20);
  EXPECT_EQ(watch.seen.size(), 3u);
}

}  // namespace
}  // namespace ktpu::test
