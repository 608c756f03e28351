// SPDX-License-Identifier: Apache-2.0
// fabric.md section 13: one asynchronous FIFO a direction, busy = full, valid = not empty.
#include "tlm/noc/clock_crossing.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tlm/sim/random.h"
#include "tlm/sim/timeline.h"

namespace ktpu::noc::test {
namespace {

using sim::Cycle;
using Pace = std::function<bool(Cycle)>;

// Offers numbered flits; from the first one on an offer stays until it is taken.
class Source final : public sim::Unit {
 public:
  Source(sim::FlitLink& link, unsigned count, Pace offers)
      : Unit("source"), link_(link), count_(count), offers_(std::move(offers)) {
    link.bind_sender(*this);
  }
  std::vector<Cycle> accepted;
  void reset(Cycle) override {}
  void drive(Cycle now) override {
    if (link_.valid()) {
      if (!taken_) return;
      link_.withdraw();
    }
    taken_ = false;
    if (accepted.size() == count_ || !offers_(now)) return;
    arch::Flit flit;
    flit.w[0] = accepted.size();
    link_.offer(flit);
  }
  Cycle clock(Cycle now) override {
    if (link_.valid() && link_.sample_sent()) {
      accepted.push_back(now);
      taken_ = true;
    }
    return accepted.size() == count_ && !link_.valid() ? sim::kNever : now + 1;
  }

