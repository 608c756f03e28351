// SPDX-License-Identifier: Apache-2.0
// Level L5: the text of a graph, its rules; and which kernels its operations call.
#include <gmock/gmock.h>

#include "arch/error.h"
#include "compiler/base/refusal.h"
#include "compiler/kernels/kernels.h"
#include "compiler/tensor/graph.h"
#include "compiler/tensor_to_kernel/lower.h"
#include "compiler/tensor_to_kernel/tiles.h"

namespace ktpu::tensor_to_kernel {
namespace {

using testing::HasSubstr;
using testing::Not;

const Capacity kMesh{4096, 256, 2, 2};

tensor::Graph graph_of(const std::string& lines) {
  return tensor::parse("tensors @g {\n" + lines + "}\n", "g");
}
std::string plan_of(const std::string& lines, const Registry& registry = Registry::library(),
                    const Capacity& capacity = kMesh) {
  const tensor::Graph graph = graph_of(lines);
  return print(graph, lower(graph, registry, capacity));
}
std::string refusal(const std::string& lines) {
  try {
    verify(graph_of(lines));
  } catch (const arch::UserError& error) {
    return error.what();
  }
  return "";
}

TEST(TensorText, PrintThenParseThenPrintIsTheIdentity) {
  const std::string text = R"(tensors @block {
  %x = input <64x128xf16>
  %w = input <32x128xf16>
  %b = input <32xf16>
  %3 = matmul %x, %w <64x32xf16>
  %4 = broadcast %b <64x32xf16>
  %h = add %3, %4 <64x32xf16>
  %6 = constant 0.125
  %7 = mul %h, %6 <64x32xf16>
  %8 = rmsnorm %7 eps 1e-05 <64x32xf16>
  %9 = transpose %8 <32x64xf16>
  %10 = attention %8, %8, %9 causal <64x32xf16>
  result %10
  result %h
}
)";
  const tensor::Graph graph = tensor::parse(text, "t");
  verify(graph);
  EXPECT_EQ(print(graph), text);
  EXPECT_EQ(tensor::parse(print(graph), "t").nodes, graph.nodes);
}

TEST(TensorText, MistakesHaveTheirPlace) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      tensor::parse(text, "t");
    } catch (const arch::UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message("tensors @g {\n  %x = input <4x4xf16>\n  %y = sine %x <4x4xf16>\n}\n"),
              HasSubstr("t:3:8: there is no operation sine"));
  EXPECT_THAT(message("tensors @g {\n  %y = neg %x <4x4xf16>\n}\n"), HasSubstr("%x is not computed above"));
  EXPECT_THAT(message("tensors @g {\n  %x = input <4xf16>\n  %x = input <4xf16>\n}\n"),
              HasSubstr("%x is computed twice"));
}

TEST(TensorRules, OperandsThatDoNotFitAreRefused) {
  const std::string two = "%a = input <4x8xf16>\n%b = input <8x4xf16>\n";
  EXPECT_THAT(refusal(two + "%c = matmul %a, %b <4x8xf16>\n"), HasSubstr("transpose() turns [K, N]"));
  EXPECT_THAT(refusal(two + "%c = add %a, %b <4x8xf16>\n"), HasSubstr("EXTENT_DISAGREES"));
  EXPECT_THAT(refusal(two + "%c = neg %a <8x4xf16>\n"), HasSubstr("its operands make 4x8, it says 8x4"));
  EXPECT_THAT(refusal(two + "%c = broadcast %a <4x16xf16>\n"), HasSubstr("does not repeat"));
  EXPECT_THAT(refusal(two + "%c = reshape %a <5x8xf16>\n"), HasSubstr("does not reshape"));
  EXPECT_THAT(refusal(two + "%c = neg %a, %b <4x8xf16>\n"), HasSubstr("operands are too few or too many"));
  EXPECT_THAT(refusal("%c = constant 2.0\n%d = neg %c <4xf16>\n"), HasSubstr("constants alone"));
  EXPECT_EQ(refusal(two + "%c = transpose %b <4x8xf16>\n%d = add %a, %c <4x8xf16>\n"), "");
}

const std::string kProduct =
    "%x = input <64x64xf16>\n%w = input <32x64xf16>\n%b = input <32xf16>\n%m = matmul %x, %w <64x32xf16>\n";

