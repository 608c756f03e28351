// SPDX-License-Identifier: Apache-2.0
// Exclusive states of an engine: each cycle in exactly one, added up lazily.
#include "tlm/sim/attribution.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace ktpu::sim {
namespace {

enum class Toy : std::uint8_t { kBlocked, kMoving, kIdle };
constexpr std::array<CycleState, 3> kToys{
    {{"blocked", "Cycles blocked"}, {"moving", "Cycles moving"}, {"idle", "The rest"}}};
using ToyCycles = Attribution<Toy, kToys>;

TEST(Attribution, CyclesGoToTheStateTheyWereIn) {
  ToyCycles cycles;
  cycles.reset(0);
  cycles.enter(10, Toy::kMoving);
  cycles.enter(11, Toy::kMoving);
  cycles.enter(12, Toy::kBlocked);
  cycles.enter(20, Toy::kIdle);
  cycles.sync(25);
  EXPECT_EQ(cycles.cycles(Toy::kIdle), 10u + 5);
  EXPECT_EQ(cycles.cycles(Toy::kMoving), 2u);
  EXPECT_EQ(cycles.cycles(Toy::kBlocked), 8u);
}

TEST(Attribution, TheLastWordOnACycleCounts) {
  ToyCycles cycles;
  cycles.enter(4, Toy::kMoving);
  cycles.enter(4, Toy::kBlocked);
  cycles.sync(5);
  EXPECT_EQ(cycles.cycles(Toy::kMoving), 0u);
  EXPECT_EQ(cycles.cycles(Toy::kBlocked), 1u);
}

TEST(Attribution, SyncMayBeCalledAtAnyTimeAndAgain) {
  ToyCycles cycles;
  cycles.enter(3, Toy::kMoving);
  cycles.sync(5);
  cycles.sync(5);
  cycles.enter(6, Toy::kIdle);
  cycles.sync(5);  // what is said of a cycle to come is not counted
  EXPECT_EQ(cycles.cycles(Toy::kMoving), 3u);
  cycles.sync(9);
  EXPECT_EQ(cycles.cycles(Toy::kIdle), 3u + 3);
}

TEST(Attribution, AResetStartsAtRestAndKeepsTheCounters) {
  ToyCycles cycles;
  cycles.enter(2, Toy::kMoving);
  cycles.reset(7);
  cycles.sync(10);
  EXPECT_EQ(cycles.state(), Toy::kIdle);
  EXPECT_EQ(cycles.cycles(Toy::kMoving), 5u);
  EXPECT_EQ(cycles.cycles(Toy::kIdle), 2u + 3);
}

TEST(Attribution, LazilyAddedEqualsCountedCycleByCycle) {
  const unsigned seed = 20261130;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  ToyCycles cycles;
  std::array<std::uint64_t, 3> counted{};
  Toy rest = Toy::kIdle;
  for (Cycle now = 0; now < 10'000; ++now) {
    Toy is = rest;
    if (random() % 3 == 0) {  // the unit runs: one event state, then what it sleeps in
      is = static_cast<Toy>(random() % 3);
      rest = static_cast<Toy>(random() % 3);
      cycles.enter(now, is);
      cycles.enter(now + 1, rest);
    }
    ++counted[static_cast<std::size_t>(is)];
    if (random() % 50 == 0) cycles.sync(now + 1);
  }
  cycles.sync(10'000);
  for (unsigned s = 0; s < 3; ++s) EXPECT_EQ(cycles.cycles(static_cast<Toy>(s)), counted[s]) << kToys[s].name;
}

TEST(Attribution, VisitsACounterAStateByPriorityAndItsOwnProgressApart) {
  struct Names final : Archive {
    std::vector<std::string> counters, kept;
    std::string scope;
    bool is_checkpoint() const override { return true; }
    void on_value(std::string_view name, void*, std::size_t, const ValueInfo& info) override {
      if (info.kind == ValueKind::kState) {
        kept.emplace_back(name);
        return;
      }
      counters.push_back(scope + "." + std::string(name) + " " + std::to_string(info.priority) + " " +
                         std::string(info.unit));
      EXPECT_FALSE(info.sentence.empty());
      EXPECT_FALSE(info.formula.empty());
    }
    void on_memory(std::string_view, void*, std::size_t, std::size_t) override {}
    void on_enter(std::string_view name) override { scope = name; }
    void on_leave() override { scope.clear(); }
  } names;
  ToyCycles cycles;
  cycles.visit(names);
  EXPECT_EQ(names.counters, (std::vector<std::string>{"cycles.blocked 1 cycles", "cycles.moving 2 cycles",
                                                      "cycles.idle 3 cycles"}));
  EXPECT_EQ(names.kept, (std::vector<std::string>{"state", "since"}));
}

}  // namespace
}  // namespace ktpu::sim