 private:
  sim::FlitLink& link_;
  unsigned count_;
  Pace offers_;
  bool taken_ = false;
};

class Sink final : public sim::Unit {
 public:
  Sink(sim::FlitLink& link, Pace busy) : Unit("sink"), link_(link), busy_(std::move(busy)) {
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
  Pace busy_;
};

const Pace kAlways = [](Cycle) { return true; };
const Pace kNeverBusy = [](Cycle) { return false; };

// A unit (source and sink) at `unit_hertz` and a fabric (the same) at `fabric_hertz`, and a crossing between.
struct Bench {
  Bench(std::uint64_t fabric_hertz, std::uint64_t unit_hertz, unsigned count, Pace offers = kAlways,
        Pace busy = kNeverBusy, bool one_engine = false, bool unit_first = false)
      : upstream(unit_out, count, offers),
        fabric_sink(fabric_out, busy),
        downstream(fabric_in, count, offers),
        unit_sink(unit_in, busy) {
    crossing = make_crossing("crossing", {&unit_in, &unit_out}, {&fabric_in, &fabric_out}, 16,
                             sim::ClockRatio(fabric_hertz, unit_hertz));
    sim::Engine& other = one_engine ? fabric : unit;
    const auto add_fabric = [&] {
      fabric.add(*crossing.fabric_side);
      fabric.add(fabric_sink);
      fabric.add(downstream);
    };
    if (!unit_first) add_fabric();
    other.add(*crossing.unit_side);
    other.add(upstream);
    other.add(unit_sink);
    if (unit_first) add_fabric();
    fabric.add(fabric_in);
    fabric.add(fabric_out);
    other.add(unit_in);
    other.add(unit_out);
    timeline.add("fabric", fabric_hertz, fabric);
    fabric.elaborate();
    if (one_engine) return;
    timeline.add("unit", unit_hertz, unit);
    unit.elaborate();
  }
  sim::FlitLink unit_in{"u.in", 288}, unit_out{"u.out", 288}, fabric_in{"c.in", 288},
      fabric_out{"c.out", 288};
  Source upstream;
  Sink fabric_sink;
  Source downstream;
  Sink unit_sink;
  ClockCrossing crossing;
  sim::Engine fabric, unit;
  sim::Timeline timeline;
};

TEST(ClockCrossing, EightCyclesEachWayAtEqualClocks) {
  for (const bool one_engine : {false, true}) {
    Bench b(300, 300, 50, kAlways, kNeverBusy, one_engine);
    b.timeline.run_until(100);
    for (const auto& [from, to] : {std::pair{&b.upstream, &b.fabric_sink}, {&b.downstream, &b.unit_sink}}) {
      ASSERT_EQ(to->taken.size(), 50u);
      for (unsigned i = 0; i < 50; ++i) {
        EXPECT_EQ(from->accepted[i], i) << "a flit a cycle, never refused";
        EXPECT_EQ(to->taken[i], (std::pair<Cycle, std::uint64_t>{i + 8, i}));
      }
    }
  }
}

// 17 flits fit while nobody takes them; the places of the first pop come back eight cycles later.
TEST(ClockCrossing, BusyIsFull) {
  Bench b(300, 300, 40, kAlways, [](Cycle now) { return now < 60; });
  b.timeline.run_until(120);
  const std::vector<Cycle>& accepted = b.upstream.accepted;
  ASSERT_EQ(accepted.size(), 40u);
  for (unsigned i = 0; i < 17; ++i) EXPECT_EQ(accepted[i], i);
  EXPECT_EQ(b.fabric_sink.taken[0].first, 60u);
  for (unsigned i = 17; i < 40; ++i) EXPECT_EQ(accepted[i], 68u + i - 17);
  for (unsigned i = 0; i < 40; ++i) EXPECT_EQ(b.fabric_sink.taken[i].first, 60u + i) << "never starved";
  EXPECT_EQ(b.unit_out.stalled_cycles(), 68u - 17);
}

// What the two sides do, worked out again from the cycles seen: every flit is offered exactly when the rule
// says.
TEST(ClockCrossing, AnyRatioKeepsTheRuleAndTheOrder) {
  const std::uint64_t seed = 7;
  for (const auto& [fabric, unit] :
       {std::pair<std::uint64_t, std::uint64_t>{300, 500}, {500, 300}, {300, 299}, {1, 3}, {640, 7}}) {
    const auto offers = [&](Cycle now) { return sim::Random::nth(seed, now) % 3 != 0; };
    const auto busy = [&](Cycle now) { return sim::Random::nth(seed + 1, now) % 4 == 0; };
    Bench b(fabric, unit, 400, offers, busy);
    b.timeline.run_until(100'000);
    ASSERT_EQ(b.fabric_sink.taken.size(), 400u) << fabric << ":" << unit;
    ASSERT_EQ(b.unit_sink.taken.size(), 400u);
    const auto check = [&](const Source& source, const Sink& sink, const sim::ClockRatio& ratio) {
      Cycle after_last = 0;
      std::size_t o = 0;
      for (unsigned i = 0; i < 400; ++i) {
        const Cycle readable = std::max(sim::seen_across(ratio, source.accepted[i]), after_last);
        while (o < sink.offered.size() && sink.offered[o] < readable) ++o;
        ASSERT_EQ(sink.offered[o], readable) << "flit " << i << " of " << fabric << ":" << unit;
        EXPECT_EQ(sink.taken[i].second, i);
        after_last = sink.taken[i].first + 1;
      }
    };
    check(b.upstream, b.fabric_sink, sim::ClockRatio(unit, fabric));
    check(b.downstream, b.unit_sink, sim::ClockRatio(fabric, unit));
  }
}

// Sleeping, the order of the units and which of two equal instants runs first change nothing.
TEST(ClockCrossing, SleepAndOrderMakeNoDifference) {
  const std::uint64_t seed = 99;
  const auto offers = [&](Cycle now) { return now % 997 < 60 && sim::Random::nth(seed, now) % 5 != 0; };
  const auto busy = [&](Cycle now) { return now % 500 < 200; };
  for (const auto& [fabric, unit] :
       {std::pair<std::uint64_t, std::uint64_t>{300, 300}, {300, 500}, {900, 300}}) {
    Bench plain(fabric, unit, 300, offers, busy), every(fabric, unit, 300, offers, busy),
        swapped(fabric, unit, 300, offers, busy, false, true);
    every.timeline.set_idle_skip(false);
    for (Bench* b : {&plain, &every, &swapped}) b->timeline.run_until(60'000);
    ASSERT_EQ(plain.fabric_sink.taken.size(), 300u) << fabric << ":" << unit;
    for (const Bench* other : {&every, &swapped}) {
      EXPECT_EQ(plain.fabric_sink.taken, other->fabric_sink.taken);
      EXPECT_EQ(plain.fabric_sink.offered, other->fabric_sink.offered);
      EXPECT_EQ(plain.unit_sink.taken, other->unit_sink.taken);
      EXPECT_EQ(plain.upstream.accepted, other->upstream.accepted);
      EXPECT_EQ(plain.downstream.accepted, other->downstream.accepted);
    }
    if (fabric != unit) continue;  // one engine runs both sides of equal clocks alike
    Bench one(fabric, unit, 300, offers, busy, true);
    one.timeline.run_until(60'000);
    EXPECT_EQ(plain.fabric_sink.offered, one.fabric_sink.offered);
    EXPECT_EQ(plain.upstream.accepted, one.upstream.accepted);
  }
}

}  // namespace
}  // namespace ktpu::noc::test
