// SPDX-License-Identifier: Apache-2.0
// compiler.md sections 17 and 18: schedules of recorded kernels give the recorded words.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "compiler/base/refusal.h"
#include "compiler/schedule_to_program/lane_words.h"
#include "compiler/schedule_to_program/limits.h"
#include "tests/support/vectors.h"
#include "tests/unit/compiler/recorded_case.h"

namespace ktpu::recorded {
namespace {

using base::LaneOp;
using Value = Lanes::Value;
using Key = std::vector<std::int32_t>;
constexpr double kLog2E = 1.4426950408889634;

class Recorded : public ::testing::Test {
 protected:
  void SetUp() override { KTPU_NEEDS_VECTORS("compiler/live"); }
};
using Compiler17 = Recorded;
using Compiler18 = Recorded;

void expect_product(const std::string& name) {
  SCOPED_TRACE(name);
  Case c(name);
  const std::uint64_t k = c.file().at("extents").at("K");
  const std::vector<std::uint32_t> grid = c.file().at("stages").at(0).at("body_grid");
  c.add_stage([&](const Key& key) {
    std::vector<schedule::Statement> statements = c.product("a", "b", k, key);
    statements.emplace_back(c.drain("c", key, grid[1]));
    return statements;
  });
  c.expect_same_words();
}

TEST_F(Compiler17, Products) {
  for (const char* name : {"5x7x9",
                           "33x64x65",
                           "12x64x8_g1x1x1",
                           "16x64x16",
                           "192x128x320",
                           "1x32x1",
                           "2x32x64x48",
                           "2x3x16x64x16",
                           "2x64x1536",
                           "300x64x300",
                           "32x64x16_g2x1x2",
                           "40x320x24",
                           "4x32x4",
                           "50x200x70_g3x5x3",
                           "64x1024x64",
                           "64x128x64",
                           "64x256x64",
                           "64x512x64_g255x1x1",
                           "64x64x64_g2x2x1",
                           "8x2048x8",
                           "96x128x64_g12x8x2",
                           "128x128x128_g16x16x2",
                           "128x64x128_2mg"})
    expect_product(std::string("matmul/") + name);
}

// One stage, one statement, parts of the grid.
void expect_chain(const std::string& name, const std::string& result, const Build& build) {
  SCOPED_TRACE(name);
  Case c(name);
  c.add_stage([&](const Key& key) {
    return std::vector<schedule::Statement>{c.chain(result, build, static_cast<std::uint64_t>(key[0]))};
  });
  c.expect_same_words();
}

Build unary(LaneOp op) {
  return [op](Lanes& l) { return l.op(op, {l.leaf("x")}); };
}
Build binary(LaneOp op) {
  return [op](Lanes& l) { return l.op(op, {l.leaf("a"), l.leaf("b")}); };
}
Value sigmoid(Value v, double scale) {
  Lanes& l = *v.lanes;
  return l.op(LaneOp::kRecip, {l.op(LaneOp::kExp2, {v * scale}) + 1.0});
}

TEST_F(Compiler18, ElementByElement) {
  expect_chain("elementwise/absolute_16x64", "y", unary(LaneOp::kAbs));
  expect_chain("elementwise/exp2_2x3x40", "y", unary(LaneOp::kExp2));
  expect_chain("elementwise/exp2_300", "y", unary(LaneOp::kExp2));
  expect_chain("elementwise/log2_16x64", "y", unary(LaneOp::kLog2));
  expect_chain("elementwise/neg_300", "y", unary(LaneOp::kNeg));
  expect_chain("elementwise/recip_300", "y", unary(LaneOp::kRecip));
  expect_chain("elementwise/rsqrt_16x64", "y", unary(LaneOp::kRsqrt));
  expect_chain("elementwise/div_32x48", "y", binary(LaneOp::kDiv));
  expect_chain("elementwise/maximum_32x48", "y", binary(LaneOp::kMax));
  expect_chain("elementwise/minimum_260", "y", binary(LaneOp::kMin));
  expect_chain("elementwise/mul_260", "y", binary(LaneOp::kMul));
  expect_chain("elementwise/sub_32x48", "y", binary(LaneOp::kSub));
  expect_chain("elementwise/residual_100x333", "y", binary(LaneOp::kAdd));
  const Build silu = [](Lanes& l) { return l.leaf("x") * sigmoid(l.leaf("x"), -kLog2E); };
  expect_chain("elementwise/silu_20000", "y", silu);
  expect_chain("elementwise/silu_300", "y", silu);
  expect_chain("elementwise/gelu_16x64", "y",
               [](Lanes& l) { return l.leaf("x") * sigmoid(l.leaf("x"), -(1.702 * kLog2E)); });
}

TEST_F(Compiler18, LiftedChainsAndChoices) {
  expect_chain("dsl/k_tree", "y", [](Lanes& l) {
    const Value a = l.leaf("a"), b = l.leaf("b");
    return (a + 1.0) * (b - l.number(1.0));
  });
  expect_chain("dsl/k_sqrt_newton", "y", [](Lanes& l) {
    const Value x = l.leaf("x"), y = l.op(LaneOp::kRsqrt, {x}), s = x * y;
    return s * (l.number(1.5) - s * y * 0.5);
  });
  expect_chain("dsl/k_fma", "y", [](Lanes& l) {
    return l.op(LaneOp::kFma, {l.leaf("a"), l.leaf("b"), l.leaf("c")});
  });
  expect_chain("dsl/k_select_simple", "y", [](Lanes& l) {
    const Value a = l.leaf("a"), b = l.leaf("b");
    return l.op(LaneOp::kSelect, {l.op(LaneOp::kLess, {a, b}), a, b});
  });
}

base::RowShape rows_of(const std::string& name) {
  const nlohmann::json file = read(name);
  return {file.at("extents").at("M"), file.at("extents").at("N")};
}

TEST_F(Compiler18, FoldsAlongRows) {
  for (const char* shape : {"40x16", "12x48", "10x80", "6x112", "200x64"}) {
    const std::string name = fmt::format("rows/softmax_{}", shape);
    const base::RowShape row = rows_of(name);
    expect_chain(name, "y", [&](Lanes& l) {
      const Value x = l.leaf("x");
      const Value ex = l.op(LaneOp::kExp2, {(x - l.op(LaneOp::kRowMax, {x}, row)) * kLog2E});
      return ex / l.op(LaneOp::kRowSum, {ex}, row);
    });
  }
  for (const char* shape : {"40x16", "12x48", "10x80", "6x112"}) {
    const std::string rms = fmt::format("rows/rmsnorm_{}", shape),
                      layer = fmt::format("rows/layernorm_{}", shape);
    const base::RowShape row = rows_of(rms);
    const auto n = static_cast<double>(row.columns);
    expect_chain(rms, "y", [&](Lanes& l) {
      const Value x = l.leaf("x"), ms = l.op(LaneOp::kRowSum, {x / n * x}, row);
      return x * l.op(LaneOp::kRsqrt, {ms + 1e-5}) * l.leaf("w");
    });
    expect_chain(layer, "y", [&](Lanes& l) {
      const Value x = l.leaf("x"), mu = l.op(LaneOp::kRowSum, {x}, row) / n, dev = x - mu;
      const Value var = l.op(LaneOp::kRowSum, {dev / n * dev}, row);
      return dev * l.op(LaneOp::kRsqrt, {var + 1e-5}) * l.leaf("w") + l.leaf("b");
    });
  }
}

TEST_F(Compiler18, AFoldAlone) {
  for (const char* name : {"rows/row_sum_20x32", "rows/row_max_20x32", "rows/row_sum_67x128"}) {
    SCOPED_TRACE(name);
    Case c(name);
    const LaneOp op = std::string(name).find("max") == std::string::npos ? LaneOp::kRowSum : LaneOp::kRowMax;
    c.schedule().part = 1u << 20;
    c.add_stage([&](const Key&) {
      schedule::Chain chain = c.chain(
          "y", [&](Lanes& l) { return l.op(op, {l.leaf("x")}, rows_of(name)); }, 0);
      chain.reduce = true;
      return std::vector<schedule::Statement>{chain};
    });
    c.expect_same_words();
  }
}

TEST_F(Compiler18, AResultHandedOnInARegister) {
  Case c("dsl/k_twostage");
  c.add_stage([&](const Key&) {
    return std::vector<schedule::Statement>{c.chain(
                                                "t1", [](Lanes& l) { return l.leaf("x") * l.leaf("x"); }, 0),
                                            c.chain(
                                                "y", [](Lanes& l) { return l.leaf("t1") + l.leaf("x"); }, 0)};
  });
  c.expect_same_words();
}

// Rows 0 of groups of rows, spread over each group.
TEST_F(Compiler18, SpreadsOverGroups) {
  Case c("wide/layernorm_wide_4x256");
  c.schedule().stages.clear();
  nlohmann::json file = c.file();
  // Stage 3 alone: x - mean of its group.
  const schedule::Chain plain = c.chain(
      "t5", [](Lanes& l) { return l.leaf("x") - l.leaf("t4"); }, 0);
  schedule::Chain chain = plain;
  chain.span = chain.asked_span = 1024;
  chain.leaves[1].period = 256;
  chain.leaves[1].take = 128;
  schedule::Stage stage;
  stage.unit = schedule::UnitType::kVector;
  schedule::Instance instance;
  instance.key = {0};
  instance.statements = {chain};
  stage.instances = {instance};
  c.schedule().stages = {stage};
  c.expect_same_words(3);
}

// The recorded words of single operations, and what is refused.
TEST_F(Compiler18, WordsOfOneOperation) {
  const std::map<std::string, LaneOp> other_names{{"cmplt", LaneOp::kLess},    {"cmpgt", LaneOp::kGreater},
                                                  {"cmpeq", LaneOp::kEqual},   {"sum", LaneOp::kRowSum},
                                                  {"rmax", LaneOp::kRowMax},   {"rmin", LaneOp::kRowMin},
                                                  {"sumsq", LaneOp::kRowSumsq}};
  std::size_t rows = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(live_folder().parent_path() / "misc" / "vec")) {
    if (!entry.path().filename().string().starts_with("lower_op")) continue;
    std::ifstream in(entry.path());
    const nlohmann::json file = nlohmann::json::parse(in);
    for (const nlohmann::json& row : file.at("rows")) {
      const std::string name = row.at("op");
      SCOPED_TRACE(name);
      const auto other = other_names.find(name);
      const auto op = other != other_names.end() ? other->second : base::lane_op(name);
      if (!op) {  // views and sources never come so far
        EXPECT_EQ(row.value("result", ""), "refused");
        continue;
      }
      const auto words = [&] {
        std::vector<schedule_to_program::Operand> sources;
        for (const std::uint32_t number : row.value("srcs", std::vector<std::uint32_t>{0, 1, 2}))
          sources.push_back({arch::VectorSource::kVector, number});
        schedule_to_program::ReductionScalars scalars;
        schedule_to_program::Image image;
        for (const arch::VectorWord& word :
             schedule_to_program::lane_words(*op, false, row.value("dst", 7u), sources, scalars))
          image.add(word);
        return image.words();
      };
      ++rows;
      if (row.contains("result")) {
        EXPECT_THROW(words(), base::Refusal);
        continue;
      }
      std::vector<std::string> text;
      for (const std::uint32_t word : words()) text.push_back(fmt::format("{:08x}", word));
      EXPECT_EQ(text, row.at("words").get<std::vector<std::string>>());
    }
  }
  EXPECT_GT(rows, 10u);
}

TEST_F(Compiler18, RecordedL1FootprintsAndPasses) {
  std::size_t rows = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(live_folder().parent_path() / "misc" / "vec")) {
    std::ifstream in(entry.path());
    const nlohmann::json file = nlohmann::json::parse(in);
    for (const nlohmann::json& row : file.at("rows")) {
      rows += !row.contains("op");
      if (row.contains("tile")) {
        EXPECT_EQ(schedule_to_program::rows_per_pass(row.at("rows"), row.at("words_per_row")),
                  row.at("tile").get<std::uint64_t>());
      } else if (row.contains("words") && row["words"].is_number()) {
        EXPECT_EQ(schedule_to_program::fits_l1(row["words"]) ? "ok" : "refused", row.at("result"));
      }
    }
  }
  EXPECT_GT(rows, 20u);
}

