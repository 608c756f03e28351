// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/base/refusal.h"
#include "compiler/graph/graph.h"
#include "tests/unit/compiler/text_forms.h"

namespace ktpu::graph {
namespace {

using compiler_tests::refused;
using compiler_tests::with;

constexpr std::string_view kMatmul = R"(graph @matmul batch 4 batched lead 2x2 {
  buffer %a in <32x64xf16> batched
  buffer %b in <64x64xf16>
  buffer %c out <32x64xf16> batched
  grid (%i in 1, %j in 2) barrier {
    tile %t0 8x8 land %c_land
    loop %k in 2 {
      fill A %a[%i, %k of 2] entry 8x1 step %k
      fill B %b[%j, %k of 2] entry 8x1 step %k lane (2 * %k) operand 1
      gemm %t0 8x8x1 acc %k b 1
    }
    drain %t0 8x8 to %c[%i, %j]
  }
}
)";
constexpr std::string_view kSoftmax = R"(graph @softmax batch 1 part 4096 unfused {
  buffer %x in <20x48xf16>
  buffer %mask table <2x2xf16> {
    3c00 0000 3c00 fc00
  }
  buffer %"row sums" temp <20x48xf16>
  buffer %y out <20x48xf16>
  loop %block in 3 {
    grid (%e in ((2 * %block) + 1)) formed {
      apply %"row sums"[%e] offset 64 {
        %0 = load %x[%e] offset 64
        %1 = row_max %0 row 20x48
        %2 = sub %0, %1
        %3 = const 1.4426950408889634
        %4 = mul %2, %3
        %5 = exp2 %4
        store %5
      }
      reduce %y[%e] offset 3 {
        %0 = load %x[%e]
        %1 = row_min %0 row 20x48
        store %1
      }
      apply %y[%e] part 1024 {
        %0 = load %"row sums"[%e]
        %1 = row_sum %0
        %2 = div %0, %1
        %3 = load %mask[0] spread 2 of 4 whole
        %4 = mul %2, %3
        store %4
      }
    }
  }
}
)";
constexpr std::string_view kFused = R"(graph @linear_silu batch 1 {
  buffer %x in <16x32xf16>
  buffer %w in <16x32xf16>
  buffer %bias in <16xf16>
  buffer %r in <16x16xf16>
  buffer %y out <16x16xf16>
  grid (%i in 1, %j in 1) {
    tile %t3 4x4
    fill A %x[%i, 0 of 1] conv 4x1 step 0
    fill B %w[%j, 0 of 1] entry 4x1 step 0
    gemm %t3 4x4x1 acc 0
    apply %y[%i, %j] {
      %0 = resident %t3
      %1 = channel %bias[%j]
      %2 = add %0, %1
      %3 = tile %r[%i, %j]
      %4 = fma %2, %2, %3
      store %4
    }
  }
}
)";

Graph read(std::string_view text) { return parse(text, "t"); }

TEST(GraphText, PrintsWhatItReads) {
  for (const std::string_view text : {kMatmul, kSoftmax, kFused}) {
    const Graph graph = read(text);
    EXPECT_EQ(print(graph), text);
    EXPECT_EQ(refused([&] { verify(graph); }), "");
  }
}

TEST(GraphText, ReadsEveryField) {
  const Graph matmul = read(kMatmul);
  EXPECT_TRUE(matmul.batched);
  EXPECT_EQ(matmul.lead, (std::vector<std::uint32_t>{2, 2}));
  EXPECT_EQ(matmul.find("c"), 2u);
  EXPECT_EQ(matmul.buffers[2].role, Role::kOut);
  const auto& tiling = std::get<Tiling>(matmul.body.at(0).it);
  EXPECT_TRUE(tiling.barrier && !tiling.formed);
  const auto& loop = std::get<Loop>(tiling.body->at(1).it);
  const auto& fill = std::get<Fill>(loop.body->at(1).it);
  EXPECT_EQ(fill.side, Side::kB);
  EXPECT_EQ(fill.chunks, 2u);
  EXPECT_EQ(fill.operand, 1u);
  EXPECT_EQ(fill.lane.at({{"k", 3}}), 6);
  EXPECT_EQ(std::get<OpenTile>(tiling.body->at(0).it).land, "c_land");

  const Graph softmax = read(kSoftmax);
  EXPECT_FALSE(softmax.fuse);
  EXPECT_EQ(softmax.part, 4096u);
  EXPECT_EQ(softmax.buffers[1].values, (std::vector<std::uint16_t>{0x3c00, 0, 0x3c00, 0xfc00}));
  const auto& pass = std::get<Tiling>(std::get<Loop>(softmax.body.at(0).it).body->at(0).it);
  EXPECT_TRUE(pass.formed);
  const auto& first = std::get<Apply>(pass.body->at(0).it);
  EXPECT_EQ(first.target.offset, 64u);
  EXPECT_EQ(first.leaves[1].value, 1.4426950408889634);
  const auto& second = std::get<Apply>(pass.body->at(2).it);
  EXPECT_TRUE(std::get<Apply>(pass.body->at(1).it).reduce && !second.reduce);
  EXPECT_EQ(second.part, 1024u);
  EXPECT_EQ(second.leaves[1].spread, (Spread{4, 2, true}));
  EXPECT_EQ(print_statement(matmul, loop.body->at(2)), "gemm %t0 8x8x1 acc %k b 1");
}

