// SPDX-License-Identifier: Apache-2.0
// fabric.md section 6: where a flit goes.
#include <gtest/gtest.h>

#include "tests/unit/traffic/traffic_mesh.h"

namespace ktpu::test {
namespace {

using arch::Coord;

const std::vector<noc::Grid> kGrids{{1, 1, 1, 1}, {1, 2, 1, 2}, {1, 3, 1, 3},   {1, 4, 1, 2},
                                    {1, 1, 1, 6}, {1, 8, 1, 1}, {1, 14, 1, 14}, {2, 4, 3, 5}};

unsigned between(unsigned v, unsigned lo, unsigned hi) { return v < lo ? lo : v > hi ? hi : v; }

// The closed rule of section 6.1, written out again.
Coord slot_by_rule(const noc::Grid& g, unsigned px, unsigned py) {
  const unsigned ex = between(px, g.x_lo - 1, g.x_hi + 1);
  unsigned ey;
  if (ex == g.x_lo - 1 || ex == g.x_hi + 1)
    ey = between(py, g.y_lo, g.y_hi);
  else
    ey = between(py, g.y_lo - 1, g.y_hi + 1);
  return {static_cast<std::uint8_t>(ex), static_cast<std::uint8_t>(ey)};
}

// Section 6.1: all 256 destinations, from every injection point, end where the rule says, and no turn mask is
// hit.
TEST(Fabric6_1, AllDestinationsFromEverywhere) {
  std::size_t paths = 0;
  for (const noc::Grid& g : kGrids) {
    for (unsigned node = 0; node < 256; ++node) {
      const Coord to = Coord::from_node_byte(node);
      const Coord expected = slot_by_rule(g, to.x, to.y);
      ASSERT_EQ(noc::final_slot(g, to), expected);
      for (const Coord from : all_slots(g)) {
        Coord at{static_cast<std::uint8_t>(between(from.x, g.x_lo, g.x_hi)),
                 static_cast<std::uint8_t>(between(from.y, g.y_lo, g.y_hi))};
        noc::Direction arrived = from.y < at.y   ? noc::kNorth
                                 : from.x > at.x ? noc::kEast
                                 : from.y > at.y ? noc::kSouth
                                 : from.x < at.x ? noc::kWest
                                                 : noc::kLocal;
        Coord reached = at;
        for (unsigned hops = 0;; ++hops) {
          ASSERT_LT(hops, 30u);
          const noc::Direction out = noc::route(at, g, to);
          ASSERT_FALSE(noc::turn_suppressed(at, g, arrived, out)) << hops;
          reached = at;
          if (out == noc::kLocal) break;
          if (out == noc::kNorth) --reached.y;
          if (out == noc::kSouth) ++reached.y;
          if (out == noc::kWest) --reached.x;
          if (out == noc::kEast) ++reached.x;
          if (reached.x < g.x_lo || reached.x > g.x_hi || reached.y < g.y_lo || reached.y > g.y_hi) break;
          at = reached;
          arrived = static_cast<noc::Direction>((out + 2) % 4);  // the opposite side of the next router
        }
        ASSERT_EQ(reached, expected) << "from (" << int{from.x} << "," << int{from.y} << ") to node " << node;
        ++paths;
      }
    }
  }
  std::printf("%zu paths\n", paths);
}

TEST(Fabric6_1, Table) {
  const noc::Grid g{1, 2, 1, 2};
  const std::vector<std::pair<Coord, Coord>> table{{{0, 0}, {0, 1}},   {{0, 3}, {0, 2}}, {{3, 0}, {3, 1}},
                                                   {{3, 3}, {3, 2}},   {{9, 1}, {3, 1}}, {{1, 9}, {1, 3}},
                                                   {{15, 15}, {3, 2}}, {{9, 0}, {3, 1}}, {{0, 9}, {0, 2}}};
  for (const auto& [raw, reached] : table) EXPECT_EQ(noc::final_slot(g, raw), reached);
  // The consequence that section 6 spells out: a corner resolves west at router (1,1).
  EXPECT_EQ(noc::route({1, 1}, g, {0, 0}), noc::kWest);
}

// The table of turn masks, row by row, for all positions of a grid that has every kind.
TEST(Fabric6, TurnMasks) {
  const noc::Grid g{1, 3, 1, 3};
  for (std::uint8_t x = 1; x <= 3; ++x)
    for (std::uint8_t y = 1; y <= 3; ++y) {
      const bool n = y > 1, s = y<3, w = x> 1, e = x < 3;
      const std::array<std::array<bool, 5>, 5> masked{{
          // to N, E, S, W, L
          {n, n && e, false, n && w, false},   // from N
          {false, e, false, false, false},     // from E
          {false, s && e, s, s && w, false},   // from S
          {false, false, false, w, false},     // from W
          {false, false, false, false, false}  // from L
      }};
      for (unsigned from = 0; from < 5; ++from)
        for (unsigned to = 0; to < 5; ++to)
          EXPECT_EQ(noc::turn_suppressed({x, y}, g, static_cast<noc::Direction>(from),
                                         static_cast<noc::Direction>(to)),
                    masked[from][to])
              << int{x} << "," << int{y} << " " << from << ">" << to;
    }
}

// Section 16 item 6 on routers, not on paper: from every slot to all 256 destinations.
TEST(Fabric16_6, EdgeEndpointsCornersAndOutOfRing) {
  for (const noc::Grid& g : {noc::Grid{1, 2, 1, 2}, noc::Grid{1, 3, 1, 2}}) {
    const auto slots = all_slots(g);
    TrafficMesh mesh(g, 32, [&](std::size_t s, Coord at) {
      traffic::NodeParams params;
      params.record = true;
      for (unsigned k = 0; k < 256; ++k) {
        arch::Flit flit =
            arch::make_flit(Coord::from_node_byte((k + 37 * s) % 256), at, arch::FlitType::kCuData, k, false);
        flit.w[0] = s;
        flit.w[1] = k;
        params.script.push_back({8, flit});
      }
      return params;
    });
    mesh.engine.run_until(20000);
    EXPECT_EQ(mesh.delivered(), 256 * slots.size());
    for (const auto& node : mesh.nodes())
      for (const traffic::Delivery& d : node->deliveries()) {
        EXPECT_EQ(slot_by_rule(g, d.flit.dst_x(), d.flit.dst_y()), node->position());
        EXPECT_EQ(d.flit.dst(), Coord::from_node_byte((d.flit.w[1] + 37 * d.flit.w[0]) % 256));  // unchanged
      }
    EXPECT_EQ(mesh.checker.violations(), 0u);
  }
}

// Section 6.1: a border endpoint that addresses itself gets its flit back after one router.
TEST(Fabric6_1, UTurnTakesFiveCycles) {
  const noc::Grid g{1, 2, 1, 2};
  for (const Coord self : all_slots(g)) {
    TrafficMesh mesh(g, 32, [&](std::size_t, Coord at) {
      traffic::NodeParams params;
      params.record = true;
      if (at == self) params.script = {{20, arch::make_flit(self, self, arch::FlitType::kCuData, 0, false)}};
      return params;
    });
    mesh.engine.run_until(60);
    ASSERT_EQ(mesh.node(self).deliveries().size(), 1u);
    EXPECT_EQ(mesh.node(self).deliveries()[0].cycle, 25u);
  }
}

// Section 6.1, empty slots, in the partial grid of the small system: routers (1,1) and (2,1) clamp to 1..2 on
// both axes, so whatever has y >= 2 leaves southwards and is lost, and nothing behind it waits.
TEST(Fabric6_1, EmptySlotsLoseFlitsAndBlockNothing) {
  const noc::Grid g{1, 2, 1, 2};
  sim::FlitLink a_in("a.in", 288), a_out("a.out", 288), ab("a>b", 288), ba("b>a", 288), b_in("b.in", 288),
      b_out("b.out", 288);
  noc::Router::Ports pa, pb;
  pa[noc::kLocal] = {&a_in, &a_out};
  pa[noc::kEast] = {&ba, &ab};
  pb[noc::kWest] = {&ab, &ba};
  pb[noc::kLocal] = {&b_in, &b_out};
  noc::Router a("a", {{1, 1}, g, sim::FifoShape::sync(4)}, pa),
      b("b", {{2, 1}, g, sim::FifoShape::sync(4)}, pb);
  traffic::NodeParams sender, receiver;
  sender.position = {1, 1};
  receiver.position = {2, 1};
  receiver.record = true;
  sim::Cycle c = 8;
  for (unsigned y = 1; y < 16; ++y)
    for (unsigned k = 0; k < 8; ++k)
      sender.script.push_back(
          {c, arch::make_flit({static_cast<std::uint8_t>(k % 2 + 1), static_cast<std::uint8_t>(y)}, {1, 1},
                              arch::FlitType::kCuCtrl, k, true)});
  sender.script.push_back({c, arch::make_flit({2, 1}, {1, 1}, arch::FlitType::kCuData, 99, true)});
  traffic::Node node_a("node a", sender, {&a_out, &a_in}), node_b("node b", receiver, {&b_out, &b_in});
  sim::Engine engine;
  for (sim::Unit* unit : std::initializer_list<sim::Unit*>{&a, &b, &node_a, &node_b}) engine.add(*unit);
  for (sim::FlitLink* link : {&a_in, &a_out, &ab, &ba, &b_in, &b_out}) engine.add(*link);
  engine.elaborate();
  engine.run_until(400);
  EXPECT_TRUE(node_a.done());
  EXPECT_EQ(node_a.delivered(), 4u);  // y = 1, x = 1
  ASSERT_EQ(node_b.delivered(), 5u);  // y = 1, x = 2, and the last
  EXPECT_EQ(node_b.deliveries().back().flit.txn(), 99u);
  EXPECT_EQ(a.lost() + b.lost(), 14u * 8u);
  EXPECT_EQ(a.flits_inside() + b.flits_inside(), 0u);
  // One flit a cycle from the first to the last, the lost ones included.
  EXPECT_EQ(node_b.deliveries().back().cycle, c + 10 + 15 * 8);
}

// Section 6: a request that the turn mask suppresses is never granted.
TEST(Fabric6, SuppressedTurnWedgesItsInput) {
  const noc::Grid g{1, 3, 1, 3};
  sim::FlitLink in("in", 288), out("out", 288), local_in("local.in", 288), local_out("local.out", 288);
  noc::Router::Ports ports;
  ports[noc::kNorth] = {&in, &out};
  ports[noc::kLocal] = {&local_in, &local_out};
  noc::Router router("router", {{2, 2}, g, sim::FifoShape::sync(4)}, ports);
  traffic::NodeParams north, local;
  for (int k = 0; k < 20; ++k)
    north.script.push_back(
        {8, arch::make_flit({3, 2}, {2, 1}, arch::FlitType::kCuData, 0, false)});  // north to east
  local.script = {{8, arch::make_flit({2, 1}, {2, 2}, arch::FlitType::kCuData, 0, false)}};
  traffic::Node node("north", north, {&out, &in}), other("local", local, {&local_out, &local_in});
  sim::Engine engine;
  engine.add(router);
  engine.add(node);
  engine.add(other);
  for (sim::FlitLink* link : {&in, &out, &local_in, &local_out}) engine.add(*link);
  engine.elaborate();
  engine.run_until(1000);
  EXPECT_EQ(node.injected(), 4u + 2u + 1u);  // FIFO and holding slot
  EXPECT_EQ(node.delivered(), 1u);           // the local flit northwards is not held up
  ASSERT_FALSE(router.waits(1000).empty());
  EXPECT_NE(router.waits(1000)[0].what.find("never grants"), std::string::npos);
}

}  // namespace
}  // namespace ktpu::test
