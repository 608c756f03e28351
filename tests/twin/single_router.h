// SPDX-License-Identifier: Apache-2.0
// One router in lock-step under heavy random load on every port.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "tests/twin/campaign.h"

namespace ktpu::test {

struct PortCount {
  std::uint64_t transfers = ~0ull;
  double stalled = 1;  // share of cycles
};

// The least used and the least stalled of all router ports, both directions.
inline PortCount least(TrafficMesh& mesh, sim::Cycle cycles) {
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
inline void run_single(std::uint64_t seed, sim::Cycle cycles, std::uint32_t depth) {
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
  // The least that the test is worth: per million cycles 10^5 transfers on every port, and 10 % of cycles
  // stalled.
  EXPECT_GE(count.transfers, cycles / 10);
  EXPECT_GE(count.stalled, 0.1);
}

}  // namespace ktpu::test
