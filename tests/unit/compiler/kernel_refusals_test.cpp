// SPDX-License-Identifier: Apache-2.0
// compiler.md section 25: everything that is refused while arguments are bound or the body runs, with the
// phase, the code and a cure.
#include <gtest/gtest.h>

#include <optional>

#include "compiler/base/refusal.h"
#include "compiler/kernel/definition.h"
#include "compiler/kernel/trace.h"
#include "compiler/kernel_to_graph/lower.h"
#include "compiler/kernels/kernels.h"
#include "tests/unit/compiler/kernel_helpers.h"

namespace ktpu::kernel {
namespace {

using base::Index;
using base::Phase;

template <class F>
std::string refusal(const F& run) {
  try {
    run();
  } catch (const base::Refusal& r) {
    // "what (CODE, phase): cure"
    const std::string text = r.what();
    EXPECT_GT(text.size(), text.find("): ") + 8) << text;
    return std::string(name(r.phase())) + " " + r.code();
  }
  return "taken";
}
std::string in_product(const test::Make& body) {
  return refusal([&] { kernel_to_graph::lower(test::product(body)); });
}
std::string in_elementwise(const test::Make& body) {
  return refusal([&] { kernel_to_graph::lower(test::elementwise(body)); });
}
// `inside` runs in a tiling of a @ b^T.
using Inside = std::function<void(Trace&, const Ref&, const Ref&, const Ref&, const Index&, const Index&)>;
std::string in_tiling(const Inside& inside) {
  return in_product([&](Trace& L) {
    const Ref a = L.port("a"), b = L.port("b"), c = L.port("c");
    L.units(a.tiles(4), b.tiles(4), [&](const Index& i, const Index& j) { inside(L, a, b, c, i, j); });
  });
}
std::string in_library(const char* name, const std::map<std::string, Shape>& inputs, const Knobs& knobs) {
  return refusal([&] { trace(*kernels::find(name), inputs, knobs); });
}

TEST(KernelRefusals, Binding) {
  const std::map<std::string, Shape> good{{"a", {8, 32}}, {"b", {8, 32}}};
  const auto with = [&](const std::string& name, const Shape& shape) {
    std::map<std::string, Shape> changed = good;
    changed[name] = shape;
    return in_library("ops.matmul", changed, {});
  };
  EXPECT_EQ(with("a", {8, 32}), "taken");
  EXPECT_EQ(with("a", {8, 64}), "bind EXTENT_DISAGREES");
  EXPECT_EQ(with("b", {2, 8, 32}), "bind WRONG_RANK");
  EXPECT_EQ(with("a", {8}), "bind WRONG_RANK");
  EXPECT_EQ(with("c", {8, 8}), "bind OUT_PASSED");
  EXPECT_EQ(with("d", {8, 8}), "bind UNEXPECTED_ARGUMENT");
  EXPECT_EQ(with("a", {0, 32}), "bind EXTENT_ZERO");
  EXPECT_EQ(in_library("ops.matmul", {{"a", {8, 32}}}, {}), "bind MISSING_ARGUMENT");
  EXPECT_EQ(in_library("ops.residual", {{"a", {256}}, {"b", {128}}}, {}), "bind LEADING_AXES_DISAGREE");
  EXPECT_EQ(in_library("kernels.linear_add", {{"x", {2, 8, 32}}, {"w", {8, 32}}, {"b", {3, 8, 8}}}, {}),
            "bind LEADING_AXES_DISAGREE");
  EXPECT_EQ(in_library("ops.matmul", good, {{"gk", 1}}), "bind UNKNOWN_KNOB");
  EXPECT_EQ(in_library("ops.matmul", good, {{"gm", "eight"}}), "bind KNOB_TYPE");
  EXPECT_EQ(in_library("ops.matmul", good, {{"fuse", 1}}), "bind KNOB_TYPE");
  // A convolution's bias has to be as large as the padded plane.
  EXPECT_EQ(in_library("kernels.conv2d_bias", {{"a", {4, 4, 32}}, {"b", {8, 288}}, {"bias", {16, 8}}}, {}),
            "bind EXTENT_DISAGREES");
  // Arithmetic does not solve for its symbols.
  const Definition unsolved{"test.unsolved", {in("x", {symbol("N") * 2}), out("y", {"N"})}, {}, {}};
  EXPECT_EQ(refusal([&] { bind(unsolved, {{"x", {8}}}, {}); }), "bind EXTENT_UNSOLVED");
  const Definition alone{"test.alone", {in("x", {"N"}), out("y", {"..."})}, {}, {}};
  EXPECT_EQ(refusal([&] { bind(alone, {{"x", {8}}}, {}); }), "bind EXTENT_UNSOLVED");
}

TEST(KernelRefusals, Knobs) {
  const std::map<std::string, Shape> good{{"a", {8, 32}}, {"b", {8, 32}}};
  for (const char* knob : {"gm", "gn", "nk"}) {
    EXPECT_EQ(in_library("ops.matmul", good, {{knob, 0}}), "trace KNOB_NOT_POSITIVE") << knob;
    EXPECT_EQ(in_library("ops.matmul", good, {{knob, -1}}), "trace KNOB_NOT_POSITIVE") << knob;
  }
  EXPECT_EQ(in_library("ops.silu", {{"x", {8}}}, {{"part", 0}}), "trace KNOB_NOT_POSITIVE");
}

TEST(KernelRefusals, Products) {
  EXPECT_EQ(in_product([](Trace& L) { L.port("c") <<= matmul(L.port("a"), L.port("b")); }),
            "trace WHOLE_BUFFER_CONTRACTION");
  EXPECT_EQ(in_tiling([](Trace& L, const Ref& a, const Ref& b, const Ref&, const Index&, const Index&) {
              L.tile(4, 4, 2) += matmul(a, b);
            }),
            "trace WHOLE_BUFFER_CONTRACTION");
  EXPECT_EQ(in_tiling([](Trace&, const Ref& a, const Ref& b, const Ref& c, const Index& i, const Index& j) {
              c(i, j) <<= matmul(a(i, 0), b(j, 0));
            }),
            "trace CONTRACTION_WITHOUT_TILE");
  EXPECT_EQ(in_tiling([](Trace& L, const Ref&, const Ref& b, const Ref&, const Index&, const Index& j) {
              const Accumulator acc = L.tile(4, 4, 2);
              acc += matmul(acc, b(j, 0));
            }),
            "trace TILE_IN_PRODUCT");
  EXPECT_EQ(in_tiling([](Trace& L, const Ref& a, const Ref& b, const Ref&, const Index& i, const Index& j) {
              L.tile(4, 4, 2) += matmul(a(i, 0) * 2.0, b(j, 0));
            }),
            "trace EXPRESSION_IN_PRODUCT");
  EXPECT_EQ(in_elementwise([](Trace& L) {
              Value v = L.port("x") * 2.0;
              v += 1.0;
            }),
            "trace ADD_TO_EXPRESSION");
  EXPECT_EQ(in_elementwise([](Trace& L) { L.port("y") += 1.0; }), "trace ADD_TO_EXPRESSION");
  EXPECT_EQ(in_tiling([](Trace& L, const Ref& a, const Ref&, const Ref&, const Index& i, const Index&) {
              L.tile(4, 4, 2) += a(i, 0) * 1.0;
            }),
            "trace ADD_TO_EXPRESSION");
}

TEST(KernelRefusals, Sweeps) {
  EXPECT_EQ(in_library("custom.k_nested", {{"a", {8, 32}}, {"b", {8, 32}}}, {}),
            "trace TILE_SWEPT_IN_TWO_LOOPS");
  const auto swept_in_a_tiling = [](Trace& L, const Ref& a, const Ref& b, const Ref& c, const Index& i,
                                    const Index& j) {
    const Accumulator acc = L.tile(4, 4, 1);
    L.grid(2, [&](const Index& k) { acc += matmul(a(i, k), b(j, k)); });
    c(i, j) <<= acc;
  };
  EXPECT_EQ(in_tiling(swept_in_a_tiling), "trace TILE_SWEPT_IN_TWO_LOOPS");
  const auto two_places = [](Trace& L, const Ref& a, const Ref& b, const Ref& c, const Index& i,
                             const Index& j) {
    const Accumulator acc = L.tile(4, 4, 1);
    L.loop(2, [&](const Index& k) { acc += matmul(a(i, k), b(j, k)); });
    L.loop(2, [&](const Index& k) { acc += matmul(a(i, k + 2), b(j, k + 2)); });
    c(i, j) <<= acc;
  };
  EXPECT_EQ(in_tiling(two_places), "trace TILE_SWEPT_IN_TWO_LOOPS");
  const auto in_turns = [](Trace& L, const Ref& a, const Ref& b, const Ref& c, const Index& i,
                           const Index& j) {
    const Accumulator one = L.tile(4, 4, 1), other = L.tile(4, 4, 1);
    L.loop(4, [&](const Index& k) {
      one += matmul(a(i, k), b(j, k));
      other += matmul(a(i, k), b(j, k));
    });
    c(i, j) <<= one * other;
  };
  EXPECT_EQ(in_tiling(in_turns), "trace SWEEPS_INTERLEAVED");
  const auto goes_on = [](Trace& L, const Ref& a, const Ref& b, const Ref& c, const Index& i,
                          const Index& j) {
    const Accumulator acc = L.tile(4, 4, 1);
    acc += matmul(a(i, 0), b(j, 0));
    c(i, j) <<= acc;
    acc += matmul(a(i, 1), b(j, 1));
  };
  EXPECT_EQ(in_tiling(goes_on), "trace SWEEP_AFTER_STORE");
  EXPECT_EQ(in_tiling([](Trace& L, const Ref&, const Ref&, const Ref& c, const Index& i, const Index& j) {
              c(i, j) <<= L.tile(4, 4, 1);
            }),
            "trace TILE_NEVER_SWEPT");
  EXPECT_EQ(in_product([](Trace& L) { L.tile(4, 4, 1); }), "trace TILE_OUTSIDE_TILING");
  const auto carried = [](Trace& L) {
    const Ref a = L.port("a"), b = L.port("b"), c = L.port("c");
    std::optional<Accumulator> kept;
    L.units(1, 1, [&](const Index& i, const Index& j) {
      kept = L.tile(4, 4, 1);
      *kept += matmul(a(i, 0), b(j, 0));
    });
    L.units(1, 1, [&](const Index& i, const Index& j) { c(i, j) <<= *kept; });
  };
  EXPECT_EQ(in_product(carried), "trace TILE_OUTSIDE_TILING");
}

TEST(KernelRefusals, Regions) {
  const auto with = [](std::int64_t a_groups, std::int64_t a_blocks, std::int64_t b_blocks, bool swapped) {
    return in_tiling([=](Trace& L, const Ref& a, const Ref& b, const Ref& c, const Index& i, const Index& j) {
      const Accumulator acc = L.tile(4, 4, 2);
      const RegionRef ra = L.region(a_groups, a_blocks), rb = L.region(4, b_blocks);
      ra <<= a(i, 0);
      rb <<= b(j, 0);
      acc += matmul(ra, rb);
      if (swapped) {
        rb <<= a(i, 1);
        ra <<= b(j, 1);
        acc += matmul(rb, ra);
      }
      c(i, j) <<= acc;
    });
  };
  EXPECT_EQ(with(4, 2, 2, false), "taken");
  EXPECT_EQ(with(4, 2, 1, false), "trace K_BLOCKS_DIFFER");
  EXPECT_EQ(with(4, 1, 1, false), "trace K_BLOCKS_DIFFER");
  EXPECT_EQ(with(2, 2, 2, false), "trace REGION_SHAPE");
  EXPECT_EQ(with(4, 2, 2, true), "trace REGION_BOTH_SIDES");
  EXPECT_EQ(in_tiling([](Trace& L, const Ref& a, const Ref&, const Ref& c, const Index& i, const Index& j) {
              const Accumulator acc = L.tile(4, 4, 2);
              const RegionRef r = L.region(4, 2);
              r <<= a(i, 0);
              acc += matmul(r, r);
              c(i, j) <<= acc;
            }),
            "trace REGION_BOTH_SIDES");
  EXPECT_EQ(in_tiling([](Trace& L, const Ref& a, const Ref& b, const Ref& c, const Index& i, const Index& j) {
              const Accumulator acc = L.tile(4, 4, 2);
              L.region(4, 2) <<= a(i, 0);
              acc += matmul(a(i, 0), b(j, 0));
              c(i, j) <<= acc;
            }),
            "trace FILL_UNUSED");
  // Two fills, one product: the first is lost.
  EXPECT_EQ(in_tiling([](Trace& L, const Ref& a, const Ref& b, const Ref& c, const Index& i, const Index& j) {
              const Accumulator acc = L.tile(4, 4, 2);
              const RegionRef r = L.region(4, 2);
              r <<= a(i, 0);
              r <<= a(i, 1);
              acc += matmul(r, b(j, 0));
              c(i, j) <<= acc;
            }),
            "trace FILL_UNUSED");
  EXPECT_EQ(in_tiling([](Trace& L, const Ref& a, const Ref& b, const Ref& c, const Index& i, const Index& j) {
              const Accumulator acc = L.tile(4, 4, 2);
              const RegionRef r = L.region(4, 2);
              r <<= a(i, 0);
              L.loop(2, [&](const Index& k) { acc += matmul(r, b(j, k)); });
              c(i, j) <<= acc;
            }),
            "trace REGION_NOT_FILLED");
  EXPECT_EQ(in_tiling([](Trace& L, const Ref& a, const Ref& b, const Ref& c, const Index& i, const Index& j) {
              const Accumulator acc = L.tile(4, 4, 2);
              const RegionRef r = L.region(4, 2);
              r <<= a(i, 0);
              acc += matmul(r, b(j, 0));
              acc += matmul(r, b(j, 1));
              c(i, j) <<= acc;
            }),
            "trace REGION_REUSED");
}

TEST(KernelRefusals, Statements) {
  EXPECT_EQ(in_elementwise([](Trace&) {}), "trace BODY_OPENS_NO_TILING");
  EXPECT_EQ(in_library("custom.k_fillc", {{"x", {8}}}, {}), "layout PORT_UNTOUCHED");
  EXPECT_EQ(in_elementwise([](Trace& L) { L.port("y").repeated() <<= L.port("x") * 1.0; }),
            "trace WRITE_TO_SPREAD");
  EXPECT_EQ(in_elementwise([](Trace& L) { L.port("x") <<= L.port("y") * 1.0; }), "trace WRITE_TO_INPUT");
  EXPECT_EQ(
      in_elementwise([](Trace& L) { L.units(1, [&](const Index&) { L.port("y") <<= L.port("x") * 1.0; }); }),
      "trace WHOLE_STORE_IN_TILING");
  EXPECT_EQ(in_elementwise([](Trace& L) { L.port("y")(0) <<= L.port("x")(0) * 1.0; }),
            "trace INDEX_OUT_OF_SCOPE");
  EXPECT_EQ(in_elementwise([](Trace& L) {
              Index kept;
              L.units(1, [&](const Index& e) { kept = e; });
              L.units(1, [&](const Index& e) { L.port("y")(e) <<= L.port("x")(kept) * 1.0; });
            }),
            "trace INDEX_OUT_OF_SCOPE");
  EXPECT_EQ(in_elementwise(
                [](Trace& L) { L.units(1, [&](const Index& e) { L.port("y")(e) <<= L.port("x") * 1.0; }); }),
            "trace TILE_INDEX_COUNT");
  EXPECT_EQ(in_tiling([](Trace&, const Ref& a, const Ref&, const Ref& c, const Index& i, const Index& j) {
              c(i, j) <<= a(i, j) * 1.0;
            }),
            "trace TILE_INDEX_COUNT");
  EXPECT_EQ(in_elementwise([](Trace& L) { L.table({4}, {1.0}); }), "trace TABLE_VALUES");
}

TEST(KernelRefusals, Views) {
  const auto tile_of = [](const std::function<Ref(const Ref&)>& view) {
    return in_tiling([&](Trace& L, const Ref& a, const Ref& b, const Ref& c, const Index& i, const Index& j) {
      const Accumulator acc = L.tile(4, 4, 1);
      acc += matmul(view(a)(i, 0), b(j, 0));
      c(i, j) <<= acc;
    });
  };
  EXPECT_EQ(tile_of([](const Ref& a) { return a; }), "taken");
  EXPECT_EQ(tile_of([](const Ref& a) { return a.rows_from(1); }), "trace CLUSTER_INDEX_ON_VIEW");
  EXPECT_EQ(tile_of([](const Ref& a) { return a.as_rows(64); }), "trace CLUSTER_INDEX_ON_VIEW");
  EXPECT_EQ(tile_of([](const Ref& a) { return a.per_group(2); }), "trace CLUSTER_INDEX_ON_VIEW");
  EXPECT_EQ(tile_of([](const Ref& a) { return a.rows_from(64); }), "trace ROWS_OUT_OF_RANGE");
  EXPECT_EQ(tile_of([](const Ref& a) { return a.as_rows(100); }), "trace ROWS_NOT_WHOLE");
  EXPECT_EQ(tile_of([](const Ref& a) { return a.repeated().rows_from(1); }), "trace VIEW_OF_VIEW");
  EXPECT_EQ(tile_of([](const Ref& a) { return a.repeated().repeated(); }), "trace VIEW_OF_VIEW");
  EXPECT_EQ(tile_of([](const Ref& a) { return a.per_group(0); }), "trace KNOB_NOT_POSITIVE");
  EXPECT_EQ(tile_of([](const Ref& a) { return a.taps(); }), "trace CONV_RANK");
}

TEST(KernelRefusals, ValuesBelongToTheirTrace) {
  std::optional<Value> kept;
  test::elementwise([&](Trace& L) {
    kept = L.port("x") * 2.0;
    L.port("y") <<= *kept;
  });
  EXPECT_EQ(refusal([&] { *kept + 1.0; }), "trace TRACE_CLOSED");
  EXPECT_EQ(in_elementwise([&](Trace& L) { L.port("y") <<= *kept; }), "trace TRACE_CLOSED");
  EXPECT_EQ(in_elementwise([&](Trace& outer) {
              test::elementwise([&](Trace& inner) { inner.port("y") <<= outer.port("x") * inner.port("x"); });
            }),
            "trace FOREIGN_VALUE");
}

TEST(KernelRefusals, Attention) {
  const auto with = [](const Knobs& more, std::uint32_t queries = 64, std::uint32_t keys = 64) {
    Knobs knobs{{"block", 32}, {"nk", 1}};
    for (const auto& [name, value] : more) knobs[name] = value;
    const bool wide = knobs["block"] == kernel::Knob(std::int64_t{48});
    return in_library("kernels.flash_attention",
                      {{"q", {queries, 32}}, {"k", {keys, 32}}, {"v", {wide ? 48U : 32U, keys}}}, knobs);
  };
  EXPECT_EQ(with({{"block", 64}}), "layout REACH_DIFFERS");
  EXPECT_EQ(with({}), "taken");
  EXPECT_EQ(with({{"causal", true}}), "taken");
  EXPECT_EQ(with({{"keys", 50}}), "taken");
  EXPECT_EQ(with({{"causal", true}, {"qblock", 64}}), "trace CAUSAL_QBLOCK");
  EXPECT_EQ(with({{"causal", true}, {"keys", 50}}), "trace CAUSAL_KEYS");
  EXPECT_EQ(with({{"causal", true}, {"groups", 2}}), "trace CAUSAL_GROUPS");
  EXPECT_EQ(with({{"causal", true}}, 96, 64), "build CAUSAL_KEYS");
  EXPECT_EQ(with({{"qblock", 24}}), "trace ATTENTION_QBLOCK");
  EXPECT_EQ(with({}, 64, 80), "trace ATTENTION_KEYS");
  EXPECT_EQ(with({{"keys", 65}}), "trace ATTENTION_KEYS");
  // A block has to be whole tiles and chunks, or block 1 reads what block 0 should.
  EXPECT_EQ(with({{"qblock", 32}, {"gm", 16}}), "layout ATTENTION_GRAIN");
  EXPECT_EQ(with({{"gn", 16}}), "layout ATTENTION_GRAIN");
  EXPECT_EQ(with({{"block", 48}, {"gn", 4}, {"nk", 2}}, 64, 96), "build ATTENTION_GRAIN");
  EXPECT_EQ(with({{"block", 48}, {"gn", 4}, {"nk", 2}, {"keys", 48}}, 64, 96), "taken");
}

TEST(KernelRefusals, WideRowsAndConvolutions) {
  const auto wide = [](const Knobs& knobs) {
    return in_library("kernels.softmax_wide", {{"x", {4, 512}}}, knobs);
  };
  EXPECT_EQ(wide({{"rows", 4}}), "taken");
  EXPECT_EQ(wide({}), "bind KNOB_TYPE");
  EXPECT_EQ(wide({{"rows", 3}}), "trace WIDE_ROWS");
  EXPECT_EQ(wide({{"rows", 2}}), "trace WIDE_ROWS");
  EXPECT_EQ(wide({{"rows", 4}, {"width", 64}}), "trace WIDE_WIDTH");
  EXPECT_EQ(wide({{"rows", 4}, {"part", 1000}}), "trace WIDE_PART");
  EXPECT_EQ(in_library("ops.conv2d", {{"a", {4, 4, 16}}, {"b", {8, 144}}}, {}), "pack CONV_CHANNELS");
  EXPECT_EQ(in_library("ops.conv2d", {{"a", {4, 4, 32}}, {"b", {8, 144}}}, {}), "trace CONV_WEIGHTS");
  EXPECT_EQ(in_library("ops.conv2d", {{"a", {4, 4}}, {"b", {8, 288}}}, {}), "bind WRONG_RANK");
  EXPECT_EQ(in_library("kernels.mlp", {{"x", {8, 32}}, {"up", {8, 32}}, {"down", {8, 8}}}, {{"act", "tanh"}}),
            "trace UNKNOWN_ACTIVATION");
}

}  // namespace
}  // namespace ktpu::kernel
