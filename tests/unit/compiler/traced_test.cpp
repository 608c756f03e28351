// SPDX-License-Identifier: Apache-2.0
// compiler.md sections 8.1, 8.3, 8.5 and 8.7: traced graphs.
#include <gtest/gtest.h>

#include "compiler/base/refusal.h"
#include "compiler/traced/rewrite.h"
#include "compiler/traced/shared_a.h"

namespace ktpu::traced {
namespace {

Op op(std::string kind, std::vector<Value> in, Value out, Shape shape, std::vector<std::uint32_t> axes = {},
      bool keepdim = false) {
  return {std::move(kind), std::move(in), out, std::move(shape), std::move(axes), keepdim};
}

std::string code_of(const Graph& graph) {
  try {
    refuse_unbandable(graph, 128);
  } catch (const base::Refusal& refusal) {
    return refusal.code();
  }
  return "none";
}

TEST(CompilerSec8Traced, AWideReductionIsCutUntilItFits) {
  Graph graph{{op("input", {}, 0, {1, 65536}), op("sum", {0}, 1, {1}, {1})}, {1}};
  split_wide(graph, 128);
  const std::vector<Op> expected{op("input", {}, 0, {1, 65536}),   op("reshape", {0}, 2, {1, 512, 128}),
                                 op("sum", {2}, 3, {1, 512}, {2}), op("reshape", {3}, 5, {1, 4, 128}),
                                 op("sum", {5}, 6, {1, 4}, {2}),   op("sum", {6}, 7, {1}, {1})};
  EXPECT_EQ(graph.ops, expected);
  EXPECT_EQ(graph.outputs, std::vector<Value>{7});
  verify(graph);
  const std::vector<Op> before = graph.ops;
  split_wide(graph, 128);
  EXPECT_EQ(graph.ops, before);
}

TEST(CompilerSec8Traced, SquaresAreTakenOnceAndKeptAxesComeBack) {
  Graph graph{
      {op("input", {}, 0, {4, 256}), op("sumsq", {0}, 1, {4, 1}, {1}, true), op("neg", {1}, 2, {4, 1})}, {2}};
  split_wide(graph, 128);
  ASSERT_EQ(graph.ops.size(), 6u);
  EXPECT_EQ(graph.ops[2].kind, "sumsq");
  EXPECT_EQ(graph.ops[3].kind, "sum");
  EXPECT_EQ(graph.ops[4], op("reshape", {5}, 6, {4, 1}));
  EXPECT_EQ(graph.ops[5].in, std::vector<Value>{6});
  verify(graph);
}

TEST(CompilerSec8Traced, WhatNoBandHoldsIsRefused) {
  Graph prime{{op("input", {}, 0, {4, 257}), op("sum", {0}, 1, {4}, {1})}, {1}};
  split_wide(prime, 128);
  EXPECT_EQ(code_of(prime), "WIDE_REDUCTION");
  // Only last axes are cut.
  Graph first{{op("input", {}, 0, {256, 4}), op("sum", {0}, 1, {4}, {0})}, {1}};
  split_wide(first, 128);
  EXPECT_EQ(code_of(first), "WIDE_REDUCTION");
  EXPECT_EQ(code_of({{op("input", {}, 0, {128, 4}), op("sum", {0}, 1, {4}, {0})}, {1}}), "none");
  EXPECT_EQ(
      code_of({{op("input", {}, 0, {8, 4}), op("expand", {0}, 1, {2, 8, 4}), op("reshape", {1}, 2, {16, 4})},
               {2}}),
      "VIEW_OUTPUT");
  EXPECT_EQ(
      code_of({{op("input", {}, 0, {8, 4}), op("neg", {0}, 1, {8, 4}), op("reshape", {1}, 2, {32})}, {2}}),
      "none");
}

TEST(CompilerSec8Traced, ProductsOfOneAAgreeOnItsTile) {
  const base::TileLimits card{512, 128, 256, 2};
  const auto two = [](Value second) {
    return Graph{
        {op("input", {}, 0, {256, 256}), op("input", {}, 1, {256, 32}), op("input", {}, 2, {256, 512}),
         op("slice", {0}, 3, {256, 256}), op("reshape", {0}, 4, {256, 256}),
         op("matmul", {0, 1}, 5, {256, 32}), op("matmul", {second, 2}, 6, {256, 512})},
        {5, 6}};
  };
  const base::TileCandidate narrow = base::choose_tile({256, 32, 256}, card);
  const base::TileCandidate broad = base::choose_tile({256, 512, 256}, card);
  ASSERT_NE(narrow.bk(), broad.bk());
  const std::map<Value, Blocking> shared{
      {0, {std::min(narrow.bm(), broad.bm()), std::min(narrow.bk(), broad.bk())}}};
  EXPECT_EQ(shared_a_blocking(two(0), card), shared);
  EXPECT_EQ(shared_a_blocking(two(4), card), shared);
  // A window is packed for itself.
  EXPECT_TRUE(shared_a_blocking(two(3), card).empty());
}

TEST(CompilerSec8Traced, ABrokenGraphIsRefusedByName) {
  EXPECT_THROW(verify({{op("neg", {1}, 0, {4})}, {}}), arch::UserError);
  EXPECT_THROW(verify({{op("input", {}, 0, {4}), op("exp", {0}, 1, {4})}, {}}), arch::UserError);
  EXPECT_THROW(verify({{op("input", {}, 0, {4}), op("sum", {0}, 1, {}, {1})}, {}}), arch::UserError);
  EXPECT_THROW(verify({{op("input", {}, 0, {4}), op("input", {}, 0, {4})}, {}}), arch::UserError);
}

}  // namespace
}  // namespace ktpu::traced
