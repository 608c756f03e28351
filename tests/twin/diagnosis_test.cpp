// SPDX-License-Identifier: Apache-2.0
// Programs that stand, on machines that are RTL or in lock-step: in lock-step the models tell what they tell
// alone; of RTL the run ends the same, with words that say what is not told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/system/diagnosis_rows.h"

namespace ktpu::platform {
namespace {

using testing::HasSubstr;

constexpr RunLimits kLimits{400'000, 4000};

// A fault that the memory agent's model sees and its RTL does not.
bool needs_the_model(const Row& row) { return row.status == 3; }

class Diagnosis_Twin : public testing::TestWithParam<Row> {};

TEST_P(Diagnosis_Twin, InLockstep) {
  const Row& row = GetParam();
  const RunResult r = run_text(row.program, row.sets, row.machine, kLimits, "*=lockstep");
  EXPECT_EQ(static_cast<int>(r.status), row.status) << r.message;
  EXPECT_EQ(verdict_name(r.verdict), verdict_name(row.verdict)) << r.message;
  if (row.verdict == Verdict::kStopped) return;
  EXPECT_EQ(r.cause, row.cause) << r.message;
  EXPECT_THAT(r.where, HasSubstr(row.where)) << r.message;
}

TEST_P(Diagnosis_Twin, Rtl) {
  const Row& row = GetParam();
  if (needs_the_model(row)) GTEST_SKIP();
  const RunResult r = run_text(row.program, row.sets, row.machine, kLimits, "*=rtl");
  EXPECT_EQ(static_cast<int>(r.status), row.status) << r.message;
  if (row.status != 4) return;
  EXPECT_EQ(r.message.find("deadlock: ["), 0u) << r.message;
  EXPECT_THAT(r.message, HasSubstr("Who waits for whom:\n  "));
  // Never what only a model can know.
  EXPECT_THAT(r.cause, testing::AnyOf("rtl-untold", "circular-wait")) << r.message;
}

TEST(Diagnosis, ALongKernelIsNoHangInRtlEither) {
  for (const char* impl : {"*=rtl", "*=lockstep"}) {
    const RunResult r = run_text(kLongKernel, {}, "mesh8", kLimits, impl);
    EXPECT_EQ(r.status, ExitStatus::kOk) << impl << ": " << r.message;
    EXPECT_GT(r.cycles, 20'000u);
  }
}

// vector.md 10, as in Diagnosis.AKernelWithoutHalt on models. Of RTL alone its events tell.
TEST(Diagnosis, AKernelWithoutHaltInRtl) {
  const auto since = [](const std::string& message) {
    const std::size_t at = message.find("no VHALT");
    const std::size_t from = message.find("(since cycle ", at);
    return at == std::string::npos || from == std::string::npos
               ? "none: " + message
               : message.substr(from, message.find(')', from) - from);
  };
  for (const bool awaited : {true, false}) {
    const std::string start =
        since(run_text(kernel_without_halt(awaited), {}, "mesh8", {400'000, 30'000}, "*=model").message);
    EXPECT_THAT(start, testing::StartsWith("(since cycle"));
    for (const char* impl : {"*=rtl", "vector=rtl", "*=lockstep"}) {
      SCOPED_TRACE(fmt::format("{} awaited {}", impl, awaited));
      const RunResult r = run_text(kernel_without_halt(awaited), {}, "mesh8", {400'000, 30'000}, impl);
      EXPECT_EQ(r.status, ExitStatus::kNoProgress) << r.message;
      EXPECT_EQ(r.cause, "kernel-without-halt") << r.message;
      EXPECT_EQ(r.where, "vector@3,1 sequencer");
      EXPECT_EQ(since(r.message), start);
      EXPECT_LT(r.cycles, 100'000u);
    }
  }
}

// FAULT signals of a cluster (a CU_DATA burst for a buffer that does not exist; the next retirement tells)
// and of a vector core (a loop in a loop): they end a run of RTL alone with the same status, cycle and node.
TEST(Diagnosis, FaultSignalsInRtl) {
  struct Case {
    const char *machine, *node, *program;
  };
  for (const Case& c : {Case{"mesh1", "cluster@1,1", R"(
    write TX_FLIT[3] = 0x0900000000000000
    write TX_FLIT[4] = 0x11018020
    write TX_KICK = 1
    write TX_FLIT[4] = 0x11018028
    write TX_KICK = 1
    stage 0 {
      fill a n=1 from=0x0 txn=1
    }
    credit 32
    kick (1,1) slots=0..0
    poll SIG_DONE & 0xffff == 1
  )"},
                        Case{"mesh8", "vector@3,1", R"(
    unit vector_core (3,1)
    baseline (3,1)
    stage 0 {
    kernel {
     go:
     VSETI S0, int 3
     VLOOP S0, outer
     VLOOP S0, inner
     VMOV v0, v1
     inner:
     outer:
     VHALT
    }
    run go last
    }
    credit 7
    kick (3,1) slots=0..6
    await (3,1) 7
  )"}}) {
    const RunResult model = run_text(c.program, {}, c.machine, kLimits, "*=model");
    EXPECT_EQ(model.status, ExitStatus::kUnitFault) << model.message;
    for (const char* impl : {"*=rtl", "*=lockstep"}) {
      SCOPED_TRACE(fmt::format("{} {}", c.machine, impl));
      const RunResult r = run_text(c.program, {}, c.machine, kLimits, impl);
      EXPECT_EQ(r.status, ExitStatus::kUnitFault) << r.message;
      EXPECT_EQ(r.cycles, model.cycles);
      EXPECT_THAT(r.message, testing::AllOf(HasSubstr("fault"), HasSubstr(c.node), HasSubstr("cycle")))
          << r.message;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Diagnosis_Twin, testing::ValuesIn(table()),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace ktpu::platform
