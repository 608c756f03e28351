// SPDX-License-Identifier: Apache-2.0
// Policy best takes what the reference refuses without need or compiles wrongly, and it comes out right: each
// call runs on the simulator and in the interpreter, with the machine's defects and without.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "compiler/base/refusal.h"
#include "tests/compiler/case.h"
#include "tests/support/vectors.h"
#include "topologies/reader.h"

namespace ktpu::test {
namespace {

using kernel::Knobs;

void expect_right(const std::string& kernel, const std::map<std::string, kernel::Shape>& inputs,
                  const Knobs& knobs = {}, const std::string& machine = "reference_6c4v") {
  const Case c{kernel, inputs, knobs};
  SCOPED_TRACE(print(c));
  try {
    EXPECT_EQ(problem_with(c, shipped(machine), true), "");
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
}
std::string refusal_of(const Case& c, schedule::Policy policy) {
  try {
    compiled(c, shipped("reference_6c4v"), policy);
    return {};
  } catch (const base::Refusal& refusal) {
    return refusal.code();
  }
}
std::int64_t whole(const Knobs& knobs, const char* name) { return std::get<std::int64_t>(knobs.at(name)); }
Knobs tile(std::int64_t gm, std::int64_t gn, std::int64_t nk) { return {{"gm", gm}, {"gn", gn}, {"nk", nk}}; }

TEST(CompilerBest, GatedKernelsWithMoreThanTwoChunks) {
  for (const char* kernel : {"kernels.geglu", "kernels.swiglu"}) {
    expect_right(kernel, {{"x", {32, 192}}, {"wg", {32, 192}}, {"wu", {32, 192}}});
    expect_right(kernel, {{"x", {40, 300}}, {"wg", {33, 300}}, {"wu", {33, 300}}}, tile(2, 4, 1));
  }
  expect_right("custom.k_gated", {{"x", {32, 256}}, {"g", {32, 256}}, {"u", {32, 256}}});
}

TEST(CompilerBest, ARoundThatEndsBetweenTwoDeliveredTiles) {
  const Case c{"custom.k_gated",
               {{"x", {3, 276}}, {"g", {2, 276}}, {"u", {2, 276}}},
               {{"gm", std::int64_t{5}}, {"gn", std::int64_t{8}}, {"nk", std::int64_t{1}}}};
  MadeMachine like;
  like.staging_flits = 36;
  EXPECT_EQ(problem_with(c, made(like), true), "");
}

// What a machine's units hold bounds the program: entries of a cluster's L1, words of a vector core's.
TEST(CompilerBest, UnitsWithLittleL1) {
  const auto right = [](const Case& c, const std::string& key, unsigned size) {
    const std::string set = fmt::format("meshes.0.units.{}={}", key, size);
    SCOPED_TRACE(print(c) + " " + set);
    const Target target{"little", topo::read_file("mesh8", {set}), 0};
    EXPECT_EQ(problem_with(c, target, true), "");
  };
  const Case product{"ops.matmul", {{"a", {20, 160}}, {"b", {24, 160}}}, tile(4, 4, 1)};
  for (const unsigned entries : {8U, 16U, 128U, 256U}) {
    right(product, "mat.l1_a", entries);
    right(product, "mat.l1_b", entries);
  }
  for (const unsigned words : {8U, 32U, 64U, 256U}) {
    right({"ops.residual", {{"a", {9, 37}}, {"b", {9, 37}}}, {}}, "vec.l1_words", std::max(words, 32U));
    right({"kernels.softmax", {{"x", {40, 64}}}, {}}, "vec.l1_words", words);
    right({"kernels.linear_silu", {{"x", {16, 32}}, {"w", {16, 32}}}, tile(2, 2, 1)}, "vec.l1_words",
          std::max(words, 32U));
  }
  const Case row{"kernels.softmax", {{"x", {4, 128}}}, {}};
  try {
    compiled(row, {"little", topo::read_file("mesh8", {"meshes.0.units.vec.l1_words=4"}), 0},
             schedule::Policy::kBest);
    ADD_FAILURE() << "taken";
  } catch (const base::Refusal& refusal) {
    EXPECT_EQ(refusal.code(), "L1_FOOTPRINT");
  }
}

// Knobs left to the compiler: what goes with the shapes.
TEST(CompilerBest, BlocksOfAttentionAndSubRowsFollowTheShapes) {
  expect_right("kernels.flash_attention", {{"q", {64, 32}}, {"k", {64, 32}}, {"v", {32, 64}}});
  expect_right("kernels.softmax_wide", {{"x", {4, 256}}});
}

TEST(CompilerBest, ChunksOf256Entries) {
  expect_right("ops.matmul", {{"a", {256, 256}}, {"b", {64, 256}}}, tile(64, 8, 4));
  expect_right("ops.matmul", {{"a", {64, 512}}, {"b", {512, 512}}}, tile(4, 128, 2));
  const Case c{"ops.matmul", {{"a", {256, 256}}, {"b", {64, 256}}}, tile(64, 8, 4)};
  EXPECT_EQ(refusal_of(c, schedule::Policy::kCompat), "FILL_OVER_255");
}

TEST(CompilerBest, BiasOnMoreTilesThanVectorCoresAndOnColumnsThatDoNotDivide) {
  expect_right("kernels.linear_bias", {{"x", {128, 64}}, {"w", {128, 64}}, {"b", {128}}});
  expect_right("kernels.linear_bias", {{"x", {64, 96}}, {"w", {128, 96}}, {"b", {128}}});
  expect_right("kernels.linear_bias", {{"x", {32, 64}}, {"w", {12, 64}}, {"b", {12}}});
  expect_right("kernels.linear_bias", {{"x", {3, 2, 40, 64}}, {"w", {70, 64}}, {"b", {70}}});
  // A vector core has no room for tiles of 16 x 16 beside the bias, and columns of 3 are no whole chunks.
  expect_right("kernels.linear_bias", {{"x", {100, 64}}, {"w", {100, 64}}, {"b", {100}}}, tile(16, 16, 2));
  expect_right("kernels.linear_bias", {{"x", {50, 64}}, {"w", {50, 64}}, {"b", {50}}}, tile(5, 3, 2));
  expect_right("kernels.linear_bias", {{"x", {32, 64}}, {"w", {32, 64}}, {"b", {32}}}, {{"fuse", false}});
}

TEST(CompilerBest, ConvolutionWithBiasInAnyTiling) {
  for (const std::int64_t gm : {1, 2, 4, 8, 16})
    expect_right("kernels.conv2d_bias", {{"a", {4, 4, 32}}, {"b", {8, 288}}, {"bias", {36, 8}}},
                 {{"gm", gm}, {"gn", std::int64_t{2}}});
  expect_right("kernels.conv2d_bias", {{"a", {8, 8, 64}}, {"b", {17, 576}}, {"bias", {100, 17}}});
}

TEST(CompilerBest, ConvolutionWhosePlaneIsNoWholeEntry) {
  expect_right("ops.conv2d", {{"a", {9, 7, 64}}, {"b", {3, 576}}});
  expect_right("ops.conv2d", {{"a", {1, 5, 64}}, {"b", {32, 576}}});
}

TEST(CompilerBest, MlpWhoseHiddenWidthIsNoWholeChunk) {
  for (const std::uint32_t f : {32u, 96u, 40u, 1u})
    expect_right("kernels.mlp", {{"x", {16, 32}}, {"up", {f, 32}}, {"down", {16, f}}},
                 {{"act", std::string("relu")}});
}

TEST(CompilerBest, AttentionWhoseBlocksAreNoWholeChunks) {
  expect_right("kernels.flash_attention", {{"q", {32, 32}}, {"k", {32, 32}}, {"v", {32, 32}}},
               {{"block", std::int64_t{32}}});
  expect_right("kernels.flash_attention", {{"q", {128, 32}}, {"k", {64, 32}}, {"v", {32, 64}}},
               {{"block", std::int64_t{32}}});
  expect_right("kernels.flash_attention", {{"q", {64, 64}}, {"k", {64, 64}}, {"v", {32, 64}}},
               {{"block", std::int64_t{32}}, {"causal", true}});
  // Chunk 2 j of v holds the keys of block j only with chunks of one K block.
  const Case c{"kernels.flash_attention",
               {{"q", {2, 32, 32}}, {"k", {2, 96, 32}}, {"v", {2, 32, 96}}},
               {{"block", std::int64_t{32}}}};
  EXPECT_EQ(whole(compiled(c, shipped("reference_6c4v")).kernel.knobs, "nk"), 1);
  expect_right(c.kernel, c.inputs, c.knobs);
}

TEST(CompilerBest, AttentionOfAnyNumberOfQueriesAndKeys) {
  expect_right("kernels.flash_attention", {{"q", {56, 96}}, {"k", {64, 96}}, {"v", {32, 64}}},
               {{"block", std::int64_t{32}}, {"gm", std::int64_t{16}}});
  expect_right("kernels.flash_attention", {{"q", {8, 32}}, {"k", {128, 32}}, {"v", {64, 128}}},
               {{"keys", std::int64_t{70}}});
}

TEST(CompilerBest, CountsThatAreNoMultipleOfFour) {
  for (const std::uint32_t n : {1u, 2u, 3u, 257u, 1023u, 8193u}) {
    expect_right("ops.minimum", {{"a", {n}}, {"b", {n}}});
    expect_right("ops.mul", {{"a", {n}}, {"b", {n}}});
  }
}

TEST(CompilerBest, ComparisonsAndRoots) {
  for (const std::uint32_t n : {16u, 48u, 300u}) {
    expect_right("custom.k_cmp_alone", {{"a", {n}}, {"b", {n}}});
    expect_right("custom.k_select", {{"a", {n}}, {"b", {n}}});
    expect_right("custom.k_select_simple", {{"a", {n}}, {"b", {n}}});
    expect_right("custom.k_sqrt_approx", {{"x", {n}}});
  }
}

TEST(CompilerBest, PartsThatCutRowsOrVectors) {
  expect_right("kernels.softmax", {{"x", {20, 48}}}, {{"part", std::int64_t{100}}});
  expect_right("ops.neg", {{"x", {8, 495}}}, {{"part", std::int64_t{100}}});
  expect_right("kernels.softmax_wide", {{"x", {3, 256}}},
               {{"rows", std::int64_t{2}}, {"part", std::int64_t{128}}});
  const Case c{"kernels.softmax", {{"x", {20, 48}}}, {{"part", std::int64_t{100}}}};
  EXPECT_EQ(whole(compiled(c, shipped("reference_6c4v")).kernel.knobs, "part"), 144);
  EXPECT_EQ(refusal_of(c, schedule::Policy::kCompat), "PART_CUTS_ROW");
}

TEST(CompilerBest, PassesThatReadTheirOwnResults) {
  expect_right("custom.k_hazard", {{"x", {40, 24}}});
  EXPECT_EQ(refusal_of({"custom.k_hazard", {{"x", {40, 24}}}, {}}, schedule::Policy::kCompat), "HAZARD");
}

TEST(CompilerBest, MoreInstancesThanParts) {
  expect_right("kernels.layernorm", {{"x", {2, 95, 96}}, {"w", {2, 95, 96}}, {"b", {2, 95, 96}}},
               {{"part", std::int64_t{100}}});
  expect_right("kernels.geglu", {{"x", {88, 43}}, {"wg", {112, 43}}, {"wu", {112, 43}}},
               {{"gm", std::int64_t{32}}, {"gn", std::int64_t{1}}, {"part", std::int64_t{100}}});
}

TEST(CompilerBest, WideRowsWhoseFoldsBeginWithinABlock) {
  expect_right("kernels.softmax_wide", {{"x", {6, 1024}}}, {{"rows", std::int64_t{8}}});
  expect_right("kernels.layernorm_wide", {{"x", {5, 512}}, {"w", {5, 512}}, {"b", {5, 512}}},
               {{"rows", std::int64_t{4}}});
}

// What stays refused has its reason in the machine or in the program.
TEST(CompilerBest, RecordedRefusalsThatRemain) {
  const std::set<std::string> kImpossible{
      "CAUSAL_KEYS",               // a mask that is one triangle does not end within a block
      "CAUSAL_QBLOCK",             // nor is it higher than a block
      "PORT_UNTOUCHED",            // an operand that nothing reads has no order
      "WHOLE_BUFFER_CONTRACTION",  // a program without tiles
      "LEADING_AXES_DISAGREE",     // operands of different shapes
      "KNOB_NOT_POSITIVE",
      "CHUNK_OVER_BANK",  // L1 has 256 entries a bank
      "UNIT_ABSENT",      // a machine without clusters
      "ROW_WIDTH"};
  std::size_t refused = 0, taken = 0;
  for (const auto& path : vector_files("compiler/live")) {
    const nlohmann::json file = read_json(path);
    if (file.at("status") != "refused") continue;
    SCOPED_TRACE(path.string());
    Case c{file.at("kernel"), {}, {}};
    for (const auto& [name, tensor] : file.at("inputs").items())
      c.inputs[name] = tensor.at("shape").get<kernel::Shape>();
    for (const auto& [name, value] : file.at("knobs").items()) {
      if (value.is_boolean())
        c.knobs[name] = value.get<bool>();
      else if (value.is_number_integer())
        c.knobs[name] = value.get<std::int64_t>();
      else if (value.is_number())
        c.knobs[name] = value.get<double>();
      else if (value.is_string())
        c.knobs[name] = value.get<std::string>();
    }
    Target target = shipped("reference_6c4v");
    if (file.at("code") == "UNIT_ABSENT") target = made({0, 4});
    try {
      EXPECT_EQ(problem_with(c, target, true), "");
      ++taken;
    } catch (const base::Refusal& refusal) {
      EXPECT_TRUE(kImpossible.contains(refusal.code())) << refusal.what();
      ++refused;
    }
  }
  std::cout << taken << " taken, " << refused << " refused\n";
}

}  // namespace
}  // namespace ktpu::test
