// SPDX-License-Identifier: Apache-2.0
// fabric.md section 12, what passes: one cycle from the endpoint to the router, none back, and a blocked
// router input stops the endpoint after one further flit.
#include "tests/unit/noc/adapter_bench.h"
#include "tests/unit/platform/bench.h"

namespace ktpu::noc::test {
namespace {

// `count` numbered flits of the unit from cycle 10 on.
struct Bench : AdapterBench {
  explicit Bench(std::function<bool(Cycle)> busy, unsigned count = 20) : AdapterBench(8192, std::move(busy)) {
    for (unsigned i = 0; i < count; ++i) {
      Flit flit = arch::make_flit(kPort, kUnit, FlitType::kCuSignal, 0, true);
      flit.w[0] = i;
      unit.push(10, flit);
    }
  }
};

TEST(Fabric_S12_Adapter, OneCycleUpstreamAndOneFlitACycle) {
  Bench b([](Cycle) { return false; });
  b.engine.run_until(60);
  ASSERT_EQ(b.at_router.taken.size(), 20u);
  for (unsigned i = 0; i < 20; ++i) {
    EXPECT_EQ(b.unit.accepted[i].cycle, 10u + i);
    EXPECT_EQ(b.at_router.taken[i].cycle, 11u + i);
    EXPECT_EQ(b.at_router.taken[i].flit.w[0], i);
  }
}

TEST(Fabric_S12_Adapter, ABlockedRouterStopsTheEndpointAfterOneFurtherFlit) {
  Bench b([](Cycle c) { return c >= 15 && c < 40; });
  b.engine.run_until(39);
  // Flit 3 crossed in 14. Flit 4, accepted in 14, stands at the blocked input; the endpoint is busy from 15
  // on.
  EXPECT_EQ(b.unit.accepted.size(), 5u);
  EXPECT_EQ(b.at_router.taken.size(), 4u);
  EXPECT_TRUE(b.from_unit.busy());
  b.engine.run_until(80);
  ASSERT_EQ(b.unit.accepted.size(), 20u);
  EXPECT_EQ(b.unit.accepted[5].cycle, 40u) << "in the cycle in which the router takes its flit";
  for (unsigned i = 0; i < 20; ++i) EXPECT_EQ(b.at_router.taken[i].flit.w[0], i);
}

TEST(Fabric_S12_Adapter, AnEmptyRegisterTakesAFlitEvenWhileTheRouterIsBusy) {
  Bench b([](Cycle c) { return c < 30; });
  b.engine.run_until(29);
  ASSERT_EQ(b.unit.accepted.size(), 1u);
  EXPECT_EQ(b.unit.accepted[0].cycle, 10u);
  EXPECT_EQ(b.at_router.offered.front().cycle, 11u);
}

TEST(Fabric_S12_Adapter, EveryBusyPatternKeepsAllFlitsInOrder) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Bench b([seed](Cycle c) { return (c * 2654435761u * seed >> 7) % 3 != 0; }, 50);
    b.engine.run_until(600);
    ASSERT_EQ(b.at_router.taken.size(), 50u) << "seed " << seed;
    for (unsigned i = 0; i < 50; ++i) EXPECT_EQ(b.at_router.taken[i].flit.w[0], i) << "seed " << seed;
  }
}

TEST(Fabric_S12_Adapter, NoCycleDownstreamAndOneFlitACycle) {
  Bench b(never, 0);
  for (unsigned i = 0; i < 20; ++i) b.router.push(10, AdapterBench::passing(i));
  b.engine.run_until(60);
  ASSERT_EQ(b.at_unit.taken.size(), 20u);
  for (unsigned i = 0; i < 20; ++i) {
    EXPECT_EQ(b.router.accepted[i].cycle, 10u + i);
    EXPECT_EQ(b.at_unit.taken[i].cycle, 10u + i);
    EXPECT_EQ(b.at_unit.taken[i].flit, AdapterBench::passing(i));
  }
}

