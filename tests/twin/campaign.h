// SPDX-License-Identifier: Apache-2.0
// The short lock-step campaign: single routers in every position of small grids, all ports loaded with flits
// to any of the 256 destinations (turns that are never granted included), sinks that stall.
#pragma once

#include <deque>
#include <string>

#include "tests/twin/lockstep_mesh.h"

namespace ktpu::test {

// Runs of random length, so that stalls of one node are long and short and independent of the others'.
inline traffic::BusyPattern random_busy(sim::Random& random, double duty) {
  std::vector<std::uint32_t> runs;
  for (int k = 0; k < 200; ++k) {
    const std::uint32_t scale = random.below(8) == 0 ? 40 : 4;
    const std::uint32_t total = 1 + random.below(2 * scale);
    runs.push_back(static_cast<std::uint32_t>(total * (1 - duty) * 2) / 2 + random.below(2));
    runs.push_back(static_cast<std::uint32_t>(total * duty * 2) / 2 + random.below(2));
  }
  return traffic::BusyPattern::runs(runs);
}

struct BareRun {
  std::size_t wedged = 0;  // inputs that still hold flits at the end
  std::uint64_t compared_values = 0;
};

// One router with a scripted node on each port that offers flits until cycle `until`. `legal`: only turns
// that the masks allow; without it inputs wedge one after another.
inline BareRun run_bare_router(const noc::RouterParams& params, std::uint64_t seed, bool legal,
                               sim::Cycle until, const RouterFactory& factory) {
  sim::Random random(seed);
  sim::Engine engine;
  noc::Router::Ports ports;
  std::deque<sim::FlitLink> links;
  std::deque<traffic::Node> nodes;
  for (unsigned p = 0; p < noc::kPorts; ++p) {
    sim::FlitPort node;
    ports[p].in = node.out = &links.emplace_back(fmt::format("{}.in", noc::kPortNames[p]), arch::kFlitBits);
    ports[p].out = node.in = &links.emplace_back(fmt::format("{}.out", noc::kPortNames[p]), arch::kFlitBits);
    traffic::NodeParams node_params;
    node_params.busy = random_busy(random, 0.3);
    // From cycle 0 on: the offer stands while the inputs leave reset.
    for (sim::Cycle c = 0; c < until; c += random.below(6) == 0 ? random.below(60) : random.below(2)) {
      arch::Coord to = arch::Coord::from_node_byte(random.below(256));
      while (legal && noc::turn_suppressed(params.position, params.grid, static_cast<noc::Direction>(p),
                                           noc::route(params.position, params.grid, to)))
        to = arch::Coord::from_node_byte(random.below(256));
      arch::Flit flit;
      for (std::uint64_t& word : flit.w) word = random.next();
      flit.w[4] = static_cast<std::uint32_t>(flit.w[4]);
      flit.set_dst(to);
      node_params.script.push_back({c, flit});
    }
    nodes.emplace_back(noc::kPortNames[p], node_params, node);
  }
  auto pair = factory(fmt::format("router@{},{}", params.position.x, params.position.y), params, ports);
  engine.add(*pair);
  for (auto& node : nodes) engine.add(node);
  for (auto& link : links) engine.add(link);
  engine.elaborate();
  engine.run_until(legal ? 2 * until : until + 200);
  BareRun run;
  for (auto& node : nodes) run.wedged += !node.done();
  auto& lockstep = dynamic_cast<sim::Lockstep&>(*pair);
  lockstep.require_compared();
  run.compared_values = lockstep.compared_values();
  return run;
}

// Throws LockstepError at the first difference; returns the number of values compared.
inline std::uint64_t run_campaign(const RouterFactory& factory) {
  std::uint64_t compared = 0;
  for (const noc::Grid& grid : {noc::Grid{1, 1, 1, 1}, noc::Grid{1, 2, 1, 2}, noc::Grid{1, 3, 1, 3}})
    for (std::uint8_t x = 1; x <= grid.x_hi; ++x)
      for (std::uint8_t y = 1; y <= grid.y_hi; ++y)
        for (const bool legal : {true, false}) {
          const std::uint64_t seed = static_cast<std::uint64_t>(grid.x_hi * 1000 + x * 100 + y * 10 + legal);
          const std::uint32_t depth = x == 1 ? 4 : 16;
          // One run is long enough for every word of the input FIFOs' storage to be used.
          const sim::Cycle until = grid.x_hi == 1 && legal ? 8000 : 400;
          compared +=
              run_bare_router({{x, y}, grid, sim::FifoShape::sync(depth)}, seed, legal, until, factory)
                  .compared_values;
        }
  return compared;
}

}  // namespace ktpu::test
