// SPDX-License-Identifier: Apache-2.0
// Where the cycles go, and how it is told.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "compiler/cost/model.h"
#include "tests/unit/cost/small_machine.h"

namespace ktpu::cost {
namespace {

TEST(Ledger, TheWayBackAddsUp) {
  Ledger ledger;
  const Moment a = ledger.after({}, 10, Cause::kHost);
  const Moment b = ledger.after(a, 5, Cause::kDram);
  const Moment c = ledger.after(a, 7, Cause::kPort);
  const Moment end = ledger.not_before(latest(b, c), 30, Cause::kPoll);
  Spent spent{};
  ledger.walk_back(end, [&](Cycles begin, Cycles until, Cause cause) {
    spent[static_cast<std::size_t>(cause)] += until - begin;
  });
  EXPECT_EQ(spent[static_cast<std::size_t>(Cause::kHost)], 10);
  EXPECT_EQ(spent[static_cast<std::size_t>(Cause::kPort)], 7);
  EXPECT_EQ(spent[static_cast<std::size_t>(Cause::kPoll)], 13);
  EXPECT_EQ(std::accumulate(spent.begin(), spent.end(), Cycles{0}), 30);
}

arch::Program two_bands() {
  arch::Program program;
  program.name = "two";
  add_round(program, "stage 0 MG round 0", 2);
  add_round(program, "stage 0 MG round 1", 2);
  add_round(program, "stage 1 MG round 2", 120);
  return program;
}

TEST(CostReport, BandsAreTheWholeRun) {
  const Report r = estimate(two_bands(), small_machine());
  ASSERT_EQ(r.bands.size(), 2u);
  EXPECT_EQ(r.bands[0].name, "stage 0 MG");
  EXPECT_EQ(r.bands[0].rounds, 2u);
  EXPECT_EQ(r.bands[0].begin, 0);
  EXPECT_EQ(r.bands[0].end, r.bands[1].begin);
  EXPECT_EQ(r.bands[1].end, r.total_cycles);
  for (const Band& b : r.bands)
    EXPECT_EQ(std::accumulate(b.spent.begin(), b.spent.end(), Cycles{0}), b.cycles()) << b.name;
  EXPECT_EQ(std::accumulate(r.spent.begin(), r.spent.end(), Cycles{0}), r.total_cycles);
}

// Staging takes fifteen cycles a flit, dispatching five.
TEST(CostReport, TheLimiterIsNamed) {
  const Report r = estimate(two_bands(), small_machine());
  EXPECT_EQ(r.bands[1].limiter(), Cause::kHost);
  CostMachine fast = small_machine();
  fast.host.write = 3;
  fast.meshes[0].dispatch.flit = 50;
  EXPECT_EQ(estimate(two_bands(), fast).bands[1].limiter(), Cause::kDispatch);
}

TEST(CostReport, EveryTableSaysModelled) {
  const Report r = estimate(two_bands(), small_machine());
  const std::string table = text(r);
  std::size_t found = 0, at = 0;
  while ((at = table.find("modelled", at)) != std::string::npos) {
    ++found;
    ++at;
  }
  EXPECT_GE(found, 4u);  // head, bands, units, memory
  const auto object = nlohmann::json::parse(json(r));
  EXPECT_EQ(object["modelled"], true);
  EXPECT_EQ(object["total_cycles"], r.total_cycles);
  EXPECT_EQ(object["bands"].size(), 2u);
  EXPECT_EQ(object["units"][0]["instructions"], 124);
}

TEST(CostReport, TwoProgramsAreCompared) {
  const Report a = estimate(two_bands(), small_machine());
  arch::Program other;
  other.name = "other \"quoted\"";
  add_round(other, "stage 1 MG", 60);
  add_round(other, "stage 2 VC", 1);
  const Comparison c = compare(a, estimate(other, small_machine()));
  ASSERT_EQ(c.bands.size(), 3u);
  EXPECT_EQ(c.bands[0].b, 0);  // only in a
  EXPECT_EQ(c.bands[1].name, "stage 1 MG");
  EXPECT_LT(c.bands[1].ratio(), 1);
  EXPECT_EQ(c.bands[2].a, 0);  // only in b
  EXPECT_EQ(c.total.a, a.total_cycles);
  const auto object = nlohmann::json::parse(json(c));
  EXPECT_EQ(object["b"], "other \"quoted\"");
  EXPECT_NE(text(c).find("modelled"), std::string::npos);
}

}  // namespace
}  // namespace ktpu::cost
