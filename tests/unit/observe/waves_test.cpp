// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/waves.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "arch/error.h"
#include "tests/support/vcd_reader.h"
#include "tests/unit/observe/test_machine.h"

namespace ktpu::observe {
namespace {

using test::TestMachine;
using test::VcdReader;

std::string temp(const std::string& name) {
  return testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name() + "_" + name;
}

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

WaveOptions all_signals() {
  WaveOptions options;
  options.scope = {"*"};
  options.clock_mhz = 500;  // 2 ns a cycle
  return options;
}

std::string run_file(TestMachine& machine, const WaveOptions& options, sim::Cycle end,
                     std::string* notice = nullptr) {
  const std::string path = temp("waves.vcd");
  {
    WaveFile waves(machine.registry, path, options);
    machine.engine.add(waves);
    machine.engine.run_until(end);
    machine.engine.remove(waves);
    waves.finish(machine.engine.now());
    EXPECT_EQ(waves.bytes(), slurp(path).size());
    if (notice == nullptr) {
      EXPECT_EQ(waves.notice(), "");
    } else {
      *notice = waves.notice();
    }
  }
  const std::string text = slurp(path);
  std::remove(path.c_str());
  return text;
}

// Flits in cycles 3, 12, 21, ..., one cycle each.
TEST(ObserveWaves, ReadBackChangesOfKnownSignalsInTheirCycles) {
  TestMachine machine;
  const auto vcd = VcdReader::from_text(run_file(machine, all_signals(), 60));
  EXPECT_EQ(vcd.timescale(), "1 ns");
  const auto& valid = vcd.changes("source@1,1.out.valid");
  ASSERT_EQ(valid.size(), 15u);  // initial 0, then up and down for each of 7 flits
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(valid[1 + 2 * i].time, 2 * (3 + 9 * i));
    EXPECT_EQ(valid[1 + 2 * i].number(), 1u);
    EXPECT_EQ(valid[2 + 2 * i].time, 2 * (4 + 9 * i));
    EXPECT_EQ(valid[2 + 2 * i].number(), 0u);
  }
  EXPECT_EQ(vcd.at("source@1,1.out.txn", 0), std::nullopt);  // no flit yet
  EXPECT_EQ(vcd.at("source@1,1.out.txn", 2 * 12), 1u);
  EXPECT_EQ(vcd.at("source@1,1.out.dst_x", 2 * 12), 2u);
  EXPECT_EQ(vcd.at("source@1,1.out.type", 2 * 12), 8u);
  EXPECT_EQ(vcd.changes("source@1,1.out.type").size(), 2u);  // x, then 8 for good
  // A register shows its new value one cycle after the transfer; the queue's word is readable 3 cycles later.
  EXPECT_EQ(vcd.at("source@1,1.sent", 2 * 3), 0u);
  EXPECT_EQ(vcd.at("source@1,1.sent", 2 * 4), 1u);
  EXPECT_EQ(vcd.at("sink@2,1.queue_side.fifo.count", 2 * 4), 1u);
  EXPECT_EQ(vcd.at("sink@2,1.queue_side.fifo.count", 2 * 6), 1u);
  EXPECT_EQ(vcd.at("sink@2,1.queue_side.fifo.count", 2 * 7), 0u);
  EXPECT_EQ(vcd.times().back(), 2u * 60);
}

TEST(ObserveWaves, PayloadHasAll256Bits) {
  TestMachine machine;
  const auto vcd = VcdReader::from_text(run_file(machine, all_signals(), 30));
  const auto& payload = vcd.changes("source@1,1.out.payload");
  ASSERT_EQ(payload.size(), 4u);  // x and three flits
  EXPECT_EQ(vcd.signal("source@1,1.out.payload").width, 256u);
  EXPECT_EQ(payload[1].bits, std::string(243, '0') + "1000000000000");
  EXPECT_EQ(payload[2].bits, "1" + std::string(242, '0') + "1000000000001");
}

TEST(ObserveWaves, CountersAndMemoriesAreNotWaves) {
  TestMachine machine;
  const auto vcd = VcdReader::from_text(run_file(machine, all_signals(), 10));
  EXPECT_FALSE(vcd.has("source@1,1.flits"));
  EXPECT_FALSE(vcd.has("sink@2,1.table"));
  EXPECT_EQ(vcd.signals().size(), 14u);
  EXPECT_EQ(vcd.signal("source@1,1.sent").kind, "reg");
  EXPECT_EQ(vcd.signal("source@1,1.out.valid").kind, "wire");
  WaveOptions options;
  options.scope = {"*.served"};
  EXPECT_THROW(WaveFile(machine.registry, temp("x.vcd"), options), arch::UserError);
}

TEST(ObserveWaves, WithoutAScopeAllWires) {
  TestMachine machine;
  const auto vcd = VcdReader::from_text(run_file(machine, WaveOptions{}, 20));
  EXPECT_EQ(vcd.signals().size(), 11u);
  EXPECT_FALSE(vcd.has("source@1,1.sent"));
}

TEST(ObserveWaves, ScopePicksByNodeAndPattern) {
  TestMachine machine;
  WaveOptions options = all_signals();
  options.scope = {"*.valid", "sink@2,1"};
  const auto vcd = VcdReader::from_text(run_file(machine, options, 20));
  EXPECT_EQ(vcd.signals().size(), 3u);
  EXPECT_TRUE(vcd.has("source@1,1.out.valid"));
  EXPECT_TRUE(vcd.has("sink@2,1.queue_side.last"));
  options.scope = {"sinc@2,1"};
  try {
    WaveFile waves(machine.registry, temp("x.vcd"), options);
    FAIL();
  } catch (const arch::UserError& error) {
    EXPECT_NE(std::string(error.what()).find("Did you mean 'sink@2,1'"), std::string::npos) << error.what();
  }
}

TEST(ObserveWaves, IdleSkipOnAndOffGiveEqualBytes) {
  for (const sim::Cycle gap : {1u, 2u, 5u, 9u, 70u, 200u}) {
    for (const sim::Cycle from : {0u, 1u, 10u, 17u, 300u}) {
      for (const char* scope : {"*", "*.out"}) {  // with and without registers
        WaveOptions options = all_signals();
        options.scope = {scope};
        options.from = from;
        TestMachine fast(12, gap, 7, true), slow(12, gap, 7, false);
        const std::string text = run_file(fast, options, 1000);
        EXPECT_EQ(text, run_file(slow, options, 1000)) << "gap " << gap << ", from " << from << ", " << scope;
        EXPECT_EQ(slow.engine.cycles_skipped(), 0u);
        if (gap >= 70) {
          EXPECT_GT(fast.engine.cycles_skipped(), 500u);
        }
        VcdReader::from_text(text);
      }
    }
  }
}

// A unit that sleeps through a count and works it out when asked.
class Lazy final : public sim::Unit {
 public:
  using Unit::Unit;
  void reset(sim::Cycle start) override { start_ = start; }
  void drive(sim::Cycle) override {}
  sim::Cycle clock(sim::Cycle now) override {
    sync(now + 1);
    return now < start_ + 100 ? start_ + 100 : sim::kNever;
  }
  void sync(sim::Cycle now) override { position_ = now < start_ + 100 ? (now - start_) / 10 : 10; }
  void visit(sim::Archive& archive) override {
    archive.state("position", position_, 8);
    // Without even a place to keep it.
    archive.computed("phase", engine() == nullptr ? 0 : engine()->now() / 25, 8);
  }

