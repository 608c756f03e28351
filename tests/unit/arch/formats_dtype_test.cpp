// SPDX-License-Identifier: Apache-2.0
// compiler.md section 3.
#include <gtest/gtest.h>

#include <vector>

#include "arch/error.h"
#include "arch/formats/dtype.h"
#include "arch/formats/e8m15.h"
#include "arch/program/program.h"

namespace ktpu::arch {
namespace {

using enum NumberType;
using Types = std::vector<NumberType>;

const NumberFormat& format(NumberType type) { return number_format(type); }

template <typename Action>
std::string refusal(Action&& action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return {};
}

TEST(CompilerSec3, WhatHoldsWhat) {
  EXPECT_TRUE(format(kE8m15).is_exact_from(format(kFp16)));
  EXPECT_TRUE(format(kFp32).is_exact_from(format(kE8m15)));
  EXPECT_TRUE(format(kE8m15).contains_range_of(format(kAcc24)));
  EXPECT_FALSE(format(kE8m15).is_exact_from(format(kAcc24)));
  EXPECT_TRUE(format(kFp16).may_saturate_from(format(kE8m15)));
  EXPECT_TRUE(format(kFp16).may_saturate_from(format(kAcc24)));
  // Blocks and integers have no range to compare.
  for (const NumberType type : {kMxfp7, kI8, kI16, kI32}) {
    EXPECT_FALSE(format(type).contains_range_of(format(kFp16)));
    EXPECT_FALSE(format(kFp32).contains_range_of(format(type)));
  }
}

// The table against the arithmetic that the units do.
TEST(CompilerSec3, TheLargestNumbersAreThoseOfTheUnits) {
  EXPECT_EQ(format(kFp16).max_finite(), 65504.0);
  EXPECT_EQ(fp32_to_e8m15(0x7F7FFF00u), 0x7F7FFFu);  // largest E8M15, and its FP32 image
  EXPECT_EQ(static_cast<float>(format(kE8m15).max_finite()), 0x1.fffep127f);
  EXPECT_EQ(format(kFp16).smallest(), 0x1p-24);
  EXPECT_EQ(accumulator_format(kDefaultAccMw).bits, acc_bits(kDefaultAccMw));
  EXPECT_EQ(accumulator_format(16), format(kAcc24));
  EXPECT_NE(refusal([] { accumulator_format(8); }), "");
}

TEST(CompilerSec3, Names) {
  for (std::size_t i = 0; i < kNumberTypes; ++i)
    EXPECT_EQ(number_type(number_format(static_cast<NumberType>(i)).name), static_cast<NumberType>(i));
  EXPECT_EQ(number_type("int16"), kI16);
  EXPECT_EQ(number_type("f32"), kFp32);
  EXPECT_EQ(number_type("int24"), std::nullopt);
  EXPECT_EQ(number_type("fp8"), std::nullopt);
  EXPECT_EQ(number_type(VectorType::kFp32), kFp32);
  EXPECT_EQ(dtype_bits(DType::kFp16), format(kFp16).bits);
  EXPECT_EQ(dtype_name(DType::kI32), format(kI32).name);
  EXPECT_EQ(dtype_bits(DType::kMxfp7), 0u);
}

TEST(CompilerSec3, ACommonTypeIsOneOfThem) {
  EXPECT_EQ(converge(Types{kFp16, kFp32}), kFp32);
  EXPECT_EQ(converge(Types{kMxfp7, kMxfp7}), kFp16);
  EXPECT_EQ(converge(Types{kMxfp7, kAcc24}), kAcc24);
  EXPECT_EQ(converge(Types{kE8m15, kFp32}), kFp32);  // equal ranges: the finer one
  EXPECT_EQ(converge(Types{kI16, kI16}), kI16);
  EXPECT_NE(refusal([] { converge(Types{kI16, kI32}); }), "");
  EXPECT_NE(refusal([] { converge(Types{kI16, kFp16}); }), "");
  EXPECT_NE(refusal([] { converge(Types{}); }), "");
  // The scale reaches below fp16, fp16 above the scale.
  EXPECT_NE(refusal([] { converge(Types{kFp16, kE5m3}); }), "");
}

TEST(CompilerSec3, ConstantsThatCannotBeHeld) {
  EXPECT_EQ(refusal([] { require_constant(0, kFp16); }), "");
  EXPECT_EQ(refusal([] { require_constant(-65504, kFp16); }), "");
  EXPECT_NE(refusal([] { require_constant(65520, kFp16); }), "");
  EXPECT_EQ(refusal([] { require_constant(0x1p-25, kFp16); }), "");
  EXPECT_NE(refusal([] { require_constant(0x1.8p-26, kFp16); }), "");
  EXPECT_NE(refusal([] { require_constant(1e300 * 1e300, kFp32); }), "");
  EXPECT_NE(refusal([] { require_constant(70000, kMxfp7); }), "");
  EXPECT_EQ(refusal([] { require_constant(-128, kI8); }), "");
  EXPECT_NE(refusal([] { require_constant(128, kI8); }), "");
  EXPECT_NE(refusal([] { require_constant(0.5, kI8); }), "");
}

TEST(CompilerSec3, AStoreSaysWhatItLoses) {
  EXPECT_EQ(saturation_note(kFp16, kE8m15), "");
  EXPECT_EQ(saturation_note(kE8m15, kFp32), "");
  EXPECT_EQ(saturation_note(kAcc24, kE8m15), "");
  EXPECT_EQ(saturation_note(kE8m15, kFp16), "saturates at 65504");
  EXPECT_EQ(saturation_note(kFp32, kMxfp7), "saturates at 65504");
  EXPECT_EQ(conversion_note(kFp16, kE8m15), "");
  EXPECT_EQ(conversion_note(kAcc24, kE8m15), "acc24 to e8m15: rounds to 15 mantissa bits");
  EXPECT_EQ(conversion_note(kFp16, kMxfp7), "fp16 to mxfp7: 32 values share one scale, each keeps 7 bits");
  EXPECT_NE(conversion_note(kE8m15, kFp16).find("saturates at 65504; what is below"), std::string::npos);
}

}  // namespace
}  // namespace ktpu::arch
