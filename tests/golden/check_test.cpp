// SPDX-License-Identifier: Apache-2.0
// The replayer itself (design.md section 9): which kind a row is, that a wrong value is seen wherever it
// stands, and that nothing is left out in silence.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "apps/ktpu-check/check_file.h"
#include "apps/ktpu-check/implementations.h"
#include "apps/ktpu-check/kinds.h"
#include "apps/ktpu-check/rows.h"
#include "apps/ktpu-check/sha256.h"

namespace ktpu::check {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class CheckFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / ("ktpu_check_" + std::to_string(::getpid()) + info->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path;
  }
  FileResult run(const std::string& name, const std::string& text) {
    return check_file(write(name, text), 10);
  }

  fs::path folder_;
};

std::string field_of(const FileResult& result) {
  return result.differing.empty() ? "" : result.differing[0].differences.kept()[0].field;
}

// One flit from the west border to the local port next to it: one router (fabric.md section 7.3).
const json kOneRouter{
    {"kind", "latency"}, {"src", {0, 1}}, {"dst", {1, 1}}, {"routers", 1}, {"accept_to_deliver", 5}};
// A no-op dispatched to the cluster (orchestrator.md section 5 and cluster.md section 13.3).
const json kDispatch{
    {"kind", "direct_injection"}, {"target", "cluster"}, {"routers", 2},    {"flits", 1},
    {"instruction", "no-op"},     {"inject", {0}},       {"unit_in", {10}}, {"unit_signal_out", {19}},
    {"signal_back", {29}}};

TEST_F(CheckFile, RowsThatHoldAreEqual) {
  const FileResult noc = run("rtl/noc.jsonl", kOneRouter.dump() + "\n\n" + kOneRouter.dump());
  EXPECT_EQ(noc.rows, 2u);
  EXPECT_EQ(noc.equal, 2u) << field_of(noc);
  EXPECT_EQ(run("rtl/cycles_dispatch.jsonl", kDispatch.dump()).equal, 1u);
}

TEST_F(CheckFile, AWrongValueIsSeenWhereverItStands) {
  for (const char* field : {"routers", "inject", "unit_in", "unit_signal_out", "signal_back"}) {
    json row = kDispatch;
    json& value = row[field].is_array() ? row[field][0] : row[field];
    value = value.get<int>() + 1;
    const FileResult result = run("rtl/cycles_dispatch.jsonl", row.dump());
    EXPECT_EQ(result.equal, 0u) << field;
    EXPECT_EQ(field_of(result).rfind(field, 0), 0u) << field_of(result);
  }
}

TEST_F(CheckFile, AFieldNobodyMeasuresIsADifference) {
  json row = kOneRouter;
  row["colour"] = 3;
  const FileResult result = run("rtl/noc.jsonl", row.dump());
  EXPECT_EQ(result.equal, 0u);
  EXPECT_EQ(field_of(result), "colour");
}

TEST_F(CheckFile, BusyRunsDelayTheDelivery) {
  json row{{"kind", "trace"}, {"name", "runs"}, {"fifo_depth", 16}, {"flits", {{0, 1, 1, 1, 60, 60, 65}}}};
  EXPECT_EQ(run("rtl/noc.jsonl", row.dump()).equal, 1u);
  json runs = json::array();
  for (int e = 0; e < 21; ++e) runs.push_back(json::array());
  runs[0] = {60, 10, 1000};  // the sink at (1,1) is busy in cycles 60..69
  row["sink_busy_runs"] = runs;
  EXPECT_EQ(run("rtl/noc.jsonl", row.dump()).equal, 0u);
  row["flits"][0][6] = 70;
  EXPECT_EQ(run("rtl/noc.jsonl", row.dump()).equal, 1u);
  row.erase("kind");
  EXPECT_EQ(run("more/held_out.jsonl", row.dump()).equal, 1u);  // known by what it carries
  row["sink_busy_runs"] = 5;
  EXPECT_EQ(field_of(run("rtl/noc.jsonl", row.dump())), "(row)");
}

TEST_F(CheckFile, FolderNameAndEndingsDoNotMatterWhenTheFieldsTell) {
  EXPECT_EQ(run("more/held_out.jsonl", kOneRouter.dump()).equal, 1u);
  EXPECT_EQ(run("more/held_out.json", kDispatch.dump()).equal, 1u);
  EXPECT_EQ(run("more/e.jsonl", R"({"fp16":"3c00","e8m15":"3f8000"})").equal, 1u);
}

TEST_F(CheckFile, ReadsCompressedFiles) {
  const fs::path path = folder_ / "noc.jsonl.gz";
  const std::string text = kOneRouter.dump() + "\n";
  gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  EXPECT_EQ(check_file(path, 1).equal, 1u);
}

TEST_F(CheckFile, LaterKindsAreRefusedByNameAndNotEqual) {
  const struct {
    const char* name;
    const char* text;
  } files[]{{"controller/random.jsonl", R"({"rl":1,"wl":1,"quirks":[]})"},
            {"compiler/live/matmul/x.json", R"({"id":"x","path":"y"})"}};
  for (const auto& file : files) {
    const FileResult result = run(file.name, file.text);
    EXPECT_EQ(result.rows, 1u) << file.name;
    EXPECT_EQ(result.equal, 0u) << file.name;
    ASSERT_EQ(result.remarks.size(), 1u) << file.name;
    EXPECT_NE(result.remarks[0].find("not supported by this version"), std::string::npos)
        << result.remarks[0];
  }
}

