// SPDX-License-Identifier: Apache-2.0
// Several engines in the order in which their cycles begin.
#include "tlm/sim/timeline.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/sim/toy_units.h"

namespace ktpu::sim {
namespace {

using test::Sleeper;

// Clocks of the given frequencies, one unit each; all write what they do into one log.
struct Bench {
  explicit Bench(const std::vector<std::uint64_t>& hertz, std::vector<Sleeper::Next> next = {}) {
    for (std::size_t i = 0; i < hertz.size(); ++i) {
      engines.push_back(std::make_unique<Engine>());
      units.push_back(std::make_unique<Sleeper>("u", [this, i, next](Cycle now) {
        log.emplace_back(i, now);
        return next.empty() || !next[i] ? now + 1 : next[i](now);
      }));
      engines[i]->add(*units[i]);
      timeline.add("c", hertz[i], *engines[i]);
    }
    for (auto& engine : engines) engine->elaborate();
  }
  std::vector<std::unique_ptr<Engine>> engines;
  std::vector<std::unique_ptr<Sleeper>> units;
  Timeline timeline;
  std::vector<std::pair<std::size_t, Cycle>> log;
};

using Log = std::vector<std::pair<std::size_t, Cycle>>;

TEST(Timeline, CyclesRunInTheOrderInWhichTheyBegin) {
  Bench b({300, 500});  // begin at 0 1/300 2/300 3/300 and 0 1/500 2/500 ...
  b.timeline.run_until(3);
  EXPECT_EQ(b.log, (Log{{0, 0}, {1, 0}, {1, 1}, {0, 1}, {1, 2}, {1, 3}, {0, 2}, {1, 4}}));
  EXPECT_EQ(b.engines[1]->now(), 5u);
  b.timeline.run_until(4);  // 3/300 is 5/500: the base clock first
  EXPECT_EQ(b.log[8], (std::pair<std::size_t, Cycle>{0, 3}));
  EXPECT_EQ(b.engines[1]->now(), 7u);  // 4/300 lies in 6/500..7/500
}

TEST(Timeline, NoDriftInALongTime) {
  Bench b({299'999'999, 300'000'000, 1}, {[](Cycle) { return kNever; }, [](Cycle) { return kNever; }, {}});
  const Cycle hour = 299'999'999ull * 3600;
  b.timeline.run_until(hour);
  EXPECT_EQ(b.engines[1]->now(), 300'000'000ull * 3600);
  EXPECT_EQ(b.engines[2]->now(), 3600u);
  b.timeline.run_until(hour + 1);
  EXPECT_EQ(b.engines[1]->now(), 300'000'000ull * 3600 + 2);  // the second begins just before
  EXPECT_EQ(b.engines[2]->now(), 3601u);
}

TEST(Timeline, SleepingClocksAreJumpedOver) {
  const auto every = [](Cycle period) { return [period](Cycle now) { return now + period; }; };
  Bench b({100, 250}, {every(1000), every(777)});
  b.timeline.run_until(100'000);
  EXPECT_EQ(b.engines[0]->now(), 100'000u);
  EXPECT_EQ(b.engines[1]->now(), 250'000u);
  EXPECT_EQ(b.engines[0]->cycles_run(), 100u);
  EXPECT_EQ(b.engines[1]->cycles_run(), 322u);
}

TEST(Timeline, TheNextEventIsOfAnyClock) {
  Bench b({300, 500}, {[](Cycle) { return kNever; }, [](Cycle now) { return now < 100 ? 100 : kNever; }});
  b.timeline.run_until(1);
  EXPECT_EQ(b.timeline.next_wanted(), 60u);  // 100/500 = 60/300
  EXPECT_EQ(b.timeline.next_event(), 60u);
  b.timeline.step();
  EXPECT_EQ(b.timeline.now(), 61u);
  EXPECT_EQ(b.timeline.next_wanted(), kNever);
  EXPECT_EQ(b.log.back(), (std::pair<std::size_t, Cycle>{1, 100}));
}

TEST(Timeline, WithoutIdleSkipEveryCycleOfEveryClockRuns) {
  Bench b({300, 700}, {[](Cycle) { return kNever; }, [](Cycle) { return kNever; }});
  b.timeline.set_idle_skip(false);
  b.timeline.run_until(30);
  EXPECT_EQ(b.engines[0]->cycles_run(), 30u);
  EXPECT_EQ(b.engines[1]->cycles_run(), 70u);
}

TEST(Timeline, OneClockIsThatEngine) {
  Bench b({300}, {[](Cycle now) { return now + 5; }});
  Engine engine;
  Sleeper unit("u", [](Cycle now) { return now + 5; });
  engine.add(unit);
  engine.elaborate();
  b.timeline.run_until(12);
  engine.run_until(12);
  EXPECT_EQ(b.timeline.now(), engine.now());
  EXPECT_EQ(b.timeline.next_event(), engine.next_event());
  b.timeline.step();
  EXPECT_EQ(b.timeline.now(), 16u);
  EXPECT_EQ(b.units[0]->ran, (std::vector<Cycle>{0, 5, 10, 15}));
}

}  // namespace
}  // namespace ktpu::sim
