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

INSTANTIATE_TEST_SUITE_P(All, Diagnosis_Twin, testing::ValuesIn(table()),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace ktpu::platform