TEST(TensorToKernel, EpiloguesFoldIntoTheProduct) {
  EXPECT_THAT(plan_of(kProduct + "%y = silu %m <64x32xf16>\nresult %y\n"),
              HasSubstr("%y = call kernels.linear_silu (w = %w, x = %x)"));
  const std::string biased = kProduct + "%r = broadcast %b <64x32xf16>\n%h = add %r, %m <64x32xf16>\n";
  EXPECT_THAT(plan_of(biased + "result %h\n"), HasSubstr("%h = call kernels.linear_bias (b = %b"));
  // Without vector cores beside it a bias has no place beside the accumulator.
  EXPECT_THAT(plan_of(biased + "result %h\n", Registry::library(), {4096, 256, 2, 0}),
              HasSubstr("kernels.linear_add (b = %r"));
  EXPECT_THAT(plan_of(biased + "%y = relu %h <64x32xf16>\nresult %y\n"),
              HasSubstr("%y = call kernels.linear_add_relu"));
  EXPECT_THAT(plan_of(kProduct + "%c = constant 0.5\n%y = mul %m, %c <64x32xf16>\nresult %y\n"),
              HasSubstr("kernels.linear_scale (w = %w, x = %x) gm=8 gn=8 nk=2 s=0.5"));
}

TEST(TensorToKernel, WhatHasAnotherUserIsComputedOnItsOwn) {
  const std::string plan = plan_of(kProduct + "%y = silu %m <64x32xf16>\nresult %y\nresult %m\n");
  EXPECT_THAT(plan, HasSubstr("%m = call ops.matmul"));
  EXPECT_THAT(plan, HasSubstr("%y = call ops.silu (x = %m)"));
}

TEST(TensorToKernel, GatesAndMlps) {
  const std::string two = kProduct + "%v = input <32x64xf16>\n%u = matmul %x, %v <64x32xf16>\n";
  for (const auto& [act, kernel] : {std::pair{"silu", "kernels.swiglu"}, {"gelu", "kernels.geglu"}})
    EXPECT_THAT(plan_of(two + "%g = " + act + " %m <64x32xf16>\n%y = mul %u, %g <64x32xf16>\nresult %y\n"),
                HasSubstr(std::string("%y = call ") + kernel + " (wg = %w, wu = %v, x = %x)"));
  EXPECT_THAT(plan_of(kProduct + "%d = input <16x32xf16>\n%a = relu %m <64x32xf16>\n"
                                 "%y = matmul %a, %d <64x16xf16>\nresult %y\n"),
              HasSubstr("call kernels.mlp (down = %d, up = %w, x = %x) act=\"relu\""));
}

TEST(TensorToKernel, ElementwiseOperationsRunTogetherAsFarAsOnePassHoldsThem) {
  const std::string x = "%x = input <4x32xf16>\n%y = input <4x32xf16>\n%z = input <4x32xf16>\n";
  EXPECT_EQ(plan_of(x + "%s = add %x, %y <4x32xf16>\n%p = mul %s, %z <4x32xf16>\nresult %p\n"),
            "%p = call tensor.elementwise (x0 = %x, x1 = %y, x2 = %z)  # mul(add(x0, x1), x2)\n");
  // Four arrays are one too many: two passes.
  const std::string plan = plan_of(x +
                                   "%v = input <4x32xf16>\n%s = add %x, %y <4x32xf16>\n"
                                   "%t = add %s, %z <4x32xf16>\n%p = mul %t, %v <4x32xf16>\nresult %p\n");
  EXPECT_THAT(plan, HasSubstr("%s = call ops.residual (a = %x, b = %y)"));
  EXPECT_THAT(plan, HasSubstr("%p = call tensor.elementwise (x0 = %s, x1 = %z, x2 = %v)"));
  EXPECT_EQ(plan_of(x + "%s = neg %x <4x32xf16>\n%unused = neg %y <4x32xf16>\nresult %s\n"),
            "%s = call ops.neg (x = %x)\n");
}

TEST(TensorToKernel, RowsWiderThanAVectorTakeTheWideKernels) {
  EXPECT_THAT(plan_of("%x = input <4x128xf16>\n%y = softmax %x <4x128xf16>\nresult %y\n"),
              HasSubstr("call kernels.softmax (x = %x)"));
  EXPECT_THAT(plan_of("%x = input <4x512xf16>\n%y = softmax %x <4x512xf16>\nresult %y\n"),
              HasSubstr("call kernels.softmax_wide (x = %x) rows=4"));
  EXPECT_THAT(plan_of("%x = input <4x16384xf16>\n%y = softmax %x <4x16384xf16>\nresult %y\n"),
              HasSubstr("part=16384 rows=128"));
}