// One object with `rows`: each counts, and the kind is that of the file's id, whichever part it is.
TEST_F(CheckFile, CompilerRowsAreTakenOneByOne) {
  const std::string rows =
      R"("rows":[{"instances":2,"units":4,"where":[0,1]},{"instances":2,"units":1,"where":[0,1]}]})";
  for (const std::string part : {"_a", "_b", ""}) {
    const FileResult result = run(
        "x.json", fmt::format(R"({{"id":"misc/dispatch/cost_model_deal{}","path":"live",{})", part, rows));
    EXPECT_EQ(result.rows, 2u);
    EXPECT_EQ(result.equal, 1u);
    ASSERT_EQ(result.differing.size(), 1u);
    EXPECT_EQ(result.differing[0].number, 2u);
    EXPECT_EQ(field_of(result), "where[1]");
  }
  const FileResult unknown = run("x.json", fmt::format(R"({{"id":"misc/deal/x","path":"live",{})", rows));
  EXPECT_EQ(unknown.equal, 0u);
  ASSERT_EQ(unknown.remarks.size(), 1u);
  EXPECT_NE(unknown.remarks[0].find("needs the compiler"), std::string::npos);
}

// What stands beside the rows of such a file belongs to each of them.
TEST_F(CheckFile, CompilerRowsShareWhatTheirFileSays) {
  const std::string text =
      R"({"id":"retired/tile/table_even","path":"retired",)"
      R"("targets":{"t":{"tiles":4,"l1_a":8,"l1_b":8,"banks":2}},)"
      R"("rows":[{"target":"t","M":8,"N":8,"K":32,"gm":2,"gn":2},{"target":"t","M":8,"N":8,"K":32,"gm":1}]})";
  const FileResult result = run("x.json", text);
  EXPECT_EQ(result.rows, 2u);
  EXPECT_EQ(result.equal, 1u);
  ASSERT_EQ(result.differing.size(), 1u);
  EXPECT_EQ(field_of(result), "gm");
}

TEST_F(CheckFile, ARefusedRowThatRecordsNothingIsNotEqual) {
  const auto row = [&](const std::string& name) {
    return run("x.json", fmt::format(R"({{"id":"misc/framework/passes_a","path":"live",)"
                                     R"("rows":[{{"name":"{}","status":"refused"}}]}})",
                                     name));
  };
  EXPECT_EQ(row("staging_bound").equal, 1u);
  EXPECT_EQ(row("pinned_bad").equal, 1u);
  EXPECT_EQ(row("no_such_thing").equal, 0u);
}

TEST_F(CheckFile, BadFilesAndRowsAreReported) {
  EXPECT_EQ(run("rtl/noc.jsonl", "{\"kind\":").equal, 0u);
  EXPECT_EQ(run("rtl/noc.jsonl", "[1,2]").equal, 0u);
  EXPECT_EQ(run("rtl/noc.jsonl", R"({"kind":"latency","src":[0],"dst":[1,1]})").equal, 0u);
  EXPECT_EQ(run("odd/odd.jsonl", R"({"a":1})").remarks.size(), 1u);
  EXPECT_FALSE(run("rtl/noc.jsonl", "\n").error.empty());
  EXPECT_FALSE(check_file(folder_ / "absent.json", 1).error.empty());
  EXPECT_TRUE(check_file(folder_ / "index.json", 1).ignored);
  EXPECT_TRUE(check_file(folder_ / "README.md", 1).ignored);
  EXPECT_TRUE(check_file(folder_ / "a.csv", 1).ignored);
}

// A row on which no twin ran must not pass for one.
TEST_F(CheckFile, TellsWhatTheRowsRanOn) {
  EXPECT_TRUE(run("rtl/noc.jsonl", kOneRouter.dump()).ran_on.empty());
  set_implementations({"vector=rtl"});
  const FileResult other = run("rtl/noc.jsonl", kOneRouter.dump());
  EXPECT_EQ(other.ran_on, (std::map<std::string, std::size_t>{{"without RTL: model: router", 1}}));
  EXPECT_EQ(other.with_twin, 0u);
  EXPECT_EQ(unused_implementation(), "vector=rtl");
  set_implementations({"router@1,1=rtl"});
  const FileResult one = run("rtl/noc.jsonl", kOneRouter.dump());
  EXPECT_EQ(one.ran_on, (std::map<std::string, std::size_t>{{"on rtl: router", 1}}));
  EXPECT_EQ(one.with_twin, 1u);
  EXPECT_EQ(unused_implementation(), "");
  const FileResult speed = run("rtl/sim_speed.jsonl", R"({"design":"a","cycles_per_cpu_second":1})");
  EXPECT_EQ(speed.with_twin, 0u);
  EXPECT_EQ(speed.ran_on,
            (std::map<std::string, std::size_t>{{"without RTL: nothing of them runs on a unit", 1}}));
  set_implementations({});
}

TEST(Sha256, KnownDigest) {  // the empty message, FIPS 180-4
  EXPECT_EQ(sha256_hex({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

}  // namespace
}  // namespace ktpu::check
