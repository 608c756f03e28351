// SPDX-License-Identifier: Apache-2.0
#include "tlm/sim/lockstep.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/unit/sim/toy_units.h"
#include "tlm/traffic/node.h"

namespace ktpu::test {
namespace {

using sim::Cycle;

// source -> lock-step pair of two stages (or wires) -> sink.
struct PairBench {
  sim::FlitLink in{"in", 288}, out{"out", 288}, back{"back", 288}, unused{"unused", 288};
  std::unique_ptr<traffic::Node> source, sink;
  std::unique_ptr<sim::Lockstep> pair;
  Stage* twin = nullptr;
  sim::Engine engine;

  explicit PairBench(bool mealy, unsigned flits = 40, bool busy = true) {
    traffic::NodeParams params, sink_params;
    for (unsigned k = 0; k < flits; ++k) {
      arch::Flit flit = arch::make_flit({2, 1}, {1, 1}, arch::FlitType::kCuData, k & 255, false);
      flit.w[2] = k;
      params.script.push_back({10 + 3 * k, flit});
    }
    if (busy) sink_params.busy = traffic::BusyPattern::runs({5, 3});
    source = std::make_unique<traffic::Node>("source", params, sim::FlitPort{&back, &in});
    sink = std::make_unique<traffic::Node>("sink", sink_params, sim::FlitPort{&out, &unused});
    sim::Shadows shadows(8);
    sim::FlitLink* twin_in = shadows.mirror("west.in", sim::Shadow::Role::kInput, &in);
    sim::FlitLink* twin_out = shadows.mirror("east.out", sim::Shadow::Role::kOutput, &out);
    std::unique_ptr<sim::Unit> model, other;
    if (mealy) {
      model = std::make_unique<Wire>("stage@1,1", in, out);
      other = std::make_unique<Wire>("stage@1,1", *twin_in, *twin_out);
    } else {
      model = std::make_unique<Stage>("stage@1,1", in, out);
      auto stage = std::make_unique<Stage>("stage@1,1", *twin_in, *twin_out);
      twin = stage.get();
      other = std::move(stage);
    }
    pair =
        std::make_unique<sim::Lockstep>("stage@1,1", std::move(shadows), std::move(model), std::move(other));
    for (sim::Unit* unit : std::initializer_list<sim::Unit*>{sink.get(), pair.get(), source.get()})
      engine.add(*unit);
    for (sim::FlitLink* link : {&in, &out, &back, &unused}) engine.add(*link);
    engine.elaborate();
  }
};

TEST(Lockstep, EqualUnitsRunThrough) {
  for (const bool mealy : {false, true}) {
    PairBench bench(mealy);
    bench.engine.run_until(400);
    EXPECT_EQ(bench.sink->delivered(), 40u);
    EXPECT_GT(bench.pair->compared_cycles(), 40u);
    // Each cycle: busy of the input, valid of the output; and each flit in every cycle in which it is shown.
    EXPECT_EQ(bench.pair->compared_values(),
              2 * bench.pair->compared_cycles() + bench.out.transferred() + bench.out.stalled_cycles());
    EXPECT_NO_THROW(bench.pair->require_compared());
    PairBench quiet(mealy, 40, false);  // a sink with a busy pattern runs in every cycle
    quiet.engine.run_until(400);
    EXPECT_GT(quiet.engine.cycles_skipped(), 0u);  // both asleep: the pair sleeps
  }
}

TEST(Lockstep, SleepingChangesNothing) {
  std::vector<std::string> texts;
  for (const bool skip : {true, false}) {
    PairBench bench(false);
    bench.engine.set_idle_skip(skip);
    bench.engine.run_until(400);
    texts.push_back(fmt::format("{} {} {}", bench.sink->delivered(), bench.out.transferred(),
                                bench.out.stalled_cycles()));
  }
  EXPECT_EQ(texts[0], texts[1]);
}

struct Fault {
  const char* field;
  std::function<void(arch::Flit&)> apply;
};

TEST(Lockstep, MismatchNamesUnitCyclePortFieldAndValues) {
  const std::vector<Fault> faults{
      {"dst_x", [](arch::Flit& f) { f.set(arch::header::kDstX, 7); }},
      {"src_y", [](arch::Flit& f) { f.set(arch::header::kSrcY, 7); }},
      {"type", [](arch::Flit& f) { f.set(arch::header::kType, 5); }},
      {"txn", [](arch::Flit& f) { f.set(arch::header::kTxn, 200); }},
      {"last", [](arch::Flit& f) { f.set(arch::header::kLast, 1); }},
      {"rsvd", [](arch::Flit& f) { f.set(arch::header::kRsvd, 4); }},
      {"payload[255:192]", [](arch::Flit& f) { f.w[3] ^= 1ull << 63; }},
      {"payload[63:0]", [](arch::Flit& f) { f.w[0] ^= 1; }},
  };
  for (const Fault& fault : faults) {
    PairBench bench(false);
    bench.twin->fault = [&](arch::Flit& flit, Cycle) {
      if (flit.w[2] == 10)
        fault.apply(flit);  // offered in cycle 40, taken in 41 because the sink refused flit 9
    };
    std::string transfers, history, vcd;
    int hooks = 0;
    bench.pair->on_mismatch([&](const sim::Lockstep& pair, const sim::Mismatch& mismatch) {
      ++hooks;
      EXPECT_EQ(mismatch.cycle, 42u);
      std::ostringstream words, table, waves;
      pair.print_transfers(words, {});
      transfers = words.str();
      pair.print_history(table);
      pair.write_history_vcd(waves);
      history = table.str();
      vcd = waves.str();
    });
    try {
      bench.engine.run_until(400);
      FAIL() << fault.field << " was not noticed";
    } catch (const sim::LockstepError& error) {
      EXPECT_EQ(error.status(), arch::ExitStatus::kLockstepMismatch);
      EXPECT_EQ(error.mismatch().unit, "stage@1,1");
      EXPECT_EQ(error.mismatch().cycle, 42u);
      EXPECT_EQ(error.mismatch().port, "east.out");
      EXPECT_EQ(error.mismatch().difference.field, fault.field);
      EXPECT_NE(error.mismatch().difference.expected, error.mismatch().difference.got);
      const std::string text = error.what();
      for (const char* part : {"stage@1,1", "cycle 42", "east.out", fault.field, "expected", "got"})
        EXPECT_NE(text.find(part), std::string::npos) << text;
    }
    EXPECT_EQ(hooks, 1);
    // The last of 16: flit 10 goes out and differs, flit 9 went before it, equal.
    EXPECT_THAT(transfers, testing::ContainsRegex("        40 east.out     CU_DATA .* payload "));
    EXPECT_THAT(transfers, testing::ContainsRegex("        42 east.out     model: .*\n +twin:  "));
    EXPECT_EQ(std::count(transfers.begin(), transfers.end(), '\n'), 17) << transfers;
    EXPECT_NE(history.find("model"), std::string::npos) << history;
    EXPECT_NE(history.find("twin"), std::string::npos) << history;
    EXPECT_NE(vcd.find("$enddefinitions"), std::string::npos);
    EXPECT_NE(vcd.find("#42"), std::string::npos);
    EXPECT_EQ(vcd.find("#30\n"), std::string::npos);  // only the last eight cycles that ran
  }
}

TEST(Lockstep, ExpectedAndGotAreModelAndTwin) {
  PairBench bench(false);
  bench.twin->fault = [](arch::Flit& flit, Cycle) {
    if (flit.w[2] == 10) flit.set(arch::header::kTxn, 200);
  };
  try {
    bench.engine.run_until(400);
    FAIL();
  } catch (const sim::LockstepError& error) {
    EXPECT_EQ(error.mismatch().difference.expected, "10");
    EXPECT_EQ(error.mismatch().difference.got, "200");
  }
}

// A twin that is late shows first in `valid`, and one that refuses in `busy`.
TEST(Lockstep, ValidAndBusyAreCompared) {
  class Refuser final : public sim::Unit {
   public:
    Refuser(sim::FlitLink& in, sim::FlitLink& out) : Unit("refuser"), in_(in) {
      in.bind_receiver(*this);
      out.bind_sender(*this);
    }
    void reset(Cycle) override {}
    void drive(Cycle now) override { in_.set_busy(now == 17); }
    Cycle clock(Cycle now) override { return now + 1; }

   private:
    sim::FlitLink& in_;
  };
  sim::FlitLink in("in", 288), out("out", 288);
  sim::Shadows shadows;
  sim::FlitLink* twin_in = shadows.mirror("west.in", sim::Shadow::Role::kInput, &in);
  sim::FlitLink* twin_out = shadows.mirror("east.out", sim::Shadow::Role::kOutput, &out);
  auto model = std::make_unique<Stage>("stage", in, out);
  auto twin = std::make_unique<Refuser>(*twin_in, *twin_out);
  sim::Lockstep pair("stage", std::move(shadows), std::move(model), std::move(twin));
  sim::Engine engine;
  engine.add(pair);
  engine.add(in);
  engine.add(out);
  engine.elaborate();
  try {
    engine.run_until(100);
    FAIL();
  } catch (const sim::LockstepError& error) {
    EXPECT_EQ(error.mismatch().cycle, 17u);
    EXPECT_EQ(error.mismatch().port, "west.in");
    EXPECT_EQ(error.mismatch().difference.field, "busy");
    EXPECT_EQ(error.mismatch().difference.expected, "0");
    EXPECT_EQ(error.mismatch().difference.got, "1");
  }
}

TEST(Lockstep, ARunThatComparedNothingFails) {
  PairBench bench(false);
  try {
    bench.pair->require_compared();
    FAIL();
  } catch (const arch::UserError& error) {
    EXPECT_EQ(error.status(), arch::ExitStatus::kLockstepMismatch);
    EXPECT_NE(std::string(error.what()).find("compared nothing"), std::string::npos);
  }
}

}  // namespace
}  // namespace ktpu::test
