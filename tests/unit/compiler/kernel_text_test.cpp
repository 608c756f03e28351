// SPDX-License-Identifier: Apache-2.0
// The text of a traced kernel: everything it can say, and where it is wrong.
#include <gtest/gtest.h>

#include "arch/error.h"
#include "compiler/base/refusal.h"
#include "compiler/kernel/kernel.h"
#include "compiler/kernel/knobs.h"
#include "compiler/kernel_to_graph/lower.h"

namespace ktpu::kernel {
namespace {

constexpr std::string_view kEverything = R"(kernel @test.everything batch 2 lead 2x1 part 4096 unfused {
  knob act "silu"
  knob eps 1e-05
  knob fuse false
  knob gm 8
  knob part 4096
  knob qblock none
  extent K 64
  extent M 32
  buffer %a in <32x64xf16> batched
  buffer %b in <32x64xf16>
  buffer %v in <32xf16>
  buffer %image in <4x4x32xf16>
  buffer %c out <32x32xf16> batched
  buffer %t1 temp <32x32xf16> batched
  buffer %k2 table <1x4xf16> {
    3c00 c000 0000 3555
  }
  units (%i0 in 1, %i1 in 1) {
    tile %t3 8x8x2 land %land6
    region %r0 8x2
    loop %l4 in 1 {
      fill %r0 from %a[%i0, %l4]
      multiply %t3 region %r0, %b[%i1, %l4]
    }
    store %c[%i0, %i1] {
      %0 = tile %t3
      %1 = load %v[%i1]
      %2 = add %0, %1
      store %2
    }
    tile %t7 8x8x1
    loop %l8 in 9 {
      multiply %t7 %image[%i0, %l8] taps, %b[%i1, %l8]
    }
    store %t1[%i0, %i1] {
      %0 = tile %t7
      store %0
    }
  }
  loop %l9 in 2 {
    grid (%i2 in (%l9 + 1)) {
      store %t1[(%i2 * 2) + %l9] as 8x32 offset 64 part 100 {
        %0 = load %t1[%i2] as 256x4 spread 4 of 16
        %1 = const -0.5
        %2 = mul %0, %1
        store %2
      }
      reduce %c[%i2] {
        %0 = load %t1[%i2]
        %1 = row_sum %0 row 32x32
        store %1
      }
    }
  }
  store %c {
    %0 = load %t1
    %1 = load %k2 spread 4 of 4
    %2 = mul %0, %1
    store %2
  }
}
)";

TEST(KernelText, SaysEverythingTwiceTheSame) {
  const Kernel kernel = parse(kEverything, "everything");
  EXPECT_EQ(print(kernel), kEverything);
  EXPECT_NO_THROW(verify(kernel));
  EXPECT_NO_THROW(verify(kernel_to_graph::lower(kernel)));
  EXPECT_EQ(kernel.knobs.at("eps"), Knob(1e-5));
  EXPECT_EQ(kernel.knobs.at("gm"), Knob(std::int64_t{8}));
  EXPECT_EQ(kernel.knobs.at("qblock"), Knob());
  EXPECT_EQ(kernel.lead, (Shape{2, 1}));
}

TEST(KernelText, KnobsKeepTheirType) {
  for (const Knob& knob : {Knob(), Knob(true), Knob(std::int64_t{-3}), Knob(2.0), Knob(0.125), Knob(1e30),
                           Knob(std::string("relu"))})
    EXPECT_EQ(parse_knob(print(knob)), knob) << print(knob);
  EXPECT_THROW(parse_knob("8x"), arch::UserError);
  EXPECT_THROW(parse_knob(""), arch::UserError);
}

// The text with `from` made `to` once.
std::string changed(std::string_view from, std::string_view to) {
  std::string text(kEverything);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}
std::string error_of(std::string_view from, std::string_view to) {
  try {
    parse(changed(from, to), "k");
  } catch (const arch::UserError& error) {
    return error.what();
  }
  return "read";
}