TEST(Fabric_S12_Adapter, TheEndpointsBusyReachesTheRouterInTheSameCycle) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const auto busy = [seed](Cycle c) { return (c * 2654435761u * seed >> 7) % 3 != 0; };
    AdapterBench b(64, never, busy);
    for (unsigned i = 0; i < 50; ++i) b.router.push(10 + i / 3 * 5, AdapterBench::passing(i));
    b.engine.run_until(600);
    ASSERT_EQ(b.at_unit.taken.size(), 50u) << "seed " << seed;
    for (unsigned i = 0; i < 50; ++i) {
      EXPECT_EQ(b.at_unit.taken[i].flit.w[0], i);
      EXPECT_EQ(b.at_unit.taken[i].cycle, b.router.accepted[i].cycle);
      EXPECT_FALSE(busy(b.at_unit.taken[i].cycle));
    }
  }
}

TEST(Fabric_S12_Adapter, ALocalResponseGoesFirstAndHoldsTheRouter) {
  AdapterBench b;
  b.enable();
  b.unit.push(20, AdapterBench::read(0, 4));
  for (unsigned i = 0; i < 20; ++i) b.router.push(20, AdapterBench::passing(i));
  b.engine.run_until(80);
  for (unsigned i = 0; i < 20; ++i) EXPECT_EQ(b.router.accepted[2 + i].cycle, i < 8 ? 20u + i : 24u + i) << i;
  for (unsigned i = 0; i < 4; ++i)
    EXPECT_EQ(b.at_unit.taken[8 + i].flit.type(), FlitType::kMemRdResp) << "offered in " << 28 + i;
}

// L1: what stands refused on the wires stays there, also when an answer is ready.
TEST(Fabric_S12_Adapter, ALocalResponseWaitsForAPassingFlitThatStandsRefused) {
  AdapterBench b(64, never, [](Cycle c) { return c >= 25 && c < 40; });
  b.enable();
  b.unit.push(20, AdapterBench::read(0, 2));
  b.router.push(26, AdapterBench::passing(1));
  b.router.push(26, AdapterBench::passing(2));
  b.engine.run_until(80);
  ASSERT_EQ(b.at_unit.taken.size(), 4u);
  EXPECT_EQ(b.at_unit.taken[0].flit, AdapterBench::passing(1));
  EXPECT_EQ(b.at_unit.taken[0].cycle, 40u);
  EXPECT_EQ(b.at_unit.taken[1].flit.type(), FlitType::kMemRdResp);
  EXPECT_EQ(b.at_unit.taken[2].flit.type(), FlitType::kMemRdResp);
  EXPECT_EQ(b.at_unit.taken[3].flit, AdapterBench::passing(2));
}

// The same cluster with and without an adapter: its requests reach memory one cycle later, what comes back
// does not.
TEST(Fabric_S12_Adapter, CostsOneCycleUpstreamAndNoneDownstreamInAMachine) {
  using namespace platform::test;
  std::map<bool, std::vector<Cycle>> instruction, signal;
  for (const bool with : {false, true}) {
    topo::Overrides sets{"host.kind=external"};
    if (with) sets.push_back("meshes.0.units.mat.adapter={lines: 8192}");
    const auto system = make_system("mesh1", sets);
    LinkLog log(*system, {"cluster@1,1.in", "memory@0,1.in"});
    LiteralHost host;
    host.write(0x10002018, 0x3000000000000000);  // a DRAIN of nothing: no memory traffic, one signal
    host.write(0x10002020, 0x5408);
    host.write(0x10000060, 1);
    host.write(0x10000040, 0x11);
    host.write(0x10000048, 1);
    host.write(0x10000050, 1);
    perform(*system, host);
    for (const auto& s : log.of("cluster@1,1.in", FlitType::kCuInst)) instruction[with].push_back(s.cycle);
    for (const auto& s : log.of("memory@0,1.in", FlitType::kCuSignal)) signal[with].push_back(s.cycle);
  }
  ASSERT_EQ(instruction[false].size(), 1u);
  ASSERT_EQ(signal[false].size(), 1u);
  EXPECT_EQ(instruction[true], instruction[false]);
  EXPECT_EQ(signal[true], std::vector<Cycle>{signal[false][0] + 1});
}

}  // namespace
}  // namespace ktpu::noc::test
