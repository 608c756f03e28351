// SPDX-License-Identifier: Apache-2.0
// Router model and SystemVerilog router, every output wire of every cycle, on random traffic with random
// stalls.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/twin/lockstep_mesh.h"
#include "tests/unit/traffic/noc_vectors.h"

namespace ktpu::test {
namespace {

// Runs of random length, so that stalls of one node are long and short and independent of the others'.
traffic::BusyPattern random_busy(sim::Random& random, double duty) {
  std::vector<std::uint32_t> runs;
  for (int k = 0; k < 200; ++k) {
    const std::uint32_t scale = random.below(8) == 0 ? 40 : 4;
    const std::uint32_t total = 1 + random.below(2 * scale);
    runs.push_back(static_cast<std::uint32_t>(total * (1 - duty) * 2) / 2 + random.below(2));
    runs.push_back(static_cast<std::uint32_t>(total * duty * 2) / 2 + random.below(2));
  }
  return traffic::BusyPattern::runs(runs);
}

struct PortCount {
  std::uint64_t transfers = ~0ull;
  double stalled = 1;  // share of cycles
};

// The least used and the least stalled of all router ports, both directions.
PortCount least(TrafficMesh& mesh, sim::Cycle cycles) {
  PortCount count;
  for (sim::FlitLink& link : mesh.links()) {
    count.transfers = std::min(count.transfers, link.transferred());
    count.stalled =
        std::min(count.stalled, static_cast<double>(link.stalled_cycles()) / static_cast<double>(cycles));
  }
  return count;
}

// One router with a node on each port, each sending to all (its own port included: the U-turn is a legal
// pair).
void run_single(std::uint64_t seed, sim::Cycle cycles, std::uint32_t depth, bool demand_coverage) {
  SCOPED_TRACE(fmt::format("seed {} depth {}", seed, depth));
  sim::Random random(seed);
  const noc::Grid grid{1, 1, 1, 1};
  TrafficMesh mesh(
      grid, depth,
      [&](std::size_t, arch::Coord) {
        traffic::NodeParams params;
        params.random.emplace();
        params.random->rate = 0.9;
        params.random->seed = seed;
        params.random->destinations = all_slots(grid);
        params.busy = random_busy(random, 0.4);
        return params;
      },
      lockstep_router<>);
  mesh.engine.run_until(cycles);
  auto& pair = dynamic_cast<sim::Lockstep&>(*mesh.routers()[0]);
  pair.require_compared();
  EXPECT_EQ(pair.compared_cycles(), cycles);
  EXPECT_EQ(mesh.checker.violations(), 0u);
  for (const auto& node : mesh.nodes()) EXPECT_EQ(node->out_of_order(), 0u);
  const PortCount count = least(mesh, cycles);
  std::printf(
      "seed %llu: %llu cycles, %llu values compared, 0 mismatches; least used port %llu transfers, least "
      "stalled %.1f %%\n",
      static_cast<unsigned long long>(seed), static_cast<unsigned long long>(cycles),
      static_cast<unsigned long long>(pair.compared_values()),
      static_cast<unsigned long long>(count.transfers), 100 * count.stalled);
  if (demand_coverage) {
    EXPECT_GE(count.transfers, cycles / 10);
    EXPECT_GE(count.stalled, 0.1);
  }
}

TEST(RouterTwin, LockstepShort) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) run_single(seed, 20000, 32, true);
}

TEST(RouterTwin, LockstepOfOddDepths) {
  for (const std::uint32_t depth : {1u, 2u, 3u, 5u, 16u, 511u, 512u}) run_single(depth, 4000, depth, false);
}