Value relu(Value v) { return (v + v.lanes->op(LaneOp::kAbs, {v})) * 0.5; }
Value gelu(Value v) {
  const Value inner = v * v * v * 0.044715 + v;
  return v * sigmoid(inner, -(2.0 * 0.7978845608028654) * kLog2E);
}

// A product whose tiles go to the vector cores, and the epilogue there.
void expect_fused(const std::string& name, const Build& build) {
  SCOPED_TRACE(name);
  Case c(name);
  const std::uint64_t k = c.file().at("extents").at("K");
  const std::vector<std::uint32_t> grid = c.file().at("stages").at(0).at("body_grid");
  c.add_stage([&](const Key& key) {
    std::vector<schedule::Statement> statements = c.product("x", "w", k, key);
    schedule::Drain drain;
    drain.gm = c.knob("gm");
    drain.gn = c.knob("gn");
    statements.emplace_back(drain);
    return statements;
  });
  c.add_stage([&](const Key& key) {
    const auto row = static_cast<std::uint64_t>(key[0]), column = static_cast<std::uint64_t>(key[1]);
    return std::vector<schedule::Statement>{c.epilogue("y", build, row * grid[1] + column, column)};
  });
  c.expect_same_words();
}

TEST_F(Compiler18, FusedEpilogues) {
  expect_fused("epilogue/relu_64x64x64", [](Lanes& l) { return relu(l.leaf("@0")); });
  expect_fused("epilogue/relu_64x32x40_g16x10", [](Lanes& l) { return relu(l.leaf("@0")); });
  expect_fused("epilogue/relu_64x32x64_g16x16", [](Lanes& l) { return relu(l.leaf("@0")); });
  expect_fused("epilogue/silu_30x50x20",
               [](Lanes& l) { return l.leaf("@0") * sigmoid(l.leaf("@0"), -kLog2E); });
  expect_fused("epilogue/silu_32x64x32",
               [](Lanes& l) { return l.leaf("@0") * sigmoid(l.leaf("@0"), -kLog2E); });
  expect_fused("epilogue/gelu_32x64x32", [](Lanes& l) { return gelu(l.leaf("@0")); });
  expect_fused("epilogue/gelu_30x50x20", [](Lanes& l) { return gelu(l.leaf("@0")); });
  expect_fused("epilogue/scale_64x64x64", [](Lanes& l) {
    return l.leaf("@0") * read("epilogue/scale_64x64x64").at("knobs").at("s").get<double>();
  });
  expect_fused("epilogue/bias_32x64x32", [](Lanes& l) { return l.leaf("@0") + l.leaf("+b"); });
  expect_fused("epilogue/bias_32x64x96", [](Lanes& l) { return l.leaf("@0") + l.leaf("+b"); });
}

TEST_F(Compiler18, TwoTilesMeetInOneEpilogue) {
  Case c("dsl/k_gated");
  c.add_stage([&](const Key& key) {
    std::vector<schedule::Statement> statements = c.product("x", "g", 64, key);
    schedule::Drain drain;
    drain.gm = drain.gn = 8;
    statements.emplace_back(drain);
    std::vector<schedule::Statement> second = c.product("x", "u", 64, key);
    second.erase(second.begin());  // x is there
    std::get<schedule::Fill>(second[0]).operand = 1;
    std::get<schedule::Gemm>(second[1]).b_operand = 1;
    statements.insert(statements.end(), second.begin(), second.end());
    drain.slot = 1;
    statements.emplace_back(drain);
    return statements;
  });
  c.add_stage([&](const Key&) {
    return std::vector<schedule::Statement>{c.epilogue(
        "y",
        [](Lanes& l) {
          const Value ga = l.leaf("@0");
          return ga * sigmoid(ga, -kLog2E) * l.leaf("@1");
        },
        0, 0)};
  });
  c.expect_same_words();
}

}  // namespace
}  // namespace ktpu::recorded
