// SPDX-License-Identifier: Apache-2.0
// Recorded number-format vectors, replayed with both accumulate kernels.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/check_formats/check_formats.h"
#include "arch/error.h"
#include "arch/formats/kernel.h"

namespace ktpu {
namespace {

std::filesystem::path vectors() {
  const char* from_environment = std::getenv("KTPU_VECTORS");
  return from_environment ? std::filesystem::path(from_environment)
                          : std::filesystem::path(KTPU_SOURCE_DIR).parent_path() / "shared" / "vectors";
}

// Runs `check` on every row; returns the number of rows, or -1 when the file is absent.
template <typename Check>
int replay(const std::filesystem::path& file, Check check) {
  std::ifstream in(file);
  if (!in) {
    std::cout << "vectors not found: " << file.string() << "\n";
    return -1;
  }
  int rows = 0;
  std::string line;
  while (std::getline(in, line)) {
    if (line.empty()) continue;
    check::RowResult result;
    check(nlohmann::json::parse(line), result);
    EXPECT_TRUE(result.equal) << file.filename() << " row " << rows + 1 << " field " << result.field
                              << " expected " << result.expected << " got " << result.got;
    ++rows;
  }
  return rows;
}

class FormatVectors : public testing::TestWithParam<const char*> {
 protected:
  void TearDown() override { arch::set_simd(true); }
};

TEST_P(FormatVectors, EveryRowIsEqualScalarAndVectorised) {
  const std::string kind = GetParam();
  for (const bool simd : {false, true}) {
    arch::set_simd(simd);
    const int rows =
        replay(vectors() / "formats" / (kind + ".jsonl"), [&](const auto& row, check::RowResult& result) {
          ASSERT_TRUE(check::check_formats_row(kind, row, result));
        });
    EXPECT_NE(rows, 0);
  }
}
INSTANTIATE_TEST_SUITE_P(Files, FormatVectors,
                         testing::Values("mxfp7_quant", "mxfp7_entry", "acc_from_partial", "acc_add",
                                         "acc_to_fp16", "acc_to_e8m15", "fp16_to_e8m15", "fp32_to_e8m15",
                                         "e8m15_to_mem", "subtile_chain"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST(FormatVectorsRtl, QuantiserWords) {
  EXPECT_NE(replay(vectors() / "rtl" / "vectors_quant.jsonl", check::check_quant_words), 0);
}

// The checker itself: a changed expectation is seen, an unknown kind is refused, a bad row is a clear error.
TEST(FormatChecker, SeesADifference) {
  check::RowResult result;
  const auto row = nlohmann::json::parse(R"({"mw":14,"a":"0fc000","b":"0fc000","sum":"100001"})");
  ASSERT_TRUE(check::check_formats_row("acc_add", row, result));
  EXPECT_FALSE(result.equal);
  EXPECT_EQ(result.field, "sum");
  EXPECT_EQ(result.expected, "100001");
  EXPECT_EQ(result.got, "100000");
}

TEST(FormatChecker, RefusesUnknownKindsAndBadRows) {
  check::RowResult result;
  EXPECT_FALSE(check::check_formats_row("noc", nlohmann::json::object(), result));
  const auto check = [&](const char* text) {
    check::check_formats_row("acc_add", nlohmann::json::parse(text), result);
  };
  EXPECT_THROW(check(R"({"mw":14,"a":"0fc000","b":"0fc000"})"), arch::UserError);
  EXPECT_THROW(check(R"({"mw":25,"a":"0","b":"0","sum":"0"})"), arch::UserError);
  EXPECT_THROW(check(R"({"mw":14,"a":"400000","b":"0","sum":"0"})"), arch::UserError);
  EXPECT_THROW(check(R"({"mw":14,"a":"xyz","b":"0","sum":"0"})"), arch::UserError);
  EXPECT_THROW(check(R"({"mw":14,"a":17,"b":"0","sum":"0"})"), arch::UserError);
  EXPECT_THROW(check(R"([])"), arch::UserError);
}

}  // namespace
}  // namespace ktpu
