// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "arch/error.h"
#include "tests/unit/observe/test_machine.h"
#include "tlm/observe/report.h"
#include "tlm/observe/standard_metrics.h"

namespace ktpu::observe {
namespace {

using test::TestMachine;

RunFacts facts(sim::Cycle cycles) {
  RunFacts f;
  f.cycles = cycles;
  f.clock_mhz = 250;
  f.machine_cycles = 80;
  f.manifest = {{"machine", "test, \"quoted\""}, {"program", "none"}};
  return f;
}

const Row& row(const std::vector<Row>& rows, std::string_view name) {
  for (const Row& r : rows)
    if (r.name == name) return r;
  throw std::runtime_error("no row " + std::string(name));
}

// 12 flits, one every 9 cycles from cycle 3 on: all have crossed the link by cycle 3 + 11 * 9 = 102.
struct Fixture {
  Fixture() : statistics(machine.registry) {
    machine.engine.run_until(200);
    statistics.set_facts(facts(200));
    add_standard(statistics);
  }
  TestMachine machine;
  Statistics statistics;
};

TEST(ObserveStatistics, RowsHoldFactsCountersAndMetrics) {
  Fixture f;
  f.statistics.add(
      Metric{Over::kUnits, "sink@*", "share", "%", "Share of flits served", "100 * served / run.cycles"});
  f.statistics.add(Metric{Over::kRun, "", "fabric.flits_per_cycle", "flits/cycle", "Mean over all links",
                          "sum(*.transferred) / run.cycles"});
  const std::vector<Row> rows = f.statistics.rows();
  EXPECT_EQ(row(rows, "run.cycles").count, 200u);
  EXPECT_EQ(row(rows, "run.machine_cycles").count, 80u);
  EXPECT_EQ(row(rows, "run.ns").value, 800);
  EXPECT_EQ(row(rows, "run.machine_ns").value, 320);
  EXPECT_EQ(row(rows, "run.total_ns").value, std::nullopt);  // the platform did not say
  EXPECT_EQ(row(rows, "source@1,1.flits").count, 12u);
  EXPECT_EQ(row(rows, "source@1,1.flits").unit, "flits");
  EXPECT_EQ(row(rows, "sink@2,1.share").value, 6);
  EXPECT_EQ(row(rows, "source@1,1.out.utilisation").value, 6);
  EXPECT_EQ(row(rows, "fabric.flits_per_cycle").value, 0.06);
  EXPECT_THROW(row(rows, "source@1,1.share"), std::runtime_error);  // the pattern is for sinks
  EXPECT_THROW(row(rows, "source@1,1.sent"), std::runtime_error);   // a register is no statistic
  for (const Row& r : rows) {
    EXPECT_FALSE(r.unit.empty()) << r.name;
    EXPECT_FALSE(r.sentence.empty()) << r.name;
    EXPECT_FALSE(r.formula.empty()) << r.name;
    EXPECT_FALSE(r.source.empty()) << r.name;
  }
}

TEST(ObserveStatistics, AMetricMayBuildOnAnEarlierOne) {
  Fixture f;
  f.statistics.add(Metric{Over::kLinks, "*", "twice", "%", "Twice the utilisation", "2 * utilisation"});
  EXPECT_EQ(row(f.statistics.rows(), "source@1,1.out.twice").value, 12);
}

TEST(ObserveStatistics, AFormulaThatNamesNothingIsABugUnlessOptional) {
  Fixture f;
  f.statistics.add(
      Metric{Over::kUnits, "*", "rate", "%", "Served a cycle", "100 * served / run.cycles", true});
  EXPECT_EQ(row(f.statistics.rows(), "sink@2,1.rate").value, 6);
  EXPECT_THROW(row(f.statistics.rows(), "source@1,1.rate"), std::runtime_error);
  f.statistics.add(Metric{Over::kUnits, "*", "broken", "%", "-", "severd"});
  EXPECT_THROW(f.statistics.rows(), arch::InternalError);
}

TEST(ObserveStatistics, MeshPrefixIsIgnoredWhenMatchingNodes) {
  Registry registry;
  sim::FlitLink link("m1.cluster@2,1.out", arch::kFlitBits);
  registry.add(link);
  Statistics statistics(registry);
  statistics.set_facts(facts(10));
  statistics.add(Metric{Over::kLinks, "cluster@*", "twice", "flits", "-", "2 * transferred"});
  link.transferred() = 21;
  EXPECT_EQ(row(statistics.rows(), "m1.cluster@2,1.out.twice").value, 42);
}

TEST(ObserveStatistics, InvariantsHoldAndAreReportedWhenBroken) {
  Fixture f;
  f.statistics.add(Invariant{Over::kRun, "", "flits_conserved", "A flit was lost or made up.",
                             "sum(source@*.flits)", "sum(sink@*.served) + sum(sink@*.fifo.count)"});
  f.statistics.add(Invariant{Over::kLinks, "*", "counted_twice", "The link and its sender disagree.",
                             "transferred", "source@1,1.flits"});
  EXPECT_TRUE(f.statistics.check().empty());
  f.machine.sink.served_ -= 2;
  const std::vector<Violation> broken = f.statistics.check();
  ASSERT_EQ(broken.size(), 1u);
  EXPECT_EQ(broken[0].name, "flits_conserved");
  EXPECT_EQ(broken[0].text(),
            "flits_conserved: sum(source@*.flits) (= 12) is not sum(sink@*.served) + sum(sink@*.fifo.count) "
            "(= 10). "
            "A flit was lost or made up.");
  f.machine.link.transferred() += 1;
  EXPECT_EQ(f.statistics.check().at(1).name, "source@1,1.out.counted_twice");
}

TEST(ObserveStatistics, AnInvariantMayBeABoundOrWaitUntilAllIsDone) {
  Fixture f;
  f.statistics.add(
      Invariant{.name = "bound", .left = "sum(*.served)", .right = "12", .relation = Relation::kAtMost});
  f.statistics.add(Invariant{.name = "later", .left = "1", .right = "2", .unless = "sum(*.served) - 11"});
  f.statistics.add(Invariant{.over = Over::kUnits,
                             .pattern = "*",
                             .name = "sinks_only",
                             .left = "served",
                             .right = "12",
                             .optional = true});
  EXPECT_TRUE(f.statistics.check().empty());
  --f.machine.sink.served_;
  ASSERT_EQ(f.statistics.check().size(), 2u);
  EXPECT_EQ(f.statistics.check()[0].name, "later");
  EXPECT_EQ(f.statistics.check()[1].name, "sink@2,1.sinks_only");
  f.machine.sink.served_ += 2;
  EXPECT_EQ(f.statistics.check()[0].text(), "bound: sum(*.served) (= 13) is more than 12 (= 12). ");
}

TEST(ObserveStatistics, FlitsInFlightCountInTheMiddleOfARun) {
  TestMachine machine(12, 1, 40);
  Statistics statistics(machine.registry);
  statistics.add(Invariant{Over::kRun, "", "flits_conserved", "-", "sum(source@*.flits)",
                           "sum(sink@*.served) + sum(sink@*.fifo.count)"});
  for (sim::Cycle end = 1; end < 60; ++end) {
    machine.engine.run_until(end);
    EXPECT_TRUE(statistics.check().empty()) << "cycle " << end;
  }
}

TEST(ObserveReport, HumanTableIsAlignedAndLeavesZerosOut) {
  Fixture f;
  const std::string text = human_table(f.statistics);
  EXPECT_NE(text.find("machine: test, \"quoted\"\n"), std::string::npos);
  EXPECT_NE(text.find("run.cycles                    200  cycles\n"), std::string::npos) << text;
  EXPECT_NE(text.find("source@1,1.out.utilisation      6  %\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("blocked"), std::string::npos) << text;
  EXPECT_NE(human_table(f.statistics, true).find("source@1,1.blocked"), std::string::npos);
}

TEST(ObserveReport, TheSummaryLeavesOutCountersAndLinksAndSaysHowMany) {
  Fixture f;
  f.statistics.add(
      Metric{Over::kUnits, "sink@*", "share", "%", "Share of flits served", "100 * served / run.cycles"});
  const std::string all = human_table(f.statistics);
  const std::string text = human_summary(f.statistics);
  EXPECT_NE(text.find("run.cycles"), std::string::npos) << text;
  EXPECT_NE(text.find("sink@2,1.share"), std::string::npos) << text;
  EXPECT_EQ(text.find("served"), std::string::npos) << text;
  EXPECT_EQ(text.find("out.utilisation"), std::string::npos) << text;
  const auto lines = [](const std::string& t) { return std::count(t.begin(), t.end(), '\n'); };
  EXPECT_NE(text.find(fmt::format("and {} more:", lines(all) - lines(text) + 1)), std::string::npos) << text;
}

TEST(ObserveReport, AFigureFromAnotherSourceSaysSo) {
  TestMachine machine;
  Registry registry;
  registry.add(machine.sink, "rtl");
  Statistics statistics(registry);
  ++machine.sink.served_;
  EXPECT_NE(human_table(statistics).find("sink@2,1.served      1  flits (rtl)\n"), std::string::npos)
      << human_table(statistics);
}

TEST(ObserveReport, JsonHoldsEveryRowInOrder) {
  Fixture f;
  const auto json = nlohmann::ordered_json::parse(json_report(f.statistics));
  EXPECT_EQ(json["manifest"]["machine"], "test, \"quoted\"");
  const std::vector<Row> rows = f.statistics.rows();
  ASSERT_EQ(json["statistics"].size(), rows.size());
  std::size_t i = 0;
  for (const auto& [name, value] : json["statistics"].items()) {
    EXPECT_EQ(name, rows[i].name);
    EXPECT_EQ(value["unit"], rows[i].unit);
    if (rows[i].is_count) {
      EXPECT_EQ(value["value"], rows[i].count) << name;
    } else if (rows[i].value) {
      EXPECT_DOUBLE_EQ(value["value"].get<double>(), *rows[i].value) << name;
    } else {
      EXPECT_TRUE(value["value"].is_null()) << name;
    }
    ++i;
  }
  EXPECT_TRUE(json["violations"].empty());
  f.statistics.add(Invariant{Over::kRun, "", "one_is_two", "It is not.", "1", "2"});
  EXPECT_EQ(nlohmann::json::parse(json_report(f.statistics))["violations"][0]["name"], "one_is_two");
}

TEST(ObserveReport, CsvQuotesWhatNeedsIt) {
  Fixture f;
  const std::string text = csv_report(f.statistics);
  EXPECT_EQ(text.substr(0, text.find('\n')), "name,value,unit,source,formula,sentence,priority");
  EXPECT_NE(text.find("\"sink@2,1.served\",12,flits,model,one a served flit,Flits taken out of the queue,\n"),
            std::string::npos)
      << text;
}

TEST(ObserveReport, CsvDoublesQuotes) {
  Fixture f;
  f.statistics.add(
      Metric{.name = "run.odd", .unit = "a,b", .sentence = "It says \"no\"", .formula = "1 / 2"});
  EXPECT_NE(csv_report(f.statistics).find("\nrun.odd,0.5,\"a,b\",model,1 / 2,\"It says \"\"no\"\"\",\n"),
            std::string::npos)
      << csv_report(f.statistics);
}

TEST(ObserveReport, EqualRunsGiveEqualBytesAlsoWithoutIdleSkip) {
  const auto run = [](bool idle_skip) {
    TestMachine machine(12, 9, 2, idle_skip);
    machine.engine.run_until(250);
    machine.engine.sync();
    Statistics statistics(machine.registry);
    statistics.set_facts(facts(250));
    add_standard(statistics);
    return human_table(statistics, true) + json_report(statistics) + csv_report(statistics);
  };
  const std::string first = run(true);
  EXPECT_EQ(run(true), first);
  EXPECT_EQ(run(false), first);
}

TEST(ObserveReport, WritesByExtension) {
  Fixture f;
  const std::string path = testing::TempDir() + "observe_report.csv";
  write_report(f.statistics, path);
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  EXPECT_EQ(text.str(), csv_report(f.statistics));
  std::remove(path.c_str());
  EXPECT_THROW(write_report(f.statistics, "stats.txt"), arch::UserError);
  EXPECT_THROW(write_report(f.statistics, "/nonexistent/folder/stats.json"), arch::UserError);
}

}  // namespace
}  // namespace ktpu::observe