 private:
  sim::Cycle start_ = 0;
  std::uint64_t position_ = 0;
};

TEST(ObserveWaves, RegistersThatAreKeptLazilyAreShownInTheirCycles) {
  const auto run = [](bool idle_skip, bool ring) {
    Lazy unit("lazy");
    sim::Engine engine;
    engine.add(unit);
    engine.set_idle_skip(idle_skip);
    engine.elaborate();
    Registry registry;
    registry.add(engine);
    const std::string path = temp("lazy.vcd");
    WaveOptions options = all_signals();
    WaveFile file(registry, path, options);
    WaveRing last(registry, options.scope, 60);
    engine.add(file);
    engine.add(last);
    engine.run_until(130);
    file.finish(130);
    if (ring) last.dump(path, 130, options.clock_mhz);
    return slurp(path);
  };
  const std::string text = run(true, false);
  EXPECT_EQ(text, run(false, false));
  EXPECT_EQ(run(true, true), run(false, true));
  const auto vcd = VcdReader::from_text(text);
  const auto& changes = vcd.changes("lazy.position");
  ASSERT_EQ(changes.size(), 11u);
  for (std::size_t i = 0; i < changes.size(); ++i) EXPECT_EQ(changes[i].time, 2 * 10 * i);
  const auto last = VcdReader::from_text(run(true, true));
  EXPECT_EQ(last.changes("lazy.position").size(), 4u);  // 7 in cycle 70, then 8, 9, 10
  const auto& phase = vcd.changes("lazy.phase");
  ASSERT_EQ(phase.size(), 6u);
  for (std::size_t i = 0; i < phase.size(); ++i) EXPECT_EQ(phase[i].time, 2 * 25 * i);
}

TEST(ObserveWaves, OnlyTimesWithAChangeAreWritten) {
  TestMachine machine(3, 50, 2);
  const auto vcd = VcdReader::from_text(run_file(machine, all_signals(), 5000));
  // First time; per flit: offered, queued, taken out (the first two cycles later), and the end.
  EXPECT_LE(vcd.times().size(), 2u + 3 * 3);
}

TEST(ObserveWaves, TheWindowBeginsWithAllValuesAndEndsInTime) {
  TestMachine machine;
  WaveOptions options = all_signals();
  options.from = 13;
  options.to = 30;
  const auto vcd = VcdReader::from_text(run_file(machine, options, 200));
  EXPECT_EQ(vcd.times().front(), 2u * 13);
  EXPECT_EQ(vcd.times().back(), 2u * 31);
  for (const auto& [name, signal] : vcd.signals()) EXPECT_EQ(signal.changes.at(0).time, 2u * 13) << name;
  EXPECT_EQ(vcd.at("source@1,1.sent", 2 * 13), 2u);
  EXPECT_EQ(vcd.at("source@1,1.sent", 2 * 30), 3u);
  EXPECT_EQ(vcd.at("source@1,1.sent", 2 * 31), 3u);  // 4 from cycle 31 on: outside
}

TEST(ObserveWaves, AWindowTheRunNeverReachesIsSaid) {
  TestMachine machine;
  WaveOptions options = all_signals();
  options.from = 1000;
  std::string notice;
  const std::string text = run_file(machine, options, 60, &notice);
  EXPECT_NE(notice.find("holds no waves: the run ended after cycle 59, the window begins at cycle 1000"),
            std::string::npos)
      << notice;
  VcdReader::from_text(text);
  options.to = 999;
  EXPECT_THROW(WaveFile(machine.registry, temp("x.vcd"), options), arch::UserError);
}

TEST(ObserveWaves, TheSizeLimitStopsAtAWholeCycleAndIsSaid) {
  TestMachine reference, machine;
  const std::string whole = run_file(reference, all_signals(), 120);
  WaveOptions options = all_signals();
  options.max_bytes = whole.size() - 200;
  std::string notice;
  const std::string text = run_file(machine, options, 120, &notice);
  EXPECT_LE(text.size(), options.max_bytes);
  EXPECT_EQ(whole.substr(0, text.size()), text);
  EXPECT_EQ(whole[text.size()], '#');
  EXPECT_NE(notice.find("the size limit of"), std::string::npos);
  VcdReader::from_text(text);
  options.max_bytes = 100;
  EXPECT_THROW(WaveFile(machine.registry, temp("x.vcd"), options), arch::UserError);
}

TEST(ObserveWaves, TheEstimateIsAnUpperBound) {
  TestMachine machine(12, 1, 1);
  WaveOptions options = all_signals();
  options.to = 99;
  const std::string path = temp("estimate.vcd");
  WaveFile waves(machine.registry, path, options);
  EXPECT_EQ(waves.estimate().substr(0, 10), "14 signals");
  EXPECT_NE(waves.estimate().find("for the window; limit 4.29 GB"), std::string::npos) << waves.estimate();
  const std::vector<Signal> signals{{"a", 1, false}, {"b", 256, false}};
  EXPECT_EQ(VcdWriter::worst_bytes_per_cycle(signals), 22u + 3 + 260);
  std::remove(path.c_str());
}

TEST(ObserveWaves, TimeBaseIsExactAndDoesNotDrift) {
  EXPECT_EQ(TimeBase(1000).unit(), "1 ns");
  EXPECT_EQ(TimeBase(250).time(3), 12u);
  const TimeBase base(300);  // 3333 1/3 ps
  EXPECT_EQ(base.unit(), "1 ps");
  EXPECT_EQ(base.time(1), 3333u);
  EXPECT_EQ(base.time(3), 10000u);
  EXPECT_EQ(base.time(300'000'000ull * 3600), 3600ull * 1'000'000'000'000ull);
  EXPECT_THROW(TimeBase(0), arch::UserError);
  EXPECT_THROW(TimeBase(2e6), arch::UserError);
}

TEST(ObserveWaves, ManySignalsHaveDifferentIdentifiers) {
  std::vector<Signal> signals;
  for (unsigned i = 0; i < 94 * 94 + 200; ++i)
    signals.push_back({fmt::format("n{}.s{}", i % 97, i), 16, false});
  const std::string path = temp("ids.vcd");
  {
    VcdWriter writer(path);
    writer.header(signals, TimeBase(1000));
    writer.time(0);
    writer.begin_dump();
    for (unsigned i = 0; i < signals.size(); ++i) writer.change(i, i);
    writer.end_dump();
    writer.close(1);
  }
  const auto vcd = VcdReader::from_file(path);
  EXPECT_EQ(vcd.signals().size(), signals.size());
  for (unsigned i = 0; i < signals.size(); ++i) EXPECT_EQ(vcd.at(signals[i].path, 0), i);
  std::remove(path.c_str());
}

TEST(ObserveWaves, ARunThatThrowsLeavesAReadableFile) {
  TestMachine machine;
  const std::string path = temp("broken.vcd");
  try {
    WaveFile waves(machine.registry, path, all_signals());
    machine.engine.add(waves);
    machine.engine.run_until(40);
    machine.engine.remove(waves);
    throw arch::UserError("something went wrong");
  } catch (const arch::UserError&) {
  }
  const auto vcd = VcdReader::from_file(path);
  EXPECT_EQ(vcd.at("source@1,1.sent", 2 * 39), 4u);
  std::remove(path.c_str());
}

TEST(ObserveWaves, AFullDiskIsAnErrorWithTheFilesName) {
  std::ofstream probe("/dev/full");
  if (!probe) return;  // no such device here
  VcdWriter writer("/dev/full");
  writer.header(std::vector<Signal>{{"a", 1, false}}, TimeBase(1000));
  EXPECT_THROW(writer.close(1), arch::UserError);
  EXPECT_THROW(VcdWriter("/nonexistent/folder/waves.vcd"), arch::UserError);
}

// --- the ring

std::string ring_dump(TestMachine& machine, sim::Cycle keep, sim::Cycle end) {
  const std::string path = temp("ring.vcd");
  WaveRing ring(machine.registry, {"*"}, keep);
  machine.engine.add(ring);
  machine.engine.run_until(end);
  machine.engine.remove(ring);
  ring.dump(path, machine.engine.now(), 500);
  const std::string text = slurp(path);
  std::remove(path.c_str());
  return text;
}

TEST(ObserveWaveRing, HoldsWhatAFileOverTheLastCyclesHolds) {
  for (const sim::Cycle end : {5u, 20u, 64u, 100u, 333u}) {
    for (const sim::Cycle keep : {1u, 2u, 10u, 64u, 1000u}) {
      TestMachine a(12, 9, 7), b(12, 9, 7);
      WaveOptions options = all_signals();
      const auto ring = VcdReader::from_text(ring_dump(a, keep, end));
      const auto file = VcdReader::from_text(run_file(b, options, end));
      const sim::Cycle from = end > keep ? end - keep : 0;
      EXPECT_EQ(ring.times().front(), 2 * from);
      EXPECT_EQ(ring.times().back(), 2 * end);
      ASSERT_EQ(ring.signals().size(), file.signals().size());
      for (const auto& [name, signal] : file.signals())
        for (sim::Cycle c = from; c < end; ++c)
          EXPECT_EQ(ring.at(name, 2 * c), file.at(name, 2 * c))
              << name << " in cycle " << c << ", end " << end << ", keep " << keep;
    }
  }
}

TEST(ObserveWaveRing, IdleSkipOnAndOffGiveEqualBytes) {
  TestMachine fast(12, 70, 7, true), slow(12, 70, 7, false);
  EXPECT_EQ(ring_dump(fast, 200, 777), ring_dump(slow, 200, 777));
}

TEST(ObserveWaveRing, ALongRunKeepsMemoryBoundedAndTheEndRight) {
  TestMachine machine(200, 3, 1);
  const auto vcd = VcdReader::from_text(ring_dump(machine, 50, 20000));
  EXPECT_EQ(vcd.times().size(), 2u);  // everything was over long before
  EXPECT_EQ(vcd.at("source@1,1.sent", 2 * 19990), 200u);
  EXPECT_THROW(WaveRing(machine.registry, {}, 0), arch::UserError);
}

}  // namespace
}  // namespace ktpu::observe
