// SPDX-License-Identifier: Apache-2.0
// fabric.md sections 5 and 7, and the checks of section 16 items 2 to 5: when a flit goes, and that none is
// lost.
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/traffic/traffic_mesh.h"

namespace ktpu::test {
namespace {

using arch::Coord;

arch::Flit flit_to(Coord to, Coord from, std::uint64_t number) {
  arch::Flit flit = arch::make_flit(to, from, arch::FlitType::kCuData, number & 255, false);
  flit.w[0] = number;
  flit.w[3] = ~number;
  return flit;
}

// Section 7.3 and 16 item 2: five cycles for every (input, output) pair, then one flit a cycle.
TEST(Fabric7_3, HopIsFiveCyclesForAllPairs) {
  const noc::Grid g{1, 1, 1, 1};
  std::size_t pairs = 0;
  for (const Coord from : all_slots(g))
    for (const Coord to : all_slots(g))
      for (sim::Cycle start = 20; start < 25; ++start) {  // every phase of the arbiter pointer
        TrafficMesh mesh(g, 32, [&](std::size_t, Coord at) {
          traffic::NodeParams params;
          params.record = true;
          for (std::uint64_t k = 0; at == from && k < 40; ++k)
            params.script.push_back({start, flit_to(to, from, k)});
          return params;
        });
        mesh.engine.run_until(120);
        const auto& got = mesh.node(to).deliveries();
        ASSERT_EQ(got.size(), 40u);
        for (std::uint64_t k = 0; k < 40; ++k) {
          ASSERT_EQ(mesh.node(from).accepted()[k], start + k);
          ASSERT_EQ(got[k].cycle, start + k + 5);
          ASSERT_EQ(got[k].flit, flit_to(to, from, k));
        }
        ++pairs;
      }
  EXPECT_EQ(pairs, 25u * 5u);
}

// Section 7.3: D + 4 flits are accepted with the output blocked; 16 item 4: all of them come out in order
// after.
TEST(Fabric7_3, CapacityIsDepthPlusFour) {
  for (const std::uint32_t depth : {1u, 2u, 3u, 8u, 32u, 512u}) {
    const noc::Grid g{1, 1, 1, 1};
    const Coord from{0, 1}, to{1, 1};
    const std::uint32_t release = 2000;
    TrafficMesh mesh(g, depth, [&](std::size_t, Coord at) {
      traffic::NodeParams params;
      params.record = true;
      for (std::uint64_t k = 0; at == from && k < 700; ++k)
        params.script.push_back({10, flit_to(to, from, k)});
      if (at == to) params.busy = traffic::BusyPattern::runs({0, release, 100000});
      return params;
    });
    mesh.engine.run_until(release);
    EXPECT_EQ(mesh.node(from).injected(), depth + 4) << depth;
    EXPECT_EQ(mesh.node(to).delivered(), 0u);
    auto& router = dynamic_cast<noc::Router&>(*mesh.routers()[0]);
    EXPECT_EQ(router.flits_inside(), depth + 4);
    mesh.engine.run_until(release + 2000);
    ASSERT_EQ(mesh.node(to).delivered(), 700u);
    for (std::uint64_t k = 0; k < 700; ++k)
      ASSERT_EQ(mesh.node(to).deliveries()[k].flit, flit_to(to, from, k));
    EXPECT_EQ(mesh.node(to).deliveries()[0].cycle, release);
    EXPECT_EQ(router.flits_inside(), 0u);
    EXPECT_EQ(mesh.checker.violations(), 0u);
  }
}

// Section 7.2, phase: inputs are busy in cycles 0 to 4; section 5 L6: who offers meanwhile loses nothing.
TEST(Fabric7_2, InputsLeaveResetInCycleFive) {
  const noc::Grid g{1, 1, 1, 1};
  TrafficMesh mesh(g, 4, [&](std::size_t, Coord at) {
    traffic::NodeParams params;
    params.record = true;
    params.script = {{0, flit_to({1, 1}, at, 0)}};
    return params;
  });
  for (sim::Cycle c = 0; c < 5; ++c) {
    mesh.engine.step();
    for (auto& link : mesh.links()) {
      if (link.name().find(">r") != std::string::npos) {
        EXPECT_TRUE(link.busy()) << link.name() << " in cycle " << c;
      }
    }
  }
  mesh.engine.run_until(40);
  for (const auto& node : mesh.nodes())
    EXPECT_EQ(node->accepted(), (std::vector<sim::Cycle>{5})) << node->name();
  EXPECT_EQ(mesh.node({1, 1}).delivered(), 5u);
}

// Section 7.5: the measured contention, started `shift` cycles later; returns what left eastwards, and when.
std::vector<std::pair<sim::Cycle, std::string>> contention(sim::Cycle shift) {
  const noc::Grid g{1, 2, 1, 2};
  std::map<std::uint64_t, std::string> names;
  TrafficMesh mesh(g, 32, [&](std::size_t, Coord at) {
    traffic::NodeParams params;
    params.record = true;
    const auto offer = [&](char letter, unsigned count, std::uint64_t base) {
      for (unsigned k = 0; k < count; ++k) {
        names[base + k] = letter + std::to_string(k);
        params.script.push_back({23 + shift, flit_to({2, 1}, at, base + k)});
      }
    };
    if (at == Coord{1, 1}) offer('L', 4, 10);
    if (at == Coord{0, 1}) offer('W', 4, 20);
    if (at == Coord{1, 0}) offer('N', 1, 30);
    return params;
  });
  mesh.engine.run_until(100);
  // The second router adds five cycles to each and has nothing else to do.
  std::vector<std::pair<sim::Cycle, std::string>> east;
  for (const auto& d : mesh.node({2, 1}).deliveries()) east.emplace_back(d.cycle - 5, names.at(d.flit.w[0]));
  return east;
}

TEST(Fabric7_5, ContentionTable) {
  const std::vector<std::pair<sim::Cycle, std::string>> table{{28, "W0"}, {29, "W1"}, {30, "L0"},
                                                              {31, "N0"}, {32, "W2"}, {33, "W3"},
                                                              {34, "L1"}, {35, "L2"}, {36, "L3"}};
  EXPECT_EQ(contention(0), table);
}

// 16 item 3: the pointer runs free, so a later start has other winners. The expectation is the rule of
// section 7.2 applied by hand: queues of requests, first in cyclic order from the cycle number modulo 5.
TEST(Fabric16_3, ShiftedStartsShiftTheWinners) {
  std::set<std::string> orders;
  for (sim::Cycle shift = 0; shift < 10; ++shift) {
    std::map<unsigned, std::vector<std::string>> queues{
        {0, {"N0"}}, {3, {"W0", "W1", "W2", "W3"}}, {4, {"L0", "L1", "L2", "L3"}}};
    std::vector<std::pair<sim::Cycle, std::string>> expected;
    for (sim::Cycle cycle = 27 + shift; expected.size() < 9; ++cycle)
      for (unsigned k = 0; k < 5; ++k) {
        auto& queue = queues[(cycle + k) % 5];
        if (queue.empty()) continue;
        expected.emplace_back(cycle + 1, queue.front());
        queue.erase(queue.begin());
        break;
      }
    const auto got = contention(shift);
    EXPECT_EQ(got, expected) << shift;
    std::string order;
    for (const auto& [cycle, name] : got) order += name;
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 5u);
}

// vectors/rtl/README.md: between local and north, the pointer gives local four turns of five.
TEST(Fabric7_2, SharesFollowTheGapsBetweenPorts) {
  const noc::Grid g{1, 1, 1, 1};
  TrafficMesh mesh(g, 4, [&](std::size_t, Coord at) {
    traffic::NodeParams params;
    const bool sends = at == Coord{1, 1} || at == Coord{1, 0};
    for (std::uint64_t k = 0; sends && k < 2000; ++k) params.script.push_back({10, flit_to({2, 1}, at, k)});
    return params;
  });
  mesh.engine.run_until(1010);
  EXPECT_NEAR(static_cast<double>(mesh.node({1, 1}).injected()), 800, 20);
  EXPECT_NEAR(static_cast<double>(mesh.node({1, 0}).injected()), 200, 20);
}

// Watches what every router takes and gives: section 5, signature (b), is a flit too many inside.
class Conservation final : public sim::Observer {
 public:
  explicit Conservation(TrafficMesh& mesh) : mesh_(mesh) {}
  void on_cycle(sim::Cycle) override {
    std::int64_t in_flight = 0;
    for (const auto& router : mesh_.routers())
      in_flight += dynamic_cast<const noc::Router&>(*router).flits_inside();
    // Flits on their way this cycle have been counted by neither side yet.
    worst = std::max(worst,
                     std::abs(static_cast<std::int64_t>(mesh_.injected() - mesh_.delivered()) - in_flight));
  }
  std::int64_t worst = 0;

