// SPDX-License-Identifier: Apache-2.0
// compiler.md section 14: what each construct of the kernel language becomes, in L4 and in the graph.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <type_traits>

#include "compiler/kernel/definition.h"
#include "compiler/kernel/trace.h"
#include "compiler/kernel_to_graph/lower.h"
#include "compiler/kernels/kernels.h"
#include "tests/unit/compiler/kernel_helpers.h"

namespace ktpu::kernel {
namespace {

using base::Index;
using test::elementwise;
using test::lowered;
using test::product;
using test::statements;

TEST(KernelLanguage, TheThreeRungsGiveTheSameStatements) {
  // A whole-buffer product does not exist; for a pass over elements the first two rungs are these.
  const std::string whole = statements(elementwise([](Trace& L) {
    const Ref x = L.port("x"), y = L.port("y");
    y <<= x * 2.0;
  }));
  const std::string parts = statements(elementwise([](Trace& L) {
    const Ref x = L.port("x"), y = L.port("y");
    L.units(y.parts(8192), [&](const Index& e) { y(e) <<= x(e) * 2.0; });
  }));
  EXPECT_EQ(whole, "apply %y[%_e]: mul(load %x[%_e], const 2)\n");
  EXPECT_EQ(parts, "apply %y[%i0]: mul(load %x[%i0], const 2)\n");

  const std::string tiles = statements(product([](Trace& L) {
    const Ref a = L.port("a"), b = L.port("b"), c = L.port("c");
    L.units(a.tiles(4), b.tiles(4), [&](const Index& i, const Index& j) {
      const Accumulator acc = L.tile(4, 4, 2);
      L.loop(a.chunks32(2), [&](const Index& k) { acc += matmul(a(i, k), b(j, k)); });
      c(i, j) <<= acc;
    });
  }));
  const std::string regions = statements(product([](Trace& L) {
    const Ref a = L.port("a"), b = L.port("b"), c = L.port("c");
    L.units(a.tiles(4), b.tiles(4), [&](const Index& i, const Index& j) {
      const Accumulator acc = L.tile(4, 4, 2);
      const RegionRef ra = L.region(4, 2), rb = L.region(4, 2);
      L.loop(a.chunks32(2), [&](const Index& k) {
        ra <<= a(i, k);
        rb <<= b(j, k);
        acc += matmul(ra, rb);
      });
      c(i, j) <<= acc;
    });
  }));
  EXPECT_EQ(tiles,
            "fill A %a[%i0, %l2 of 2] entry 4x2 step %l2\n"
            "fill B %b[%i1, %l2 of 2] entry 4x2 step %l2\n"
            "gemm %t1 4x4x2 acc %l2\n"
            "drain %t1 4x4 to %c[%i0, %i1]\n");
  EXPECT_EQ(regions, tiles);
}

TEST(KernelLanguage, CountsRoundUp) {
  // a is 40 x 100.
  lowered(product(
      [](Trace& L) {
        const Ref a = L.port("a"), b = L.port("b"), c = L.port("c");
        EXPECT_EQ(a.tiles(8).count, Index(2));
        EXPECT_EQ(a.tiles(3).count, Index(4));
        EXPECT_EQ(a.chunks32(2).count, Index(2));
        EXPECT_EQ(a.chunks32(1).count, Index(4));
        EXPECT_EQ(a.parts(1000).count, Index(4));
        EXPECT_EQ(a.parts(3999).count, Index(2));
        EXPECT_EQ(a.parts(3999).part, 3999U);
        EXPECT_EQ(a.rows(), 40);
        EXPECT_EQ(a.columns(), 100);
        L.units(a.tiles(8), b.tiles(8), [&](const Index& i, const Index& j) {
          const Accumulator acc = L.tile(8, 8, 1);
          acc += matmul(a(i, 0), b(j, 0));
          c(i, j) <<= acc;
        });
      },
      40, 100, 8));
}

TEST(KernelLanguage, EveryLaneOperation) {
  const auto one = [](Value (*op)(const Value&)) {
    return statements(elementwise([op](Trace& L) { L.port("y") <<= op(L.port("x")); }));
  };
  const auto two = [](Value (*op)(const Value&, const Value&)) {
    return statements(elementwise([op](Trace& L) { L.port("y") <<= op(L.port("x"), 3.0); }));
  };
  const std::string x = "load %x[%_e]", to = "apply %y[%_e]: ";
  EXPECT_EQ(one([](const Value& v) { return -v; }), to + "neg(" + x + ")\n");
  EXPECT_EQ(one(absolute), to + "abs(" + x + ")\n");
  EXPECT_EQ(one(exp2), to + "exp2(" + x + ")\n");
  EXPECT_EQ(one(log2), to + "log2(" + x + ")\n");
  EXPECT_EQ(one(recip), to + "recip(" + x + ")\n");
  EXPECT_EQ(one(rsqrt), to + "rsqrt(" + x + ")\n");
  EXPECT_EQ(one(row_sum), to + "row_sum(" + x + ")\n");
  EXPECT_EQ(one(row_max), to + "row_max(" + x + ")\n");
  EXPECT_EQ(one(sqrt_approx), to + "recip(rsqrt(" + x + "))\n");
  EXPECT_EQ(two([](const Value& a, const Value& b) { return a + b; }), to + "add(" + x + ", const 3)\n");
  EXPECT_EQ(two([](const Value& a, const Value& b) { return a - b; }), to + "sub(" + x + ", const 3)\n");
  EXPECT_EQ(two([](const Value& a, const Value& b) { return a / b; }), to + "div(" + x + ", const 3)\n");
  EXPECT_EQ(two([](const Value& a, const Value& b) { return a < b; }), to + "less(" + x + ", const 3)\n");
  EXPECT_EQ(two([](const Value& a, const Value& b) { return a > b; }), to + "greater(" + x + ", const 3)\n");
  EXPECT_EQ(two(equal), to + "equal(" + x + ", const 3)\n");
  EXPECT_EQ(two(maximum), to + "max(" + x + ", const 3)\n");
  EXPECT_EQ(two(minimum), to + "min(" + x + ", const 3)\n");
  EXPECT_EQ(one([](const Value& v) { return where(v, 1.0, 2.0); }),
            to + "select(" + x + ", const 1, const 2)\n");
  EXPECT_EQ(one([](const Value& v) { return fma(v, v, 2.0); }), to + "fma(" + x + ", " + x + ", const 2)\n");
  EXPECT_EQ(one(sqrt_newton), to + "mul(mul(" + x + ", rsqrt(" + x + ")), sub(const 1.5, mul(mul(mul(" + x +
                                  ", rsqrt(" + x + ")), rsqrt(" + x + ")), const 0.5)))\n");
}

TEST(KernelLanguage, LeavesAreDistinctAndInTheOrderOfTheirFirstUse) {
  const graph::Graph g = lowered(elementwise([](Trace& L) {
    const Ref x = L.port("x"), y = L.port("y");
    y <<= (y + 2.0) * (x - 2.0) + y;
  }));
  const graph::Apply& apply = test::first_apply(g);
  ASSERT_EQ(apply.leaves.size(), 3U);
  EXPECT_EQ(g.buffers[apply.leaves[0].buffer].name, "y");
  EXPECT_EQ(apply.leaves[1].value, 2.0);
  EXPECT_EQ(g.buffers[apply.leaves[2].buffer].name, "x");
}

TEST(KernelLanguage, ABareConstantOrLeafIsStoredByAnOperation) {
  EXPECT_EQ(statements(elementwise([](Trace& L) {
              L.units(1, [&](const Index& e) { L.port("y")(e) <<= L.port("x")(e); });
              L.port("y") <<= 3.5;
            })),
            "apply %y[%i0]: mul(load %x[%i0], const 1)\n"
            "apply %y[%_e]: add(mul(load %y[%_e], const 0), const 3.5)\n");
}

TEST(KernelLanguage, ViewsShiftReshapeAndSpread) {
  const auto stored = [](const std::function<Value(const Ref&)>& value) {
    return statements(product([&](Trace& L) { L.port("c") <<= value(L.port("a")) + L.port("b"); }));
  };
  // a is 64 x 128.
  EXPECT_EQ(stored([](const Ref& a) { return a.rows_from(3); }),
            "apply %c[%_e]: add(load %a[%_e] offset 384, load %b[%_e])\n");
  EXPECT_EQ(stored([](const Ref& a) { return a.as_rows(32).rows_from(3); }),
            "apply %c[%_e]: add(load %a[%_e] offset 96, load %b[%_e])\n");
  EXPECT_EQ(stored([](const Ref& a) { return a.rows_from(3).rows_from(2); }),
            "apply %c[%_e]: add(load %a[%_e] offset 640, load %b[%_e])\n");
  EXPECT_EQ(stored([](const Ref& a) { return a.repeated(); }),
            "apply %c[%_e]: add(load %a[%_e] spread 8192 of 8192 whole, load %b[%_e])\n");
  EXPECT_EQ(stored([](const Ref& a) { return a.per_group(8); }),
            "apply %c[%_e]: add(load %a[%_e] spread 128 of 1024, load %b[%_e])\n");
}

TEST(KernelLanguage, AFoldKnowsItsRows) {
  const graph::Graph g = lowered(product([](Trace& L) {
    const Ref a = L.port("a");
    L.port("c") <<= row_sum(a.as_rows(32) * 2.0) + L.port("b");
  }));
  const base::Expr& expr = test::first_apply(g).expr;
  for (const base::Expr::Node& node : expr.nodes()) {
    if (is_fold(node.op)) {
      EXPECT_EQ(node.row, (base::RowShape{256, 32}));
    } else {
      EXPECT_EQ(node.row, std::nullopt);
    }
  }
  // A block of any rank has none.
  const graph::Graph flat = lowered(elementwise([](Trace& L) { L.port("y") <<= row_max(L.port("x")); }));
  EXPECT_EQ(test::first_apply(flat).expr[1].row, std::nullopt);
}

TEST(KernelLanguage, AVectorUnderAnIndexIsReadForEveryRow) {
  EXPECT_EQ(statements(elementwise([](Trace& L) {
              const Ref x = L.port("x"), y = L.port("y"), t = L.temp({60});
              t <<= x * x;
              L.units(1, [&](const Index& e) { y(e) <<= t(e) + x(e); });
              y <<= t + x;
            })),
            "apply %t1[%_e]: mul(load %x[%_e], load %x[%_e])\n"
            "apply %y[%i0]: add(load %t1[%i0] spread 60 of 60 whole, load %x[%i0])\n"
            "apply %y[%_e]: add(load %t1[%_e], load %x[%_e])\n");
}

TEST(KernelLanguage, AnEpilogueReadsTilesChannelsAndAccumulators) {
  const Definition definition{
      "test.epilogue",
      {in("a", {"M", "K"}), in("b", {"N", "K"}), in("r", {"M", "N"}), in("v", {"N"}), out("c", {"M", "N"})},
      {},
      [](Trace& L) {
        const Ref a = L.port("a"), b = L.port("b"), c = L.port("c");
        L.units(a.tiles(2), b.tiles(2), [&](const Index& i, const Index& j) {
          const Accumulator acc = L.tile(2, 2, 1);
          acc += matmul(a(i, 0), b(j, 0));
          c(i, j) <<= acc * L.port("r")(i, j) + L.port("v")(j);
        });
      }};
  EXPECT_EQ(statements(trace(definition, {{"a", {8, 32}}, {"b", {8, 32}}, {"r", {8, 8}}, {"v", {8}}}, {})),
            "fill A %a[%i0, 0 of 1] entry 2x1 step 0\n"
            "fill B %b[%i1, 0 of 1] entry 2x1 step 0\n"
            "gemm %t1 2x2x1 acc 0\n"
            "apply %c[%i0, %i1]: add(mul(resident %t1, tile %r[%i0, %i1]), channel %v[%i1])\n");
}

TEST(KernelLanguage, TwoSweepsShareAnOperandAndKeepTheOthersApart) {
  EXPECT_EQ(statements(trace(*kernels::find("custom.k_gated"),
                             {{"x", {8, 32}}, {"g", {8, 32}}, {"u", {8, 32}}}, {})),
            "fill A %x[%i0, %l2 of 1] entry 8x2 step %l2\n"
            "fill B %g[%i1, %l2 of 1] entry 8x2 step %l2\n"
            "gemm %t1 8x8x2 acc %l2\n"
            "fill A %x[%i0, %l4 of 1] entry 8x2 step %l4\n"
            "fill B %u[%i1, %l4 of 1] entry 8x2 step %l4 operand 1\n"
            "gemm %t3 8x8x2 acc %l4 b 1\n"
            "apply %y[%i0, %i1]: mul(mul(resident %t1, recip(add(exp2(mul(resident %t1, const "
            "-1.4426950408889634)), const 1))), resident %t3)\n");
}

TEST(KernelLanguage, ProductsOfOneTurnTakeTurns) {
  EXPECT_EQ(statements(product([](Trace& L) {
              const Ref a = L.port("a"), b = L.port("b"), c = L.port("c");
              L.units(a.tiles(4), b.tiles(4), [&](const Index& i, const Index& j) {
                const Accumulator acc = L.tile(4, 4, 1);
                L.loop(2, [&](const Index& k) {
                  acc += matmul(a(i, k), b(j, k));
                  acc += matmul(a(i, k + 2), b(j, k + 2));
                });
                c(i, j) <<= acc;
              });
            })),
            "fill A %a[%i0, %l2 of 4] entry 4x1 step (%l2 * 2)\n"
            "fill B %b[%i1, %l2 of 4] entry 4x1 step (%l2 * 2)\n"
            "gemm %t1 4x4x1 acc (%l2 * 2)\n"
            "fill A %a[%i0, %l2 + 2 of 4] entry 4x1 step ((%l2 * 2) + 1)\n"
            "fill B %b[%i1, %l2 + 2 of 4] entry 4x1 step ((%l2 * 2) + 1)\n"
            "gemm %t1 4x4x1 acc ((%l2 * 2) + 1)\n"
            "drain %t1 4x4 to %c[%i0, %i1]\n");
}

TEST(KernelLanguage, TapsOfAConvolution) {
  const std::string text = statements(
      trace(*kernels::find("ops.conv2d"), {{"a", {6, 5, 64}}, {"b", {16, 576}}}, {{"gm", 4}, {"gn", 4}}));
  // Two channel blocks, planes of 8 x 7.
  EXPECT_EQ(
      text,
      "fill A %a[%i0, 0 of 1] conv 4x1 step %l2 lane ((((%l2 mod 2) * 56) + (((%l2 floordiv 2) floordiv "
      "3) * 7)) + ((%l2 floordiv 2) mod 3))\n"
      "fill B %b[%i1, %l2 of 18] entry 4x1 step %l2\n"
      "gemm %t1 4x4x1 acc %l2\n"
      "drain %t1 4x4 to %c[%i0, %i1]\n");
}

TEST(KernelLanguage, ResultOfAConvolution) {
  // A padded image of 7 x 9 pixels, whole entries of 4; tiles of 16 x 32 unless the caller says otherwise.
  const Kernel conv = trace(*kernels::find("ops.conv2d"), {{"a", {5, 7, 32}}, {"b", {8, 288}}}, {});
  EXPECT_EQ(conv.buffers.at(2).shape, (Shape{64, 8}));
  EXPECT_EQ(print(conv.knobs.at("gm")) + print(conv.knobs.at("gn")), "1632");
  const Kernel with_bias = trace(*kernels::find("kernels.conv2d_bias"),
                                 {{"a", {5, 7, 32}}, {"b", {8, 288}}, {"bias", {64, 8}}}, {});
  EXPECT_EQ(print(with_bias.knobs.at("gm")) + print(with_bias.knobs.at("gn")), "1632");
}

TEST(KernelLanguage, TilingsLoopsAndTheirBounds) {
  const std::string text = print(lowered(elementwise([](Trace& L) {
    const Ref x = L.port("x"), y = L.port("y");
    L.loop(3, [&](const Index& i) {
      L.loop(i, [&](const Index&) { y <<= x + y; });
      L.grid(x.parts(20),
             [&](const Index& e) { L.grid(2, [&](const Index& f) { y(e * 2 + f) <<= x(e) * 1.0; }); });
    });
  })));
  EXPECT_NE(text.find("loop %l1 in 3 {"), std::string::npos) << text;
  EXPECT_NE(text.find("loop %l2 in %l1 {"), std::string::npos) << text;
  EXPECT_NE(text.find("grid (%_e in 1) formed {"), std::string::npos) << text;
  EXPECT_NE(text.find("grid (%i0 in 3) {"), std::string::npos) << text;
  EXPECT_NE(text.find("grid (%i1 in 2) {"), std::string::npos) << text;
}

TEST(KernelLanguage, APartIsAsLargeAsPartsSaid) {
  const graph::Graph g = lowered(elementwise([](Trace& L) {
    const Ref x = L.port("x"), y = L.port("y");
    L.units(x.parts(20), [&](const Index& e) { y(e) <<= x(e) * 2.0; });
  }));
  EXPECT_EQ(test::first_apply(g).part, 20U);
}

TEST(KernelLanguage, OneCounterNamesTempsTablesTilesLoopsAndLandings) {
  const auto names = [](const Knobs& knobs) {
    std::string text;
    const Kernel k = trace(test::two_epilogues(), {{"a", {8, 32}}, {"b", {8, 32}}}, knobs);
    for (const Buffer& buffer : k.buffers) text += buffer.name + " ";
    for (const Node& node : *std::get<Tiling>(k.body[0].it).body)
      if (const auto* tile = std::get_if<OpenTile>(&node.it))
        text += fmt::format("tile {} {} ", tile->tile, tile->land);
    return text;
  };
  // Fused, the landings take no number, so the temp behind them comes earlier.
  EXPECT_EQ(names({}), "a b c d t1 k2 t7 tile 3 land5 tile 5 land8 ");
  EXPECT_EQ(names({{"fuse", false}}), "a b c d t1 k2 t9 tile 3 land5 tile 6 land8 ");
}

TEST(KernelLanguage, ATableIsRoundedToFp16) {
  const graph::Graph g = lowered(elementwise([](Trace& L) {
    const Ref x = L.port("x"), y = L.port("y"), k = L.table({2, 2}, {1.0, -2.0, 0.0, 1.0 / 3});
    y <<= x * k.repeated();
  }));
  EXPECT_EQ(g.buffers[2].values, (std::vector<std::uint16_t>{0x3c00, 0xc000, 0, 0x3555}));
}

TEST(KernelLanguage, AValueIsNoNumber) {
  static_assert(!std::is_constructible_v<bool, Value> && !std::is_constructible_v<bool, At>);
  static_assert(!std::is_constructible_v<bool, Ref> && !std::is_constructible_v<bool, Accumulator>);
  static_assert(!std::is_constructible_v<int, Value> && !std::is_constructible_v<double, Value>);
  static_assert(!std::is_convertible_v<Ref, Index> && !std::is_convertible_v<Value, Index>);
}

}  // namespace
}  // namespace ktpu::kernel