TEST(TensorToKernel, TilesAreThoseOfTheTileChoice) {
  const std::string plan = plan_of(
      "%x = input <256x256xf16>\n%w = input <256x256xf16>\n%y = matmul %x, %w <256x256xf16>\nresult %y\n");
  EXPECT_THAT(plan, HasSubstr("gm=64 gn=64 nk=3"));  // 4 would be a FILL of 256, one longer than there is
  const kernel::Definition* matmul = kernels::find("ops.matmul");
  ASSERT_NE(matmul, nullptr);
  const std::map<std::string, kernel::Shape> shapes{{"a", {300, 300}}, {"b", {300, 300}}};
  // The legacy capacities of section 6: 16 x 16 x 1.
  kernel::Knobs knobs = with_tiles(*matmul, shapes, {}, {256, 16, 2, 2});
  EXPECT_EQ(knobs.at("gm"), kernel::Knob(std::int64_t{16}));
  EXPECT_EQ(knobs.at("gn"), kernel::Knob(std::int64_t{16}));
  EXPECT_EQ(knobs.at("nk"), kernel::Knob(std::int64_t{1}));
  // What the caller gives stays.
  knobs = with_tiles(*matmul, shapes, {{"gm", std::int64_t{4}}}, kMesh);
  EXPECT_EQ(knobs.size(), 1U);
  EXPECT_THAT(explain_tiles(kernel::trace(*matmul, shapes, {}), kMesh), HasSubstr("chosen"));
}

TEST(Substitutions, TheFirstRegisteredMatchWins) {
  Registry registry;
  Substitution mine{"mine",
                    Pattern::op(tensor::Op::kMatmul, {Pattern::any("p"), Pattern::any("q")}),
                    {kernels::find("custom.k_region"), [](const kernel::Definition*) {}},
                    {{"p", "a"}, {"q", "b"}}};
  registry.add(mine);
  registry.add_library();
  const std::string lines = kProduct + "result %m\n";
  EXPECT_THAT(plan_of(lines, registry), HasSubstr("call custom.k_region (a = %x, b = %w)"));
  Registry later = Registry::library();
  later.add(mine);
  EXPECT_THAT(plan_of(lines, later), HasSubstr("call ops.matmul"));
}

TEST(Substitutions, TheSameNameIsTheSameValue) {
  const Pattern square = Pattern::op(tensor::Op::kMul, {Pattern::any("x"), Pattern::any("x")});
  const tensor::Graph graph =
      graph_of("%x = input <4xf16>\n%y = input <4xf16>\n%a = mul %x, %y <4xf16>\n%b = mul %x, %x <4xf16>\n");
  EXPECT_FALSE(match(square, graph, graph.uses(), 2));
  EXPECT_TRUE(match(square, graph, graph.uses(), 3));
}

TEST(Substitutions, ARefusalOfTheMatchedKernelIsReported) {
  const std::string lines =
      "%x = input <4x384xf16>\n%y = softmax %x <4x384xf16>\nresult %y\n";  // three sub-rows
  const tensor::Graph graph = graph_of(lines);
  const Plan plan = lower(graph, Registry::library(), kMesh);
  const auto& call = std::get<KernelCall>(plan.steps.at(0));
  EXPECT_THROW(kernel::trace(*call.kernel, {{"x", {4, 384}}}, call.knobs), base::Refusal);
  EXPECT_THROW(lower(graph, Registry{}, kMesh), base::Refusal);  // nothing computes a softmax
}

TEST(Substitutions, AMistakeInOneIsFoundWhenItIsRegistered) {
  Registry registry;
  Substitution bad{"bad",
                   Pattern::op(tensor::Op::kNeg, {Pattern::any("p")}),
                   {kernels::find("ops.neg"), [](const kernel::Definition*) {}},
                   {{"p", "z"}}};
  EXPECT_THROW(registry.add(bad), arch::UserError);
  bad.ports = {};
  EXPECT_THROW(registry.add(bad), arch::UserError);
}

}  // namespace
}  // namespace ktpu::tensor_to_kernel