// Corner, edge and interior routers of several grids, in lock-step at the same time: every turn mask and
// every kind of route. Rates rise and fall with the slot, so that queues fill in some places only.
void run_mesh(const noc::Grid& grid, std::uint32_t depth, sim::Cycle cycles) {
  const std::uint64_t seed = grid.x_hi * 100 + grid.y_hi * 10 + depth;
  SCOPED_TRACE(fmt::format("grid {}..{} x {}..{} depth {} seed {}", grid.x_lo, grid.x_hi, grid.y_lo,
                           grid.y_hi, depth, seed));
  sim::Random random(seed);
  TrafficMesh mesh(
      grid, depth,
      [&](std::size_t s, arch::Coord) {
        traffic::NodeParams params;
        params.random.emplace();
        params.random->rate = s % 3 == 0 ? 0.5 : 0.1;
        params.random->seed = seed;
        params.random->destinations = all_slots(grid);
        params.busy = random_busy(random, s % 2 == 0 ? 0.3 : 0.05);
        return params;
      },
      lockstep_router<>);
  mesh.engine.run_until(cycles);
  for (auto& router : mesh.routers()) {
    auto& pair = dynamic_cast<sim::Lockstep&>(*router);
    pair.require_compared();
    EXPECT_EQ(pair.compared_cycles(), cycles) << pair.name();
  }
  EXPECT_EQ(mesh.checker.violations(), 0u);
  for (const auto& node : mesh.nodes()) {
    EXPECT_EQ(node->out_of_order(), 0u) << node->name();
    EXPECT_EQ(node->misdelivered(), 0u) << node->name();
    EXPECT_GT(node->delivered(), cycles / 100) << node->name();
  }
}

TEST(RouterTwin, LockstepOfEveryPosition) {
  run_mesh({1, 3, 1, 3}, 4, 4000);
  run_mesh({1, 2, 1, 2}, 32, 4000);
  run_mesh({1, 1, 1, 3}, 2, 4000);
  run_mesh({1, 3, 1, 1}, 8, 4000);
  run_mesh({3, 5, 2, 4}, 8, 2000);  // a rectangle that does not start at 1
  run_mesh({1, 14, 1, 1}, 4, 1000);
  run_mesh({1, 1, 1, 14}, 4, 1000);
}

// Flits that ask for a turn that dimension order never makes wedge their input in model and RTL alike.
TEST(RouterTwin, LockstepOfSuppressedTurns) {
  const noc::Grid grid{1, 3, 1, 3};
  std::size_t wedged = 0;
  for (std::uint8_t x = 1; x <= 3; ++x)
    for (std::uint8_t y = 1; y <= 3; ++y) {
      sim::Engine engine;
      noc::Router::Ports ports;
      std::deque<sim::FlitLink> links;
      std::deque<traffic::Node> nodes;
      for (unsigned p = 0; p < noc::kPorts; ++p) {
        sim::FlitPort node;
        ports[p].in = node.out =
            &links.emplace_back(fmt::format("{}.in", noc::kPortNames[p]), arch::kFlitBits);
        ports[p].out = node.in =
            &links.emplace_back(fmt::format("{}.out", noc::kPortNames[p]), arch::kFlitBits);
        traffic::NodeParams params;
        sim::Random random(static_cast<std::uint64_t>(x * 16 + y * 256 + p));
        for (sim::Cycle c = 8; c < 400; c += 1 + random.below(20)) {
          arch::Flit flit = arch::make_flit(arch::Coord::from_node_byte(random.below(256)), {},
                                            arch::FlitType::kCuData, random.below(256), false);
          flit.w[0] = random.next();
          params.script.push_back({c, flit});
        }
        nodes.emplace_back(noc::kPortNames[p], params, node);
      }
      auto pair = lockstep_router<>(fmt::format("router@{},{}", x, y),
                                    {{x, y}, grid, sim::FifoShape::sync(4)}, ports);
      engine.add(*pair);
      for (auto& node : nodes) engine.add(node);
      for (auto& link : links) engine.add(link);
      engine.elaborate();
      engine.run_until(600);
      for (auto& node : nodes) wedged += !node.done();
      dynamic_cast<sim::Lockstep&>(*pair).require_compared();
    }
  EXPECT_GT(wedged, 10u);
}

// The recorded traces with nothing but RTL in the mesh.
TEST(RouterTwin, NocTracesOnRtl) {
  std::size_t flits = 0;
  for (const auto& row : noc_rows()) {
    if (row.at("kind") != "trace") continue;
    const NocReplay replay = replay_noc_trace(row, rtl_router<>);
    for (std::size_t k = 0; k < replay.expected.size(); ++k) {
      ++flits;
      ASSERT_EQ(replay.got[k].accept, replay.expected[k].accept) << row["name"] << " flit " << k;
      ASSERT_EQ(replay.got[k].deliver, replay.expected[k].deliver) << row["name"] << " flit " << k;
      ASSERT_EQ(replay.got[k].sink, replay.expected[k].sink) << row["name"] << " flit " << k;
    }
  }
  std::printf("%zu flits\n", flits);
}

}  // namespace
}  // namespace ktpu::test
