// SPDX-License-Identifier: Apache-2.0
// Histories: the same as looking in every cycle, whatever is skipped, in bounded memory.
#include "tlm/observe/history.h"

#include <gtest/gtest.h>

#include "tests/unit/observe/test_machine.h"
#include "tlm/observe/report.h"

namespace ktpu::observe {
namespace {

using test::TestMachine;

struct Recorded {
  Recorded(sim::Cycle cycles, bool idle_skip, const std::vector<std::string>& patterns)
      : machine(40, 9, 13, idle_skip), history(machine.registry, machine.engine, patterns) {
    machine.engine.add(history);
    machine.engine.run_until(cycles);
    machine.engine.sync();
    history.finish(cycles);
  }
  const History::Series& of(const std::string& name) const {
    for (const History::Series& s : history.series())
      if (s.entry->path == name) return s;
    throw std::runtime_error(name);
  }
  TestMachine machine;
  History history;
};

TEST(ObserveHistory, BucketsHoldWhatAWatcherOfEveryCycleSees) {
  constexpr sim::Cycle kCycles = 1500;  // buckets of 4
  Recorded r(kCycles, true, {"sink@2,1", "source@1,1.out"});
  EXPECT_EQ(r.history.width(), 4u);
  TestMachine plain(40, 9, 13, false);
  const Entry& count = plain.registry.at("sink@2,1.queue_side.fifo.count");
  const Entry& valid = plain.registry.at("source@1,1.out.valid");
  const Entry& served = plain.registry.at("sink@2,1.served");
  const auto& counts = r.of(count.path).buckets;
  const auto& valids = r.of(valid.path).buckets;
  const auto& serves = r.of(served.path).buckets;
  ASSERT_EQ(counts.size(), (kCycles + 3) / 4);
  // A register's value in cycle t is that after t cycles; a wire's is settled within it.
  std::vector<std::uint64_t> at_count;
  struct Watcher final : sim::Observer {
    const Entry& wire;
    std::vector<std::uint64_t> seen;
    explicit Watcher(const Entry& e) : wire(e) {}
    void on_cycle(sim::Cycle) override { seen.push_back(wire.read()); }
  } watcher(valid);
  plain.engine.add(watcher);
  std::uint64_t before = 0;
  for (std::size_t b = 0; b < counts.size(); ++b) {
    std::uint64_t least = ~0ull, greatest = 0, sum = 0, valid_sum = 0;
    for (unsigned c = 0; c < 4; ++c) {
      const std::uint64_t value = count.read();
      least = std::min(least, value);
      greatest = std::max(greatest, value);
      sum += value;
      plain.engine.step();
      valid_sum += watcher.seen.back();
    }
    EXPECT_EQ(counts[b].least, least) << b;
    EXPECT_EQ(counts[b].greatest, greatest) << b;
    EXPECT_EQ(counts[b].sum, static_cast<double>(sum)) << b;
    EXPECT_EQ(valids[b].sum, static_cast<double>(valid_sum)) << b;
    EXPECT_EQ(serves[b].sum, static_cast<double>(served.read() - before)) << b;
    before = served.read();
  }
}

TEST(ObserveHistory, IdleSkipChangesNothing) {
  for (const sim::Cycle cycles : {1u, 2u, 511u, 512u, 513u, 3000u, 100'000u}) {
    Recorded a(cycles, true, {"*"}), b(cycles, false, {"*"});
    ASSERT_EQ(a.history.width(), b.history.width());
    for (std::size_t i = 0; i < a.history.series().size(); ++i) {
      const History::Series &x = a.history.series()[i], &y = b.history.series()[i];
      ASSERT_EQ(x.buckets.size(), y.buckets.size()) << x.entry->path;
      for (std::size_t k = 0; k < x.buckets.size(); ++k) {
        EXPECT_EQ(x.buckets[k].sum, y.buckets[k].sum) << x.entry->path << " " << k << " of " << cycles;
        EXPECT_EQ(x.buckets[k].least, y.buckets[k].least) << x.entry->path;
        EXPECT_EQ(x.buckets[k].greatest, y.buckets[k].greatest) << x.entry->path;
        EXPECT_EQ(x.buckets[k].cycles, y.buckets[k].cycles) << x.entry->path;
      }
    }
  }
}

TEST(ObserveHistory, MemoryIsBoundedAndNothingIsLostByMerging) {
  Recorded r(1'000'000, true, {"sink@2,1.served", "sink@2,1.queue_side.fifo.count"});
  EXPECT_EQ(r.history.width(), 2048u);
  for (const History::Series& s : r.history.series()) {
    EXPECT_LE(s.buckets.size(), History::kBuckets);
    sim::Cycle covered = 0;
    double sum = 0;
    for (const History::Bucket& bucket : s.buckets) {
      covered += bucket.cycles;
      sum += bucket.sum;
    }
    EXPECT_EQ(covered, 1'000'000u) << s.entry->path;
    if (s.counts) {
      EXPECT_EQ(sum, 40.0);
    }
  }
}

TEST(ObserveHistory, OnlyWhatCanBeRecordedIsTakenAndWrongNamesAreRefused) {
  TestMachine machine;
  EXPECT_THROW(History(machine.registry, machine.engine, {"sink@2,1.table"}), arch::UserError);
  EXPECT_THROW(History(machine.registry, machine.engine, {"snik*"}), arch::UserError);
  History all(machine.registry, machine.engine, {"*"});
  for (const History::Series& s : all.series()) {
    EXPECT_NE(s.entry->kind, EntryKind::kMemory);
    EXPECT_LE(s.entry->width, 64u);
  }
}

TEST(ObserveHistory, IsInBothReports) {
  Recorded r(700, true, {"source@1,1.out.transferred", "sink@2,1.queue_side.fifo.count"});
  Statistics statistics(r.machine.registry);
  statistics.set_history(&r.history);
  const std::string json = json_report(statistics), csv = csv_report(statistics);
  EXPECT_NE(json.find("\"bucket_cycles\": 2"), std::string::npos);
  EXPECT_NE(json.find("\"unit\": \"flits/cycle\""), std::string::npos);
  EXPECT_NE(csv.find("\n\"history:source@1,1.out.transferred[0..1]\","), std::string::npos)
      << csv.substr(0, 3000);
}

}  // namespace
}  // namespace ktpu::observe
