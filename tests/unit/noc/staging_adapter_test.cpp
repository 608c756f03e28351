// SPDX-License-Identifier: Apache-2.0
// fabric.md section 12, window off: one cycle from the endpoint to the router, none back, and a blocked
// router input stops the endpoint after one further flit.
#include "tlm/noc/staging_adapter.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/unit/platform/bench.h"
#include "tlm/sim/engine.h"

namespace ktpu::noc::test {
namespace {

using sim::Cycle;

// Offers numbered flits back to back from cycle `from` on.
class Source final : public sim::Unit {
 public:
  Source(sim::FlitLink& link, unsigned count, Cycle from)
      : Unit("source"), link_(link), count_(count), from_(from) {
    link.bind_sender(*this);
  }
  std::vector<Cycle> accepted;
  void reset(Cycle) override {}
  void drive(Cycle now) override {
    if (now < from_ || accepted.size() == count_) {
      link_.withdraw();
      return;
    }
    arch::Flit flit;
    flit.w[0] = accepted.size();
    link_.offer(flit);
  }
  Cycle clock(Cycle now) override {
    if (link_.valid() && link_.sample_sent()) accepted.push_back(now);
    return now + 1;
  }

 private:
  sim::FlitLink& link_;
  unsigned count_;
  Cycle from_;
};

class Sink final : public sim::Unit {
 public:
  Sink(sim::FlitLink& link, std::function<bool(Cycle)> busy)
      : Unit("sink"), link_(link), busy_(std::move(busy)) {
    link.bind_receiver(*this);
  }
  std::vector<std::pair<Cycle, std::uint64_t>> taken;
  std::vector<Cycle> offered;
  void reset(Cycle) override {}
  void drive(Cycle now) override { link_.set_busy(busy_(now)); }
  Cycle clock(Cycle now) override {
    if (link_.valid()) offered.push_back(now);
    if (link_.transfers()) taken.emplace_back(now, link_.data().w[0]);
    return now + 1;
  }

 private:
  sim::FlitLink& link_;
  std::function<bool(Cycle)> busy_;
};

struct Bench {
  explicit Bench(std::function<bool(Cycle)> busy, unsigned count = 20)
      : source(from_unit, count, 10),
        adapter("adapter", from_unit, to_router),
        sink(to_router, std::move(busy)) {
    engine.add(adapter);  // before its neighbours: the order must not matter
    engine.add(source);
    engine.add(sink);
    engine.add(from_unit);
    engine.add(to_router);
    engine.elaborate();
  }
  sim::FlitLink from_unit{"unit.out", 288}, to_router{"adapter.out", 288};
  sim::Engine engine;
  Source source;
  StagingAdapter adapter;
  Sink sink;
};

TEST(Fabric_S12_Adapter, OneCycleUpstreamAndOneFlitACycle) {
  Bench b([](Cycle) { return false; });
  b.engine.run_until(60);
  ASSERT_EQ(b.sink.taken.size(), 20u);
  for (unsigned i = 0; i < 20; ++i) {
    EXPECT_EQ(b.source.accepted[i], 10u + i);
    EXPECT_EQ(b.sink.taken[i], (std::pair<Cycle, std::uint64_t>{11 + i, i}));
  }
}

TEST(Fabric_S12_Adapter, ABlockedRouterStopsTheEndpointAfterOneFurtherFlit) {
  Bench b([](Cycle c) { return c >= 15 && c < 40; });
  b.engine.run_until(39);
  // Flit 3 crossed in 14. Flit 4, accepted in 14, stands at the blocked input; the endpoint is busy from 15
  // on.
  EXPECT_EQ(b.source.accepted.size(), 5u);
  EXPECT_EQ(b.sink.taken.size(), 4u);
  EXPECT_TRUE(b.from_unit.busy());
  b.engine.run_until(80);
  ASSERT_EQ(b.source.accepted.size(), 20u);
  EXPECT_EQ(b.source.accepted[5], 40u) << "in the cycle in which the router takes its flit";
  for (unsigned i = 0; i < 20; ++i) EXPECT_EQ(b.sink.taken[i].second, i);
}

TEST(Fabric_S12_Adapter, AnEmptyRegisterTakesAFlitEvenWhileTheRouterIsBusy) {
  Bench b([](Cycle c) { return c < 30; });
  b.engine.run_until(29);
  EXPECT_EQ(b.source.accepted, std::vector<Cycle>{10});
  EXPECT_EQ(b.sink.offered.front(), 11u);
}

TEST(Fabric_S12_Adapter, EveryBusyPatternKeepsAllFlitsInOrder) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Bench b([seed](Cycle c) { return (c * 2654435761u * seed >> 7) % 3 != 0; }, 50);
    b.engine.run_until(600);
    ASSERT_EQ(b.sink.taken.size(), 50u) << "seed " << seed;
    for (unsigned i = 0; i < 50; ++i) EXPECT_EQ(b.sink.taken[i].second, i) << "seed " << seed;
  }
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