 private:
  TrafficMesh& mesh_;
};

// Section 16 item 5: loads on 2x2 to 4x4, each flit once, at its destination, in order per pair; ports of the
// ring that nobody addresses never show a flit. Sinks stall at random (item 4), links keep L1.
void flood(const noc::Grid& g, std::uint32_t depth, const std::string& kind, std::uint64_t seed) {
  SCOPED_TRACE(fmt::format("{}x{} depth {} {} seed {}", g.x_hi, g.y_hi, depth, kind, seed));
  sim::Random random(seed);
  std::vector<Coord> locals;
  for (const Coord c : all_slots(g))
    if (c.x >= g.x_lo && c.x <= g.x_hi && c.y >= g.y_lo && c.y <= g.y_hi) locals.push_back(c);
  std::uint64_t sent = 0;
  TrafficMesh mesh(g, depth, [&](std::size_t s, Coord at) {
    traffic::NodeParams params;
    params.record = true;
    params.busy = traffic::BusyPattern::runs(
        {1 + random.below(9), random.below(6), 1 + random.below(30), random.below(12), 3, random.below(2)});
    if (std::find(locals.begin(), locals.end(), at) == locals.end()) return params;
    std::uint64_t number = s << 32;
    for (int round = 0; round < 30; ++round)
      for (std::size_t k = 0; k < locals.size(); ++k) {
        Coord to = locals[(k + s) % locals.size()];
        if (kind == "diagonal")
          to = {static_cast<std::uint8_t>(g.x_hi + 1 - at.x), static_cast<std::uint8_t>(g.y_hi + 1 - at.y)};
        if (kind == "random") to = locals[random.below(static_cast<std::uint32_t>(locals.size()))];
        params.script.push_back({8, flit_to(to, at, number++)});
        ++sent;
      }
    return params;
  });
  Conservation conservation(mesh);
  mesh.engine.add(conservation);
  mesh.engine.run_until(60000);
  EXPECT_EQ(mesh.injected(), sent);
  EXPECT_EQ(mesh.delivered(), sent);
  EXPECT_EQ(conservation.worst, 0);
  EXPECT_EQ(mesh.checker.violations(), 0u) << mesh.checker.first()[0].text;
  for (const auto& node : mesh.nodes()) {
    if (std::find(locals.begin(), locals.end(), node->position()) == locals.end()) {
      EXPECT_EQ(node->delivered(), 0u) << node->name();
    }
    std::map<unsigned, std::uint64_t> last;  // by source
    for (const traffic::Delivery& d : node->deliveries()) {
      ASSERT_EQ(d.flit.dst(), node->position());
      auto& before = last[d.flit.src().node_byte()];
      ASSERT_GT(d.flit.w[0] + 1, before);
      before = d.flit.w[0] + 1;
      ASSERT_EQ(d.flit.w[3], ~d.flit.w[0]);
    }
  }
}

TEST(Fabric16_5, NothingLostDuplicatedOrReordered) {
  std::uint64_t seed = 1;
  for (const noc::Grid& g : {noc::Grid{1, 2, 1, 2}, noc::Grid{1, 3, 1, 3}, noc::Grid{1, 4, 1, 4}})
    for (const std::uint32_t depth : {1u, 4u, 32u})
      for (const char* kind : {"all-to-all", "diagonal", "random"}) flood(g, depth, kind, seed++);
}

// Two runs give the same deliveries, and so does a run in which no unit ever sleeps.
TEST(Fabric7_4, IdleSkipChangesNothing) {
  const noc::Grid g{1, 3, 1, 3};
  std::vector<std::string> texts;
  for (const bool skip : {true, true, false}) {
    sim::Random random(5);
    TrafficMesh mesh(g, 4, [&](std::size_t s, Coord at) {
      traffic::NodeParams params;
      params.record = true;
      sim::Cycle c = 0;
      for (std::uint64_t k = 0; k < 60; ++k) {
        c += random.below(8) == 0 ? random.below(400) : random.below(2);
        params.script.push_back({c, flit_to(Coord::from_node_byte(random.below(256)), at, k)});
      }
      params.script.push_back({9900, flit_to(at, at, 60)});  // something to wait for
      if (s % 7 == 3) params.busy = traffic::BusyPattern::runs({20 + random.below(50), random.below(9)});
      return params;
    });
    mesh.engine.set_idle_skip(skip);
    mesh.engine.run_until(10000);
    std::string text;
    for (const auto& node : mesh.nodes())
      for (const traffic::Delivery& d : node->deliveries())
        text += fmt::format("{} {};", d.cycle, arch::to_hex(d.flit));
    for (auto& link : mesh.links()) text += fmt::format("{} {};", link.transferred(), link.stalled_cycles());
    texts.push_back(text);
    if (skip) {
      EXPECT_GT(mesh.engine.cycles_skipped(), 1000u);
    }
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(texts[0], texts[2]);
}

}  // namespace
}  // namespace ktpu::test
