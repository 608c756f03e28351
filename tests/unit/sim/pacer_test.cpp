// SPDX-License-Identifier: Apache-2.0
#include "tlm/sim/pacer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/sim/toy_units.h"
#include "tlm/traffic/link_checker.h"
#include "tlm/traffic/node.h"

namespace ktpu::test {
namespace {

using sim::Cycle;

struct PacedPair {
  sim::FlitLink ab{"a>p", 288}, pb{"p>b", 288}, ba{"b>a", 288};
  traffic::Node a, b;
  sim::Pacer pacer;
  sim::Engine engine;
  traffic::LinkChecker checker;

  PacedPair(const sim::PacerParams& params, traffic::NodeParams pa, traffic::NodeParams pb_params)
      : a("a", pa, {&ba, &ab}), b("b", pb_params, {&pb, &ba}), pacer("pacer", params, ab, pb) {
    for (sim::Unit* unit : std::initializer_list<sim::Unit*>{&a, &pacer, &b}) engine.add(*unit);
    for (sim::FlitLink* link : {&ab, &pb, &ba}) {
      engine.add(*link);
      checker.watch(*link);
    }
    engine.add(checker);
    engine.elaborate();
  }
};

traffic::NodeParams stream(unsigned flits) {
  traffic::NodeParams params;
  params.record = true;
  for (unsigned k = 0; k < flits; ++k) {
    arch::Flit flit = arch::make_flit({2, 1}, {1, 1}, arch::FlitType::kCuData, 0, false);
    flit.w[0] = k / 3;  // equal flits in a row must not be taken for one
    params.script.push_back({5, flit});
  }
  return params;
}

TEST(Pacer, ZeroIsAWire) {
  traffic::NodeParams sink;
  sink.record = true;
  PacedPair pair({0, 1}, stream(20), sink);
  pair.engine.run_until(40);
  ASSERT_EQ(pair.b.delivered(), 20u);
  for (unsigned k = 0; k < 20; ++k) EXPECT_EQ(pair.b.deliveries()[k].cycle, 5 + k);
}

TEST(Pacer, OneLetsNothingPass) {
  PacedPair pair({1, 1}, stream(3), {});
  pair.engine.run_until(1000);
  EXPECT_EQ(pair.b.delivered(), 0u);
  EXPECT_EQ(pair.pacer.stalled_cycles(), 995u);
}

// Nothing lost, doubled, reordered or changed, both links keep their promises, and the share of stalls is the
// one asked for; the same with and without idle skip.
TEST(Pacer, StallsAndKeepsTheRulesOfTheLink) {
  for (const std::uint64_t seed : {1u, 2u, 3u})
    for (const double stall : {0.1, 0.5, 0.9}) {
      SCOPED_TRACE(fmt::format("seed {} stall {}", seed, stall));
      std::vector<std::vector<Cycle>> runs;
      for (const bool skip : {true, false}) {
        traffic::NodeParams source = stream(600);
        for (unsigned k = 300; k < 600; ++k) source.script[k].cycle = 20000 + 40 * (k / 5);
        traffic::NodeParams sink;
        sink.record = true;
        sink.busy = traffic::BusyPattern::runs({7, 2, 1, 5});
        PacedPair pair({stall, seed}, source, sink);
        pair.engine.set_idle_skip(skip);
        pair.engine.run_until(40000);
        EXPECT_EQ(pair.checker.violations(), 0u);
        EXPECT_EQ(pair.b.delivered(), 600u);
        std::vector<Cycle> cycles;
        for (unsigned k = 0; k < 600; ++k) {
          EXPECT_EQ(pair.b.deliveries()[k].flit, source.script[k].flit);
          EXPECT_EQ(pair.b.deliveries()[k].cycle, pair.a.accepted()[k]);
          cycles.push_back(pair.b.deliveries()[k].cycle);
        }
        runs.push_back(cycles);
      }
      EXPECT_EQ(runs[0], runs[1]);
    }
  PacedPair pair({0.25, 9}, stream(30000), {});
  pair.engine.run_until(20005);
  EXPECT_NEAR(static_cast<double>(pair.pacer.stalled_cycles()), 5000, 5 * std::sqrt(20000 * 0.25 * 0.75));
}

}  // namespace
}  // namespace ktpu::test
