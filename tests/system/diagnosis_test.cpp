// SPDX-License-Identifier: Apache-2.0
// The table of docs/diagnosis.md, row by row: each cause as a program that has it, run to its end; verdict,
// cause, place and exit status must be those of the table. Then programs broken in ways the table does not
// list.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/system/diagnosis_rows.h"
#include "tests/system/process.h"

namespace ktpu::platform {
namespace {

using testing::HasSubstr;

class Diagnosis_Table : public testing::TestWithParam<Row> {};

TEST_P(Diagnosis_Table, Row) {
  const Row& row = GetParam();
  const RunResult r = run_text(row.program, row.sets, row.machine);
  std::string all = r.message;
  for (const std::string& note : r.notes) all += "\n" + note;
  EXPECT_EQ(verdict_name(r.verdict), verdict_name(row.verdict)) << all;
  EXPECT_EQ(static_cast<int>(r.status), row.status) << all;
  EXPECT_EQ(strict_status(r), row.strict) << all;
  if (row.verdict == Verdict::kStopped) return;
  EXPECT_EQ(r.cause, row.cause) << all;
  EXPECT_THAT(r.where, HasSubstr(row.where)) << all;
  if (row.verdict != Verdict::kFinished) {  // else the detector's note may stand for it
    EXPECT_THAT(all, HasSubstr(fmt::format("[{}]", row.cause)));
  }
  if (row.status == 4) {
    EXPECT_EQ(r.message.find("deadlock"), 0u) << all;
    EXPECT_THAT(r.message,
                testing::AllOf(HasSubstr("no progress since cycle"), HasSubstr("Who waits for whom:\n  ")));
    EXPECT_LT(r.cycles, 60'000u);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Diagnosis_Table, testing::ValuesIn(table()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Diagnosis, EveryCauseIsExplainedAndInTheTableOfTheDocs) {
  std::ifstream file(std::string(KTPU_SOURCE_DIR) + "/docs/diagnosis.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const Cause& cause : causes()) {
    EXPECT_THAT(text.str(), HasSubstr(fmt::format("| `{}` |", cause.id)));
    ASSERT_TRUE(explain_cause(cause.id).has_value());
    EXPECT_THAT(*explain_cause(cause.id), HasSubstr(std::string(cause.fix)));
  }
  EXPECT_FALSE(explain_cause("no-such-cause").has_value());
}

TEST(Diagnosis, AGoodProgramIsFinishedWithoutANote) {
  const RunResult r = run_text(job(kWorks, 4));
  EXPECT_EQ(r.status, ExitStatus::kOk) << r.message;
  EXPECT_EQ(r.verdict, Verdict::kFinished);
  EXPECT_THAT(r.notes, testing::IsEmpty());
}

// vector.md 10: without VHALT a kernel goes round the instruction memory and keeps the machine busy, which is
// no progress of the program; not either when nobody waits for it.
TEST(Diagnosis, AKernelWithoutHalt) {
  for (const bool awaited : {true, false}) {
    const RunResult r = run_text(kernel_without_halt(awaited), {}, "mesh8");
    EXPECT_EQ(r.status, ExitStatus::kNoProgress) << r.message;
    EXPECT_EQ(r.verdict, Verdict::kDeadlock) << r.message;
    EXPECT_EQ(r.cause, "kernel-without-halt") << r.message;
    EXPECT_EQ(r.where, "vector@3,1 sequencer");
    EXPECT_LT(r.cycles, 10'000u);
  }
}
// One that ends late is let go on.
TEST(Diagnosis, ALongKernelIsNoHang) {
  const RunResult r = run_text(kLongKernel, {}, "mesh8");
  EXPECT_EQ(r.status, ExitStatus::kOk) << r.message;
  EXPECT_GT(r.cycles, 20'000u);
}

// --- Saturation, deadlock, starvation and slow progress are different verdicts (report 15).

RunResult run_traffic(const std::string& yaml, RunLimits limits) {
  Registry units;
  apps::register_units(units);
  System system(topo::read_string(yaml, "t.yaml"), units);
  Runner runner(system, nullptr, limits);
  return runner.run();
}
// Three nodes around one router; what is at (1,1) is the sink.
std::string three(const std::string& sink, double rate) {
  return fmt::format(R"(version: 1
name: three
clock_mhz: 300
meshes:
  - grid:
      - [ ., src, . ]
      - [ src, sink, . ]
      - [ ., ., . ]
    router: {{fifo_depth: 4}}
    units:
      src: {{kind: traffic, pattern: uniform, rate: {}, seed: 1}}
      sink: {{{}}}
)",
                     rate, sink);
}

// The assembler refuses such a poll; a program made in code can have it.
TEST(Diagnosis, APollThatItsMaskExcludes) {
  arch::Program program = arch::assemble("poll CTRL & 0xf == 1\n", "row.kasm");
  std::get<arch::StepPoll>(program.steps.at(0).action).want = 0x10;
  Registry units;
  apps::register_units(units);
  System system(topo::read_file("mesh1"), units);
  Runner runner(system, &program, {400'000, 4000});
  const RunResult& r = runner.run();
  EXPECT_EQ(r.status, ExitStatus::kNoProgress) << r.message;
  EXPECT_EQ(r.cause, "poll-impossible") << r.message;
}

TEST(UserReport15, SaturationIsNoHangAndNamesTheHotLink) {
  const RunResult r = run_traffic(
      three("kind: traffic, pattern: uniform, rate: 0.9, seed: 2, busy: {period: 4, duty: 3}", 0.9),
      {20'000, 1000});
  EXPECT_EQ(r.status, ExitStatus::kCycleLimit) << r.message;
  EXPECT_EQ(r.verdict, Verdict::kSaturation) << r.message;
  EXPECT_THAT(r.message,
              testing::AllOf(HasSubstr("saturation"), HasSubstr(".in"), HasSubstr("flits a cycle")));
}

// The turn of a router's arbiter is a function of the cycle alone, of period 5 (fabric.md 7.2). A sink that
// opens for one cycle in five always opens at the same turn: one of two senders that never pause always wins.
std::string beating(const std::string& busy) {
  return fmt::format(R"(version: 1
name: beating
clock_mhz: 300
meshes:
  - grid:
      - [ ., src, . ]
      - [ src, sink, . ]
      - [ ., ., . ]
    router: {{fifo_depth: 4}}
    units:
      src: {{kind: traffic, pattern: hotspot, hotspot: "1,1", rate: 1, seed: 1}}
      sink: {{kind: traffic, busy: {{{}}}}}
)",
                     busy);
}

TEST(UserReport15, ASenderThatNeverGetsItsTurnIsStarved) {
  for (unsigned offset = 0; offset < 5; ++offset) {
    SCOPED_TRACE(offset);
    const RunResult r =
        run_traffic(beating(fmt::format("period: 5, duty: 4, offset: {}", offset)), {50'000, 2000});
    EXPECT_EQ(r.status, ExitStatus::kNoProgress) << r.message;
    EXPECT_EQ(r.verdict, Verdict::kStarvation) << r.message;
    EXPECT_EQ(r.message.find("starvation: at traffic@"), 0u) << r.message;
    EXPECT_THAT(r.message, testing::AllOf(HasSubstr("flit for (1,1) is not taken, while others are"),
                                          HasSubstr("fix: give it a share"),
                                          HasSubstr("no progress since cycle"), HasSubstr(" there")));
    EXPECT_LT(r.cycles, 6000u);
  }
}

// The same load with a sink of any other rhythm: each gets its share, and it is saturation.
TEST(UserReport15, ASinkOfAnotherRhythmStarvesNobody) {
  for (const char* busy : {"period: 4, duty: 3", "period: 6, duty: 5", "runs: [1, 4, 1, 3]"}) {
    const RunResult r = run_traffic(beating(busy), {20'000, 2000});
    EXPECT_EQ(r.status, ExitStatus::kCycleLimit) << busy << "\n" << r.message;
    EXPECT_EQ(r.verdict, Verdict::kSaturation) << busy << "\n" << r.message;
  }
}

// A program that waits for units that get nothing done while traffic goes on.
TEST(UserReport15, AProgramStarvedByTrafficIsNoDeadlock) {
  const auto run = [](unsigned offset) {
    const std::string yaml = fmt::format(R"(version: 1
name: crowded
clock_mhz: 300
meshes:
  - grid:
      - [ ., src, . ]
      - [ mem, sink, . ]
      - [ ., ., . ]
    router: {{fifo_depth: 4}}
    units:
      src: {{kind: traffic, pattern: hotspot, hotspot: "1,1", rate: 1, seed: 1}}
      sink: {{kind: traffic, busy: {{period: 5, duty: 4, offset: {}}}}}
      mem: {{kind: memory_port}}
    agent: {{staging_flits: 128, commands: 128}}
    dram: {{model: simple, bus_bits: 256, base: 0, size_mib: 16}}
host: {{kind: command_engine}}
)",
                                         offset);
    const arch::Program program =
        arch::assemble("stage 0 {\n" + repeat(64, "cluster op=0\n") +
                           "}\ncredit 64\nkick (1,1) slots=0..63\npoll PROG_STAT & 1 == 0\n",
                       "starved.kasm");
    Registry units;
    apps::register_units(units);
    System system(topo::read_string(yaml, "t.yaml"), units);
    Runner runner(system, &program, {60'000, 4000});
    return runner.run();
  };
  unsigned starved = 0;
  for (unsigned offset = 0; offset < 5; ++offset) {
    const RunResult r = run(offset);
    if (r.status != ExitStatus::kNoProgress) continue;  // the program's turn
    ++starved;
    EXPECT_EQ(r.verdict, Verdict::kStarvation) << r.message;
    EXPECT_EQ(r.message.find("starvation: the program waits for units that do nothing, while others go on"),
              0u)
        << r.message;
    EXPECT_THAT(r.message, testing::AllOf(HasSubstr("of what the program waits for"),
                                          HasSubstr("memory agent output"), HasSubstr("router@1,1")));
  }
  EXPECT_GT(starved, 0u);
  EXPECT_LT(starved, 5u) << "at one turn of five or more it is the program that wins";
}

TEST(UserReport15, ASinkThatNeverTakesIsADeadlock) {
  const RunResult r = run_traffic(three("kind: traffic, busy: {period: 4, duty: 4}", 0.5), {50'000, 2000});
  EXPECT_EQ(r.status, ExitStatus::kNoProgress) << r.message;
  EXPECT_THAT(r.message, HasSubstr("[sink-refuses]"));
}

TEST(UserReport15, SlowProgressSaysHowFarItCameAndHowLongItWillTake) {
  const RunResult r = run_text(job(kWorks, 4) + job(kWorks, 4), {"meshes.0.dram.first_read_beat=2000"},
                               "mesh1", {9000, 100'000});
  EXPECT_EQ(r.status, ExitStatus::kCycleLimit) << r.message;
  EXPECT_EQ(r.verdict, Verdict::kSlow) << r.message;
  EXPECT_THAT(r.message,
              testing::AllOf(HasSubstr("slow"), HasSubstr("steps done"), HasSubstr("cycles to go")));
}

// --- The same through the tool.

class DiagnosisProcess : public test::Workshop {};

TEST_F(DiagnosisProcess, TheVerdictStandsFirstAndInTheStatistics) {
  const std::string hang = assemble(job(kWorks, 4, "", 0));
  const test::Finished f =
      sim({"-t", "mesh1", hang, "-q", "--no-lint", "--watchdog", "4000", "--stats", "s.json"});
  EXPECT_EQ(f.status, 4) << f.err;
  EXPECT_EQ(f.err.find("ktpu-sim: deadlock: [credit-never-seeded]"), 0u) << f.err;
  EXPECT_THAT(test::slurp(folder / "s.json"),
              testing::AllOf(HasSubstr("\"verdict\": \"deadlock\""),
                             HasSubstr("\"cause\": \"credit-never-seeded\"")));
  EXPECT_EQ(sim({"-t", "mesh1", hang, "-q", "--no-lint", "--watchdog", "4000", "--strict"}).status, 4);
}

TEST_F(DiagnosisProcess, OrphansAreANoteAndAnErrorWhenStrict) {
  const std::string orphan =
      assemble(mail(write_request(8)) + mail(plain({0, 1}, {0, 1}, arch::FlitType::kMemWrData, false)));
  const test::Finished f = sim({"-t", "mesh1", orphan, "-q", "--no-lint"});
  EXPECT_EQ(f.status, 0) << f.err;
  EXPECT_THAT(f.err, testing::AllOf(HasSubstr("finished-with-orphans: [write-burst-short]"),
                                    HasSubstr("1 of 8 data flits")));
  EXPECT_EQ(sim({"-t", "mesh1", orphan, "-q", "--no-lint", "--strict"}).status, 7);
}

TEST_F(DiagnosisProcess, StarvationAndSaturationHaveStatuses4And5) {
  test::spill(folder / "starved.yaml", beating("period: 5, duty: 4"));
  test::spill(folder / "full.yaml", beating("period: 4, duty: 3"));
  for (const bool strict : {false, true}) {
    const auto run = [&](const char* machine) {
      std::vector<std::string> line{"-t", machine, "-q", "--watchdog", "2000", "--max-cycles", "20000"};
      if (strict) line.emplace_back("--strict");
      return sim(line);
    };
    const test::Finished starved = run("starved.yaml");
    EXPECT_EQ(starved.status, 4) << starved.err;
    EXPECT_EQ(starved.err.find("ktpu-sim: starvation: at traffic@"), 0u) << starved.err;
    const test::Finished full = run("full.yaml");
    EXPECT_EQ(full.status, 5) << full.err;
    EXPECT_EQ(full.err.find("ktpu-sim: saturation: "), 0u) << full.err;
  }
}

// Every row of the table: what the tool says and ends with, plain and with --strict.
TEST_F(DiagnosisProcess, EveryRowThroughTheTool) {
  for (const Row& row : table()) {
    SCOPED_TRACE(row.name);
    const std::string program = assemble(row.program);
    std::vector<std::string> line{"-t", row.machine, program, "-q", "--no-lint", "--watchdog", "4000"};
    for (const std::string& set : row.sets) line.insert(line.end(), {"--set", set});
    const test::Finished plain_run = sim(line);
    EXPECT_EQ(plain_run.status, row.status) << plain_run.err;
    EXPECT_THAT(plain_run.err, HasSubstr(row.status == 4   ? "ktpu-sim: deadlock: "
                                         : row.status == 0 ? "ktpu-sim: note: "
                                                           : "ktpu-sim: "));
    if (row.status == 4) {
      EXPECT_THAT(plain_run.err, HasSubstr(fmt::format("[{}]", row.cause)));
    }
    line.emplace_back("--strict");
    EXPECT_EQ(sim(line).status, row.strict);
  }
}

TEST_F(DiagnosisProcess, ACauseIsExplained) {
  const test::Finished f = sim({"--explain", "fill-of-256"});
  EXPECT_EQ(f.status, 0) << f.err;
  EXPECT_THAT(f.out,
              testing::AllOf(HasSubstr("fill-of-256"), HasSubstr("at most 255"), HasSubstr("cluster.md")));
}

}  // namespace
}  // namespace ktpu::platform
