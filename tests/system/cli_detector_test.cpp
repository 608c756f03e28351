// SPDX-License-Identifier: Apache-2.0
// ktpu-sim as a process: what it tells of a program's mistakes, and of memory that is watched.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/system/cli.h"

namespace ktpu::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kEarly = R"(
  round "r"
  baseline (1,1)
  stage 0 {
    gemm gm=2 gn=2 nk=1
    drain n=4 to=0x4000
    fill a n=2 from=0x4000
  }
  credit 32
  kick (1,1) slots=0..2
  await (1,1) 3
)";

// One note on the screen, all of it in the report, status 7 if asked for.
TEST_F(Cli, AReadThatComesTooEarlyIsToldOnce) {
  const std::string program = assemble(kEarly);
  const Finished f = sim({"-t", "mesh1", program, "--stats", "s.json"});
  EXPECT_EQ(f.status, 0);
  EXPECT_THAT(f.err, AllOf(HasSubstr("warning"), HasSubstr("slot 2")));
  EXPECT_THAT(f.err, AllOf(HasSubstr("note: cycle "), HasSubstr("cluster@1,1"), HasSubstr("0x4000"),
                           HasSubstr("[read-landing]"), HasSubstr("fix: wait")));
  EXPECT_THAT(f.out, HasSubstr("x read-landing at "));
  const auto found = nlohmann::json::parse(slurp(folder / "s.json")).at("findings");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].at("id"), "read-landing");
  EXPECT_EQ(found[0].at("severity"), "note");
  EXPECT_GE(found[0].at("count"), 1);
  EXPECT_GE(found[0].at("first").at(0).at("cycle"), 1);
  EXPECT_EQ(sim({"-t", "mesh1", "-q", program, "--strict"}).status, 7);
  EXPECT_EQ(sim({"-t", "mesh1", "-q", program, "--strict", "--no-check"}).status, 0);
  const Finished clean = sim({"-t", "mesh1", worked, "--stats", "c.json"});
  EXPECT_EQ(clean.err, "");
  EXPECT_TRUE(nlohmann::json::parse(slurp(folder / "c.json")).at("findings").empty());
}

// A cycle is one of the unit's clock: the clock is named where it is not the fabric's.
TEST_F(Cli, AFindingNamesTheClockOfItsCycle) {
  const std::string program = assemble(
      "baseline (1,1)\nstage 0 {\n gemm gm=2 gn=2 nk=1 anchor=41 last\n}\ncredit 32\nkick (1,1) slots=0..0\n"
      "await (1,1) 1\nwrite PROG_LEN = 0\nwrite PROG_KICK = 1\n");
  const Finished f = sim({"-t", "cdc", program, "--no-lint", "--stats", "s.json"});
  EXPECT_EQ(f.status, 0) << f.err;
  EXPECT_THAT(f.err, AllOf(HasSubstr("note: cluster cycle "), HasSubstr("[gemm-anchor]"),
                           HasSubstr("note: cycle "), HasSubstr("[kick-empty]")));
  EXPECT_THAT(f.out, HasSubstr("x gemm-anchor at cluster@1,1, first in cluster cycle "));
  for (const auto& found : nlohmann::json::parse(slurp(folder / "s.json")).at("findings")) {
    const bool unit = found.at("id") == "gemm-anchor";
    EXPECT_EQ(found.contains("clock"), unit) << found.dump();
    if (unit) {
      EXPECT_EQ(found.at("clock"), "cluster");
    }
  }
  EXPECT_THAT(sim({"-t", "mesh8", program, "--no-lint"}).err, Not(HasSubstr("cluster cycle")));
}

TEST_F(Cli, ExplainNamesEveryFindingOfAReport) {
  EXPECT_THAT(
      sim({"--explain", "read-landing"}).out,
      AllOf(HasSubstr("orchestrator.md"), HasSubstr("effect:"), HasSubstr("fix:"), HasSubstr("--strict")));
  const Finished f = sim({"--explain", "read-landin"});
  EXPECT_EQ(f.status, 2);
  EXPECT_THAT(f.err, HasSubstr("'read-landing'"));
}

TEST_F(Cli, LintTakesTheSizesOfAMachine) {
  const std::string program = assemble(
      "stage 0 {\n  fill a n=1 from=0x0 last\n}\nbaseline (2,1)\ncredit 8\nkick (2,1) slots=0..0\n"
      "await (2,1) 1\n");
  const auto objdump = [&](const std::vector<std::string>& arguments) {
    return run("ktpu-objdump", arguments);
  };
  EXPECT_EQ(objdump({"--lint", program}).status, 0);
  const Finished f = objdump({"--lint", "-t", "mesh1", program});
  EXPECT_EQ(f.status, 2);
  EXPECT_THAT(f.out, AllOf(HasSubstr("[destination]"), HasSubstr("(2,1)")));
  EXPECT_EQ(objdump({"-t", "mesh1", program}).status, 2) << "only with --lint";
}

TEST_F(Cli, WatchedMemory) {
  const Finished f =
      sim({"-t", "mesh1", worked, "-q", "--watch-mem", "0x4000:64", "--watch-mem", "0x2000:1"});
  EXPECT_EQ(f.status, 0) << f.err;
  const auto count = [&](const std::string& text) {
    std::size_t n = 0;
    for (std::size_t at = f.out.find(text); at != std::string::npos; at = f.out.find(text, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("watch cycle"), 3u) << f.out;
  EXPECT_EQ(count(": write 0x4000..0x401f by cluster@1,1 through port 0: "), 1u) << f.out;
  EXPECT_EQ(count(": write 0x4020..0x403f by cluster@1,1 through port 0: "), 1u) << f.out;
  EXPECT_EQ(count(": read 0x2000..0x201f by cluster@1,1 through port 0: "), 1u) << f.out;
  // What it says was written is what is there.
  const Finished dump = sim({"-t", "mesh1", worked, "-q", "--dump", "0x4000:32"});
  const std::string bytes = dump.out.substr(dump.out.find(':') + 1);
  EXPECT_THAT(f.out, HasSubstr("through port 0:" + bytes));
  expect_refused({"-t", "mesh1", worked, "--watch-mem", "0x4000"}, {"--watch-mem 0x4000", "ADDRESS:BYTES"});
  expect_refused({"-t", "mesh1", worked, "--watch-mem", "0x4000:4:f"}, {"--watch-mem"});
  expect_refused({"-t", "mesh1", worked, "--watch-mem", "0xff00000000:4"},
                 {"--watch-mem 0xff00000000:4", "outside the DRAM"});
}

}  // namespace
}  // namespace ktpu::test
