// SPDX-License-Identifier: Apache-2.0
// Policy compat beyond the recorded cases: where the reference refuses, and what it takes (compiler.md
// sections 15, 16 and 25).
#include <gtest/gtest.h>

#include "compiler/base/refusal.h"
#include "compiler/driver/compile.h"
#include "compiler/kernels/kernels.h"

namespace ktpu::driver {
namespace {

using kernel::Knobs;
using Shapes = std::map<std::string, kernel::Shape>;

// "sim 6+4" of section 2.
UnitList units() {
  UnitList all;
  all.clusters = {{1, 1}, {1, 2}, {1, 3}, {2, 1}, {2, 2}, {2, 3}};
  all.vector_cores = {{1, 0}, {1, 4}, {2, 0}, {2, 4}};
  all.agent = arch::Coord{1, 1};
  return all;
}
Compiled compiled(const char* kernel, const Shapes& inputs, const Knobs& knobs = {},
                  schedule::Policy policy = schedule::Policy::kCompat, const UnitList& on = units()) {
  Options options;
  options.policy = policy;
  return compile(*kernels::find(kernel), inputs, knobs, make_machine("6+4", on, {}, {128, 128, 512}),
                 options);
}

// "before CODE", "placed CODE" for an operand in memory by then, or "taken".
std::string refusal(const char* kernel, const Shapes& inputs, const Knobs& knobs = {},
                    schedule::Policy policy = schedule::Policy::kCompat, const UnitList& on = units()) {
  try {
    compiled(kernel, inputs, knobs, policy, on);
  } catch (const base::Refusal& r) {
    return (base::before_placing(r.phase()) ? "before " : "placed ") + r.code();
  }
  return "taken";
}

TEST(DriverCompat, RefusedBeforeAnyOperandIsPlaced) {
  const kernel::Shape rows{40, 24};
  EXPECT_EQ(refusal("custom.k_nested", {{"a", {32, 64}}, {"b", {32, 64}}}), "before TILE_SWEPT_IN_TWO_LOOPS");
  EXPECT_EQ(refusal("custom.k_hazard", {{"x", rows}}), "before HAZARD");
  EXPECT_EQ(refusal("ops.silu", {{"x", {257}}}, {{"part", 0}}), "before KNOB_NOT_POSITIVE");
  // 12 values do not divide their 128 padded copies, 16 do.
  EXPECT_EQ(refusal("kernels.linear_bias", {{"x", {32, 64}}, {"w", {12, 64}}, {"b", {12}}}),
            "before SPREAD_OF_PADDED");
  EXPECT_EQ(refusal("kernels.linear_bias", {{"x", {32, 64}}, {"w", {16, 64}}, {"b", {16}}}), "taken");
  // A block of another width than the values.
  EXPECT_EQ(refusal("kernels.flash_attention", {{"q", {64, 32}}, {"k", {64, 32}}, {"v", {64, 64}}},
                    {{"block", 32}, {"nk", 1}}),
            "before REACH_DIFFERS");
  UnitList without = units();
  without.vector_cores.clear();
  EXPECT_EQ(refusal("kernels.softmax", {{"x", {4, 8}}}, {}, schedule::Policy::kCompat, without),
            "before UNIT_ABSENT");
  without = units();
  without.agent.reset();
  EXPECT_EQ(refusal("kernels.linear_bias", {{"x", {32, 64}}, {"w", {32, 64}}, {"b", {32}}}, {},
                    schedule::Policy::kCompat, without),
            "before SIDE_OPERAND_CANNOT_STAGE");
}

TEST(DriverCompat, RefusedWithOperandsPlaced) {
  const kernel::Shape rows{40, 24};
  EXPECT_EQ(refusal("custom.k_cmp_alone", {{"a", rows}, {"b", rows}}), "placed LONE_COMPARE");
  EXPECT_EQ(refusal("custom.k_four", {{"a", rows}, {"b", rows}, {"c", rows}, {"d", rows}}),
            "placed OPERANDS");
  // A vector read under an index is the same for every row: 960 elements are no whole RUN, 1024 are.
  EXPECT_EQ(refusal("custom.k_barriers", {{"x", rows}}), "placed SPREAD_SHAPE");
  EXPECT_EQ(refusal("custom.k_barriers", {{"x", {32, 32}}}), "taken");
  EXPECT_EQ(refusal("kernels.softmax", {{"x", {100, 96}}}), "placed PART_CUTS_ROW");
  EXPECT_EQ(refusal("ops.row_sum", {{"x", {160, 16}}}), "placed IMAGE_TOO_LONG");
  EXPECT_EQ(refusal("ops.silu", {{"x", {8000000}}}), "placed OUT_OF_MEMORY");
  EXPECT_EQ(refusal("ops.conv2d", {{"a", {4, 4, 16}}, {"b", {8, 144}}}), "placed CONV_CHANNELS");
  // Causal, and no keys left for the last queries.
  EXPECT_EQ(refusal("kernels.flash_attention", {{"q", {96, 32}}, {"k", {64, 32}}, {"v", {32, 64}}},
                    {{"block", 32}, {"nk", 1}, {"causal", true}}),
            "placed CAUSAL_KEYS");
}

TEST(DriverCompat, OperandsAreComparedBeforeBatchElementsArePadded) {
  const auto attention = [](std::uint32_t queries, const Knobs& knobs, schedule::Policy policy) {
    return refusal("kernels.flash_attention",
                   {{"q", {2, queries, 32}}, {"k", {2, 32, 32}}, {"v", {2, 32, 32}}}, knobs, policy);
  };
  // Batch elements of the weights are padded to chunks of 64 keys, the mask is not; both begin as 32 x 32.
  const Knobs causal{{"block", 32}, {"causal", true}};
  EXPECT_EQ(attention(32, causal, schedule::Policy::kCompat), "taken");
  EXPECT_EQ(attention(32, causal, schedule::Policy::kBest), "taken");
  // 16 rows in order, and as part of a tile of 32: padded to 2048 bytes they would look alike.
  const Knobs plain{{"block", 32}, {"nk", 1}};
  EXPECT_EQ(attention(16, plain, schedule::Policy::kCompat), "before REACH_DIFFERS");
  EXPECT_EQ(attention(16, plain, schedule::Policy::kBest), "taken");
}

TEST(DriverCompat, AnEpilogueThatCannotFuseIsStagedWhateverElseIsWrong) {
  // The tile is too large for a vector core and its chunk for a bank; staged, the bias refuses.
  const Shapes inputs{{"x", {32, 64}}, {"w", {32, 64}}, {"b", {32}}};
  EXPECT_EQ(refusal("kernels.linear_bias", inputs, {{"gn", 300}, {"nk", 1}}),
            "before SIDE_OPERAND_CANNOT_STAGE");
  EXPECT_EQ(refusal("kernels.linear_silu", {{"x", {32, 64}}, {"w", {32, 64}}}, {{"gn", 300}, {"nk", 1}}),
            "placed CHUNK_OVER_BANK");
}

TEST(DriverCompat, AccumulatorsOfAnySize) {
  const Shapes inputs{{"a", {400, 32}}, {"b", {200, 32}}};
  const Knobs large{{"gm", 100}, {"gn", 50}, {"nk", 1}};
  EXPECT_EQ(refusal("ops.matmul", inputs, large), "taken");
  EXPECT_EQ(refusal("ops.matmul", inputs, large, schedule::Policy::kBest), "placed TILE_OVER_ACCUMULATOR");
}

TEST(DriverCompat, AxesOfOneInFrontStayInTheShape) {
  for (const schedule::Policy policy : {schedule::Policy::kCompat, schedule::Policy::kBest}) {
    const Compiled one = compiled("kernels.linear_relu", {{"x", {1, 7, 64}}, {"w", {32, 64}}}, {}, policy);
    EXPECT_EQ(one.kernel.batch, 1U);
    for (const schedule::Buffer& buffer : one.schedule.buffers) {
      if (buffer.name == "x") {
        EXPECT_EQ(buffer.shape, (kernel::Shape{1, 7, 64}));
      } else if (buffer.name == "y") {
        EXPECT_EQ(buffer.shape, (kernel::Shape{1, 7, 32}));
      }
      EXPECT_EQ(buffer.batch_stride, 0U) << buffer.name;
    }
    // The words are those without the axis.
    const Compiled none = compiled("kernels.linear_relu", {{"x", {7, 64}}, {"w", {32, 64}}}, {}, policy);
    EXPECT_EQ(print(one.program), print(none.program));
  }
}

}  // namespace
}  // namespace ktpu::driver