TEST(KernelText, ErrorsNameTheirPlace) {
  const auto starts = [](const std::string& text, std::string_view with) {
    EXPECT_EQ(text.substr(0, with.size()), with) << text;
  };
  starts(error_of("kernel @", "graph @"), "k:1:1: ");
  starts(error_of("knob gm 8", "knob gm 8x"), "k:5:11: ");
  starts(error_of("%b in", "%a in"), "k:11:10: ");
  starts(error_of("%b in", "%b inn"), "k:11:13: ");
  starts(error_of("multiply %t3", "multiply %x3"), "k:24:16: ");
  starts(error_of("region %r0, %b", "region %r0 %b"), "k:24:31: ");
  starts(error_of("%b[%i1, %l4]", "%w[%i1, %l4]"), "k:24:32: ");
  starts(error_of("reduce %c", "fold %c"), "k:49:7: ");
  starts(error_of("tile %t3 8x8x2", "tile %t3 8x8"), "k:20:");
}

TEST(KernelText, AReadKernelIsVerifiedLikeATracedOne) {
  const auto code_of = [](std::string_view from, std::string_view to) -> std::string {
    try {
      kernel_to_graph::lower(parse(changed(from, to), "k"));
    } catch (const base::Refusal& refusal) {
      return refusal.code();
    }
    return "taken";
  };
  for (const auto& [from, to] :
       std::initializer_list<std::pair<const char*, const char*>>{{"tile %t3 8x8x2", "tile %t3 8x8x0"},
                                                                  {"region %r0 8x2", "region %r0 0x2"},
                                                                  {"part 100", "part 0"},
                                                                  {"part 4096 unfused", "part 0 unfused"}})
    EXPECT_EQ(code_of(from, to), "KNOB_NOT_POSITIVE") << to;
  EXPECT_EQ(code_of("%2 = add %0, %1", "%2 = add %0, %0"), "LEAF_UNUSED");
  EXPECT_EQ(code_of("%2 = add %0, %1", "%2 = add %1, %0"), "LEAF_ORDER");
  EXPECT_EQ(code_of("batch 2 lead 2x1", "batch 3 lead 2x1"), "BATCH_AXES");
  EXPECT_EQ(code_of("offset 64", "offset 800"), "VIEW_OUT_OF_BUFFER");
  EXPECT_EQ(code_of("as 256x4 spread 4 of 16", "as 256x5 spread 4 of 16"), "VIEW_OUT_OF_BUFFER");
  EXPECT_EQ(code_of("spread 4 of 16", "spread 17 of 16"), "SPREAD_SHAPE");
  EXPECT_EQ(code_of("3c00 c000 0000 3555", "3c00"), "TABLE_VALUES");
  EXPECT_EQ(code_of("%image in <4x4x32xf16>", "%image in <4x4x31xf16>"), "CONV_RANK");
  EXPECT_EQ(code_of("(%i2 in (%l9 + 1))", "(%i2 in (%l4 + 1))"), "INDEX_OUT_OF_SCOPE");
  EXPECT_EQ(code_of("(%i2 in (%l9 + 1))", "(%i0 in (%l9 + 1))"), "NAME_TWICE");
  EXPECT_EQ(code_of("tile %t7 8x8x1", "tile %t3 8x8x1"), "NAME_TWICE");
  EXPECT_EQ(code_of("tile %t7 8x8x1", "tile %t7 8x8x2"), "TAPS_BLOCKS");
  EXPECT_EQ(code_of("region %r0 8x2\n    loop", "region %r0 8x2\n    region %r0 8x2\n    loop"),
            "NAME_TWICE");
  EXPECT_EQ(code_of("buffer %v in <32xf16>", "buffer %v in <32xf16>\n  buffer %w in <4xf16>"),
            "PORT_UNTOUCHED");
}

}  // namespace
}  // namespace ktpu::kernel
