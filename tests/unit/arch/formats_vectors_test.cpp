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
#include "apps/check_formats/hex.h"
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

// The values of vectors_acc: operand words through the L1 write path, then LOAD and ADD block by block.
void check_accumulator_values(const nlohmann::json& row, check::RowResult& result) {
  const unsigned gm = row["gm"], gn = row["gn"], nk = row["nk"], anchor = row["anchor"];
  const arch::AccumulateKernel& kernel = arch::accumulate_kernel(arch::kDefaultAccMw);
  const auto entry = [&](arch::Side side, const char* field, std::size_t index) {
    arch::OperandEntry target;
    for (unsigned w = 0; w < arch::kEntryWords; ++w) {
      arch::Word256 word{};
      check::hex_words(row[field][4 * index + w], field, 256, word.data());
      arch::store_operand_word(side, w, word.data(), target);
    }
    return target;
  };
  for (unsigned tile_index = 0; tile_index < gm * gn; ++tile_index) {
    arch::SubTile tile;
    for (unsigned kb = 0; kb < nk; ++kb)
      (kb == 0 ? kernel.load_chain : kernel.add_chain)(
          entry(arch::Side::kA, "a_words", tile_index / gn * nk + kb),
          entry(arch::Side::kB, "b_words", tile_index % gn * nk + kb), anchor, tile);
    const arch::Word256 emitted = kernel.emit(tile);
    const auto fp16 = check::hex_halves(row["fp16"][tile_index], "fp16", arch::kSubTileLanes);
    for (unsigned lane = 0; lane < arch::kSubTileLanes; ++lane) {
      const std::uint64_t want = check::hex_value(row["acc22"][tile_index][lane], "acc22", 22);
      if (want != tile.lane[lane])
        result = {false, "acc22", check::to_hex(want, 6), check::to_hex(tile.lane[lane], 6)};
      const std::uint64_t got = (emitted[lane / 4] >> (16 * (lane % 4))) & 0xFFFF;
      if (fp16[lane] != got) result = {false, "fp16", check::to_hex(fp16[lane], 4), check::to_hex(got, 4)};
    }
  }
}

TEST(FormatVectorsRtl, ResidentAccumulators) {
  for (const bool simd : {false, true}) {
    arch::set_simd(simd);
    EXPECT_NE(replay(vectors() / "rtl" / "vectors_acc.jsonl", check_accumulator_values), 0);
  }
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
