// SPDX-License-Identifier: Apache-2.0
#include "tlm/traffic/node.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/traffic/traffic_mesh.h"

namespace ktpu::traffic {
namespace {

using test::all_slots;
using test::TrafficMesh;

// Two nodes face to face on one pair of links.
struct Pair {
  sim::FlitLink ab{"a>b", arch::kFlitBits}, ba{"b>a", arch::kFlitBits};
  Node a, b;
  sim::Engine engine;
  LinkChecker checker;

  Pair(NodeParams pa, NodeParams pb)
      : a("a", with_position(std::move(pa), {1, 1}), {&ba, &ab}),
        b("b", with_position(std::move(pb), {2, 1}), {&ab, &ba}) {
    engine.add(a);
    engine.add(b);
    engine.add(ab);
    engine.add(ba);
    engine.add(checker);
    checker.watch(ab);
    checker.watch(ba);
    engine.elaborate();
  }
  static NodeParams with_position(NodeParams params, arch::Coord at) {
    params.position = at;
    return params;
  }
};

arch::Flit numbered(std::uint64_t number) {
  arch::Flit flit = arch::make_flit({2, 1}, {1, 1}, arch::FlitType::kCuData, 0, false);
  flit.w[0] = number;
  return flit;
}

// noc.jsonl: a source sends in file order and holds each flit from `offer` until it is accepted.
TEST(TrafficNode, ScriptHoldsEachFlitFromItsOffer) {
  NodeParams a, b;
  a.script = {{3, numbered(0)}, {3, numbered(1)}, {5, numbered(2)}, {20, numbered(3)}, {20, numbered(4)}};
  a.record = b.record = true;
  b.busy = BusyPattern::runs({4, 4, 100});  // refuses cycles 4..7
  b.script = {{30, numbered(0)}};           // both have something ahead of them
  Pair pair(a, b);
  pair.engine.run_until(20);
  EXPECT_LT(pair.engine.cycles_run(), 15u);  // they slept in between
  pair.engine.run_until(40);
  EXPECT_EQ(pair.a.accepted(), (std::vector<sim::Cycle>{3, 8, 9, 20, 21}));
  ASSERT_EQ(pair.b.deliveries().size(), 5u);
  for (std::uint64_t k = 0; k < 5; ++k) {
    EXPECT_EQ(pair.b.deliveries()[k].flit, numbered(k));
    EXPECT_EQ(pair.b.deliveries()[k].cycle, pair.a.accepted()[k]);
  }
  EXPECT_TRUE(pair.a.done());
  EXPECT_EQ(pair.checker.violations(), 0u);
}

TEST(TrafficNode, CyclesCountFromReset) {
  NodeParams a, b;
  a.script = {{3, numbered(0)}};
  a.record = b.record = true;
  Pair pair(a, b);
  pair.engine.run_until(17);
  pair.engine.reset();
  pair.engine.run_until(40);
  EXPECT_EQ(pair.a.accepted(), (std::vector<sim::Cycle>{3}));
  EXPECT_EQ(pair.b.deliveries().size(), 1u);
}

TEST(TrafficNode, InjectDuringARun) {
  NodeParams a, b;
  a.record = true;
  Pair pair(a, b);
  pair.engine.run_until(10);
  EXPECT_TRUE(pair.a.done());
  pair.a.inject({4, numbered(0)});  // late: comes at once
  pair.a.inject({15, numbered(1)});
  EXPECT_FALSE(pair.a.done());
  pair.engine.run_until(30);
  EXPECT_EQ(pair.a.accepted(), (std::vector<sim::Cycle>{10, 15}));
  EXPECT_EQ(pair.b.delivered(), 2u);
}

// Births are a Bernoulli trial a cycle: mean and variance of the gaps are those of the geometric
// distribution.
TEST(TrafficNode, GapsAreGeometric) {
  for (const double rate : {1.0, 0.5, 0.1, 0.01, 0.0005}) {
    sim::Random random(7);
    const GapDraw gap(rate);
    const int n = 40000;
    double sum = 0, squares = 0;
    int zeros = 0;
    for (int k = 0; k < n; ++k) {
      const double g = static_cast<double>(gap.draw(random));
      sum += g;
      squares += g * g;
      zeros += g == 0;
    }
    const double q = 1 - rate, mean = q / rate, deviation = std::sqrt(q) / rate;
    EXPECT_NEAR(sum / n, mean, 5 * deviation / std::sqrt(n) + 1e-12) << rate;
    EXPECT_NEAR(std::sqrt(squares / n - (sum / n) * (sum / n)), deviation, 0.05 * deviation + 1e-12) << rate;
    EXPECT_NEAR(static_cast<double>(zeros) / n, rate, 5 * std::sqrt(rate * q / n) + 1e-12) << rate;
  }
}

TEST(TrafficNode, PatternsAndRate) {
  const noc::Grid grid{1, 3, 1, 3};
  const auto run = [&](Pattern pattern, double rate, std::uint64_t limit) {
    auto mesh = std::make_unique<TrafficMesh>(grid, 8, [&](std::size_t, arch::Coord) {
      NodeParams params;
      params.record = true;
      params.random.emplace();
      params.random->pattern = pattern;
      params.random->rate = rate;
      params.random->seed = 3;
      params.random->destinations = all_slots(grid);
      params.random->hotspot = {2, 2};
      params.random->flits = limit;
      return params;
    });
    mesh->engine.run_until(20000);
    for (const auto& node : mesh->nodes()) {
      EXPECT_EQ(node->out_of_order(), 0u);
      EXPECT_EQ(node->misdelivered(), 0u);
    }
    EXPECT_EQ(mesh->checker.violations(), 0u);
    return mesh;
  };
  {
    const auto mesh = run(Pattern::kUniform, 0.05, 0);
    for (const auto& node : mesh->nodes()) {
      EXPECT_NEAR(static_cast<double>(node->injected()), 1000, 200) << node->name();
      EXPECT_NEAR(static_cast<double>(node->delivered()), 1000, 200) << node->name();
      EXPECT_GE(node->network_latency().sum, 5 * node->network_latency().count);
      EXPECT_GE(node->total_latency().sum, node->network_latency().sum);
    }
  }
  {
    const auto mesh = run(Pattern::kHotspot, 0.01, 50);
    EXPECT_EQ(mesh->injected(), 21u * 50u);
    EXPECT_EQ(mesh->node({2, 2}).delivered(),
              21u * 50u);  // its own included: out and in again by the local port
  }
  {
    const auto mesh = run(Pattern::kTranspose, 0.02, 0);
    for (const auto& node : mesh->nodes()) {
      const arch::Coord at = node->position();
      if (at.x == at.y) {
        EXPECT_EQ(node->injected(), 0u);
      } else {
        EXPECT_GT(node->injected(), 200u);
      }
      for (const Delivery& d : node->deliveries()) EXPECT_EQ(d.flit.src(), (arch::Coord{at.y, at.x}));
    }
  }
}

// The same run with and without idle skip, and a low rate that lets almost everything sleep.
TEST(TrafficNode, IdleSkipChangesNothing) {
  const noc::Grid grid{1, 2, 1, 2};
  std::vector<std::string> results;
  for (const bool skip : {true, false}) {
    TrafficMesh mesh(grid, 4, [&](std::size_t s, arch::Coord) {
      NodeParams params;
      params.record = true;
      params.random.emplace();
      params.random->rate = 0.004;
      params.random->destinations = all_slots(grid);
      if (s % 3 == 0) params.busy = BusyPattern::runs({90, 30, 7, 2});
      return params;
    });
    mesh.engine.set_idle_skip(skip);
    mesh.engine.run_until(30000);
    std::string text;
    for (const auto& node : mesh.nodes()) {
      text += fmt::format("{} {} {} {}:", node->name(), node->injected(), node->delivered(),
                          node->total_latency().sum);
      for (const Delivery& d : node->deliveries())
        text += fmt::format(" {} {}", d.cycle, arch::to_hex(d.flit));
    }
    for (auto& link : mesh.links()) text += fmt::format(" {} {}", link.transferred(), link.stalled_cycles());
    results.push_back(text);
    if (skip) {
      EXPECT_LT(mesh.engine.cycles_run(), 25000u);
    }
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(TrafficNode, RateOutOfRangeIsAUserError) {
  RandomTraffic traffic;
  traffic.rate = 1.5;
  EXPECT_THROW(Generator(traffic, {1, 1}), arch::UserError);
  traffic.rate = -0.1;
  EXPECT_THROW(Generator(traffic, {1, 1}), arch::UserError);
}

}  // namespace
}  // namespace ktpu::traffic