TEST(GraphText, LeafNumbersThatDoNotCountUpStandInTheText) {
  const std::string text = with(with(std::string(kFused), "resident %t3", "resident %t3 leaf 1"),
                                "channel %bias[%j]", "channel %bias[%j] leaf 0");
  const Graph graph = read(text);
  EXPECT_EQ(print(graph), text);
  EXPECT_NE(refused([&] { verify(graph); }).find("LEAF_ORDER"), std::string::npos);
}

TEST(Graph, ReadsAndWrites) {
  const Graph graph = read(kFused);
  const Body& body = *std::get<Tiling>(graph.body.at(0).it).body;
  EXPECT_EQ(reads(body[1]), (std::vector<BufferId>{0}));
  EXPECT_EQ(reads(body[4]), (std::vector<BufferId>{2, 3}));
  EXPECT_EQ(writes(body[4]), (std::vector<BufferId>{4}));
  EXPECT_TRUE(writes(body[3]).empty());
  EXPECT_TRUE(std::get<Apply>(body[4].it).has_resident());
}

struct Broken {
  std::string_view text, from, to, says;
};

TEST(GraphText, ErrorsNameTheirPlace) {
  for (const Broken& b : {
           Broken{kMatmul, "graph @matmul", "graph matmul",
                  "t:1:7: the graph (@...) expected, not \"matmul\""},
           Broken{kMatmul, "in <32x64xf16> batched", "inn <32x64xf16>",
                  "t:2:13: a role is in, out, temp or table"},
           Broken{kMatmul, "<32x64xf16>", "<32x64>", "t:2:17: the type of a tensor"},
           Broken{kMatmul, "<32x64xf16>", "<32x64xf32>", "t:2:17: a tensor of fp32: tensors are f16"},
           Broken{kMatmul, "buffer %b in", "buffer %a in", "t:3:10: buffer %a is already declared"},
           Broken{kMatmul, "%a[%i,", "%z[%i,", "t:8:14: buffer %z is not declared"},
           Broken{kMatmul, "%a[%i,", "%a[%i +,", "t:8:17: column 5 of index"},
           Broken{kMatmul, "gemm %t0", "gemm %x", "t:10:12: a tile is named %t0"},
           Broken{kMatmul, "8x8x1 acc", "8x8 acc", "t:10:16: gm x gn x nk: 3 numbers with x between"},
           Broken{kMatmul, "lead 2x2", "lead 1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1", "at most 16 numbers"},
           Broken{kMatmul, "acc %k b 1", "acc %k b 1 c", "t:10:33: the statement should end here"},
           Broken{kSoftmax, "sub %0, %1", "sub %0, %9", "t:13:22: %9 is not defined before this line"},
           Broken{kSoftmax, "sub %0, %1", "subb %0, %1", "t:13:14: \"subb\" is no operation"},
           Broken{kSoftmax, "%2 = sub", "%1 = sub", "t:13:9: %1 is already defined"},
           Broken{kSoftmax, "fc00", "fc0", "t:4:20: an FP16 word"},
           Broken{kFused, "resident %t3", "resident %t3 leaf 1", "stands twice"},
       }) {
    const std::string message = refused([&] { read(with(std::string(b.text), b.from, b.to)); });
    EXPECT_NE(message.find(b.says), std::string::npos) << message << "\n" << b.says;
  }
  std::string deep = "graph @g batch 1 {\n";
  for (int i = 0; i < 100'000; ++i) deep += "grid () {\n";
  EXPECT_NE(refused([&] { read(deep); }).find("in one another"), std::string::npos);
}

TEST(GraphVerify, RefusesWhatBreaksARule) {
  for (const Broken& b : {
           Broken{kMatmul, "batch 4", "batch 5", "BATCH_AXES"},
           Broken{kMatmul, "batch 4 batched lead 2x2", "batch 1", "BATCH_AXES"},
           Broken{kSoftmax, "part 4096", "part 0", "KNOB_NOT_POSITIVE"},
           Broken{kMatmul, "<32x64xf16>", "<0x64xf16>", "BUFFER_EMPTY"},
           Broken{kSoftmax, "<2x2xf16>", "<2x3xf16>", "TABLE_VALUES"},
           Broken{kSoftmax, "%mask table", "%mask in", "TABLE_VALUES"},
           Broken{kMatmul, "%a[%i,", "%a[%z,", "AXIS_NOT_OPEN"},
           Broken{kMatmul, "[%i, %j]", "[%i, %k]", "AXIS_NOT_OPEN"},
           Broken{kMatmul, "loop %k", "loop %i", "AXIS_NAME"},
           Broken{kMatmul, "loop %k in 2", "loop %k in -2", "EXTENT_NEGATIVE"},
           Broken{kSoftmax, "apply %y[%e]", "apply %mask[%e]", "TABLE_WRITTEN"},
           Broken{kMatmul, "gemm %t0", "gemm %t1", "TILE_NOT_OPEN"},
           Broken{kMatmul, "    drain", "    tile %t0 8x8\n    drain", "TILE_OPEN"},
           Broken{kMatmul, "grid (%i in 1, %j in 2) barrier", "loop %i in 1", "NO_TILING"},
           Broken{kMatmul, "tile %t0 8x8", "tile %t0 0x8", "KNOB_NOT_POSITIVE"},
           Broken{kMatmul, "entry 8x1", "entry 0x1", "KNOB_NOT_POSITIVE"},
           Broken{kFused, "%x[%i, 0 of 1]", "%x[%i, 1 of 1]", "CHUNK_PAST_END"},
           Broken{kMatmul, "acc %k b 1", "acc %k b 2", "OPERAND_NOT_FILLED"},
           Broken{kMatmul, "entry 8x1", "entry 8x2", "K_BLOCKS_DIFFER"},
           Broken{kMatmul, "entry 8x1", "entry 7x1", "K_BLOCKS_DIFFER"},
           Broken{kMatmul, "gemm %t0 8x8x1", "gemm %t0 8x4x1", "TILE_SHAPE"},
           Broken{kMatmul, "drain %t0 8x8", "drain %t0 4x8", "TILE_SHAPE"},
           Broken{kMatmul, "    drain", "    fill A %a[0, 0 of 2] entry 8x1 step 0 operand 5\n    drain",
                  "FILL_UNUSED"},
           Broken{kMatmul, "      gemm %t0 8x8x1 acc %k b 1",
                  "      loop %z in 2 {\n      gemm %t0 8x8x1 acc %z b 1\n}", "TILE_SWEPT_IN_TWO_LOOPS"},
           Broken{kSoftmax, "apply %\"row", "reduce %\"row", "REDUCE_SHAPE"},
           Broken{kSoftmax, "spread 2 of 4", "spread 5 of 4", "SPREAD_SHAPE"},
           Broken{kSoftmax, "apply %y[%e]", "apply %y[%e, 0]", "NO_RESIDENT"},
           Broken{kSoftmax, "load %x[%e] offset 64", "channel %x[%e]", "NO_RESIDENT"},
           Broken{kSoftmax, "store %4", "store %2", "LEAF_UNUSED"},
           Broken{kSoftmax, "part 1024", "part 0", "KNOB_NOT_POSITIVE"},
       }) {
    const Graph graph = read(with(std::string(b.text), b.from, b.to));
    try {
      verify(graph);
      ADD_FAILURE() << "taken: " << b.from << " -> " << b.to;
    } catch (const base::Refusal& refusal) {
      EXPECT_EQ(refusal.code(), b.says) << refusal.what();
      EXPECT_EQ(refusal.phase(), base::Phase::kTrace);
    }
  }
}

TEST(GraphText, MutantsAreReadOrRefused) {
  for (const std::string_view text : {kMatmul, kSoftmax, kFused})
    compiler_tests::fuzz(text, 3000, read, print, verify);
}

}  // namespace
}  // namespace ktpu::graph
