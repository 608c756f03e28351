// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/schedule/schedule.h"
#include "tests/unit/compiler/text_forms.h"

namespace ktpu::schedule {
namespace {

using compiler_tests::refused;
using compiler_tests::with;

// Two K chunks; the second tile column is another instance.
constexpr std::string_view kMatmul = R"(schedule @matmul policy compat batch 1 {
  machine clusters 6 vector_cores 4 agent bank_entries 256 banks 2 tiles 4096 vector_l1 512 arena 0x80100000 bytes 0x1000000 alignment 2048
  buffer %a in <32x64xf16> order entry:8x1 bytes 4096 held 2048 widest 2048 at 0x80100000
  buffer %b in <64x64xf16> order entry:8x1 bytes 8192 held 4096 widest 4096 at 0x80101000
  buffer %c out <32x64xf16> order tile:1x2:8x8 bytes 4096 held 2048 widest 2048 at 0x80103000
  allocate %a, %b, %c
  stage MG grid 1x2 body 1x2 {
    instance (0, 0) {
      fill A %t0 %a[0, 0 of 2] 8x1 step 0
      fill B %t0 %b[0, 0 of 2] 8x1 step 0
      gemm %t0 8x8x1 acc 0
      fill A %t0 %a[0, 1 of 2] 8x1 step 1
      fill B %t0 %b[0, 1 of 2] 8x1 step 1
      gemm %t0 8x8x1 acc 1
      drain %t0 8x8 to %c
    }
    instance (0, 1) {
      fill A %t0 %a[0, 0 of 2] 8x1 step 0
      fill B %t0 %b[1, 0 of 2] 8x1 step 0
      gemm %t0 8x8x1 acc 0
      fill A %t0 %a[0, 1 of 2] 8x1 step 1
      fill B %t0 %b[1, 1 of 2] 8x1 step 1
      gemm %t0 8x8x1 acc 1
      drain %t0 8x8 to %c word 64
    }
  }
}
)";
// A batch of two; the first temporary's bytes serve the third one again.
constexpr std::string_view kSoftmax = R"(schedule @softmax policy best batch 2 part 4096 relaxed {
  machine clusters 0 vector_cores 4 no_agent bank_entries 256 banks 2 tiles 4096 vector_l1 512 arena 0x80100000 bytes 0x1000000 alignment 2048
  buffer %x in <2x20x48xf16> batched stride 2048 order batch2:flat apart 2048 bytes 4096 held 960 widest 960 at 0x80100000
  buffer %ex temp <2x20x48xf16> batched stride 2048 order batch2:flat apart 2048 bytes 4096 held 960 widest 960 at 0x80101000
  buffer %"row sums" temp <2x20x48xf16> batched stride 4096 order batch2:flat apart 4096 last batch2:entry:5x2 apart 4096 bytes 8192 held 960 widest 1280 at 0x80102000
  buffer %late temp <2x20x48xf16> batched stride 2048 order batch2:flat bytes 4096 held 960 widest 960 at 0x80101000
  buffer %y out <2x20x48xf16> batched stride 2048 order batch2:flat bytes 4096 held 960 widest 960 at 0x80104000
  buffer %mask table <16xf16> order flat bytes 32 held 16 widest 16 at 0x80105000 {
    3c00 3c00 3c00 3c00 3c00 3c00 3c00 3c00 3c00 3c00 3c00 3c00 0000 0000 0000 0000
  }
  buffer %const2.5 constant <960xf16> order flat bytes 1920 held 960 widest 960 at 0x80105800 value 2.5
  stage VC grid 2x1 body 1 batched {
    instance (0, 0) {
      apply %ex at 0 span 960 {
        %0 = load %x at 0
        %1 = row_max %0 row 20x48
        %2 = sub %0, %1
        %3 = const 2.5 in %const2.5
        %4 = mul %2, %3
        store %4
      }
      reduce %"row sums" at 0 span 960 {
        %0 = load %ex at 0 asked_at 8
        %1 = row_sum %0 row 20x48
        store %1
      }
    }
    instance (1, 0) batch 1 {
      apply %ex at 0 span 960 asked_at 16 asked_span 1024 {
        %0 = load %x at 0
        store %0
      }
      reduce %"row sums" at 0 span 960 {
        %0 = load %ex at 0
        %1 = row_sum %0 row 20x48
        store %1
      }
    }
  }
  stage VC grid 2x1 body 1 batched waits {
    relayout %"row sums" from batch2:flat apart 4096 to batch2:entry:5x2 apart 4096
    instance (0, 0) {
      apply %late at 0 span 960 {
        %0 = load %"row sums" at 0
        %1 = load %mask at 0 spread 16 of 48 whole
        %2 = mul %0, %1
        store %2
      }
    }
    instance (1, 0) batch 1 {
      apply %late at 0 span 960 {
        %0 = load %"row sums" at 0
        store %0
      }
    }
  }
  stage VC grid 2x1 body 1 batched {
    instance (0, 0) {
      apply %y at 0 span 960 {
        %0 = load %late at 0
        store %0
      }
    }
    instance (1, 0) batch 1 {
      apply %y at 0 span 960 {
        %0 = load %late at 0
        store %0
      }
    }
  }
}
)";
constexpr std::string_view kFused = R"(schedule @fused policy best batch 1 {
  machine clusters 1 vector_cores 1 agent bank_entries 256 banks 2 tiles 4096 vector_l1 512 arena 0x80100000 bytes 0x1000000 alignment 2048
  buffer %x in <16x32xf16> order entry:4x1 bytes 1024 held 512 widest 512 at 0x80100000
  buffer %w in <16x32xf16> order entry:4x1 bytes 1024 held 512 widest 512 at 0x80100800
  buffer %bias in <16xf16> order bias:4 bytes 128 held 64 widest 64 at 0x80101000
  buffer %y out <16x16xf16> order tile:1x1:4x4 bytes 512 held 256 widest 256 at 0x80101800
  stage MG grid 1x1 body 1x1 feeds_next {
    instance (0, 0) {
      fill A %t0 %x[0, 0 of 1] 4x1 step 0
      fill B %t0 %w[0, 0 of 1] 4x1 step 0 operand 1
      gemm %t0 4x4x1 acc 0 b 1
      drain %t0 4x4 to next slot 1
    }
  }
  stage VC grid 1x1 body 1x1 {
    instance (0, 0) {
      apply %y at 0 span 256 tile 4x4 {
        %0 = resident 1
        %1 = channel %bias at 0
        %2 = add %0, %1
        store %2
      }
    }
  }
}
)";

Schedule read(std::string_view text) { return parse(text, "t"); }

TEST(ScheduleText, PrintsWhatItReads) {
  for (const std::string_view text : {kMatmul, kSoftmax, kFused}) {
    const Schedule schedule = read(text);
    EXPECT_EQ(print(schedule), text);
    EXPECT_EQ(refused([&] { verify(schedule); }), "");
  }
}

TEST(ScheduleText, ReadsEveryField) {
  const Schedule softmax = read(kSoftmax);
  EXPECT_EQ(softmax.policy, Policy::kBest);
  EXPECT_TRUE(softmax.relaxed);
  EXPECT_FALSE(softmax.resources.agent);
  EXPECT_EQ(softmax.find("late"), 3u);
  const Buffer& sums = softmax.buffers[2];
  EXPECT_EQ(sums.address->value(), 0x80102000u);
  EXPECT_EQ(sums.last.key(), "batch2:entry:5x2");
  EXPECT_EQ(sums.last.least_stride(), 4096u);
  EXPECT_EQ(softmax.buffers[6].value, 2.5);
  const Stage& second = softmax.stages.at(1);
  EXPECT_TRUE(second.waits && second.batched && !second.feeds_next);
  EXPECT_EQ(second.before.at(0).to.least_stride(), 4096u);
  const auto& chain = std::get<Chain>(softmax.stages[0].instances.at(1).statements.at(0));
  EXPECT_EQ(chain.asked_at, 16u);
  EXPECT_EQ(chain.asked_span, 1024u);
  const auto& reduce = std::get<Chain>(softmax.stages[0].instances.at(0).statements.at(1));
  EXPECT_TRUE(reduce.reduce);
  EXPECT_EQ(reduce.leaves.at(0).asked_at, 8u);
  const auto& spread = std::get<Chain>(second.instances.at(0).statements.at(0)).leaves.at(1);
  EXPECT_EQ(spread.period, 48u);
  EXPECT_EQ(spread.take, 16u);
  EXPECT_TRUE(spread.whole);
  const auto drain = std::get<Drain>(read(kFused).stages.at(0).instances.at(0).statements.at(3));
  EXPECT_FALSE(drain.buffer);
  EXPECT_EQ(drain.slot, 1u);
  EXPECT_EQ(kind_name(read(kMatmul).stages[0].instances[0].statements[2]), "gemm");
}

TEST(Layouts, ComeFromTheirKeys) {
  for (const std::string_view key :
       {"flat", "entry:8x2", "tile:1x2:8x4", "bias:8", "conv:1:4", "batch3:flat", "batch3:tile:1x2:8x4"})
    EXPECT_EQ(Layout::from_key(key).key(), key);
  EXPECT_EQ(Layout::from_key("batch3:bias:8", 4096).least_stride(), 4096u);
  const std::uint32_t shape[] = {8};
  EXPECT_EQ(Layout::from_key("bias:2").verify(shape), "");
  for (const std::string_view key :
       {"", "flt", "flat:1", "entry:8", "entry:8x", "entry:0x2", "entry:08x2", "entry:8x2x1", "entry:+8x2",
        "entry:99999999999x1", "tile:1x2:8", "conv:2:4", "conv:4", "batch:flat", "batch0:flat", "batch2",
        "batch2:", "batch2:batch2:flat", "batch2:entry"})
    EXPECT_NE(refused([&] { Layout::from_key(key); }), "") << key;
  EXPECT_NE(refused([&] { Layout::from_key("flat", 2048); }), "");
}

struct Broken {
  std::string_view text, from, to, says;
};

TEST(ScheduleText, ErrorsNameTheirPlace) {
  for (const Broken& b : {
           Broken{kMatmul, "policy compat", "policy good", "t:1:25: \"best\" expected, not \"good\""},
           Broken{kMatmul, "order entry:8x1", "order entry:8", "t:3:34: layout \"entry:8\" is none of"},
           Broken{kMatmul, "at 0x80100000", "at 0x4080100000", "t:3:80: address 0x4080100000 names no byte"},
           Broken{kMatmul, "stage MG", "stage XX", "t:7:9: a unit is MG or VC"},
           Broken{kMatmul, "allocate %a", "allocate %z", "t:6:12: buffer %z is not declared"},
           Broken{kMatmul, "instance (0, 0)", "instance (0, 4294967296)", "t:8:18: a key has 32 bits"},
           Broken{kMatmul, "fill A", "fill C", "t:9:12: a side is A or B"},
           Broken{kMatmul, "fill A %t0", "fill A %\"\"", "t:9:14: a tile is named %t0"},
           Broken{kMatmul, "drain %t0", "drai %t0", "t:15:7: fill, gemm, drain, apply or reduce expected"},
           Broken{kSoftmax, "load %x at 0", "load %x to 0", "\"at\" expected"},
       }) {
    const std::string message = refused([&] { read(with(std::string(b.text), b.from, b.to)); });
    EXPECT_NE(message.find(b.says), std::string::npos) << message << "\n" << b.says;
  }
}

TEST(ScheduleVerify, RefusesWhatBreaksARule) {
  for (const Broken& b : {
           // Memory.
           Broken{kMatmul, "at 0x80101000", "at 0x80100800", "while both are needed"},
           Broken{kSoftmax, "widest 1280 at 0x80102000", "widest 1280 at 0x80101000",
                  "while both are needed"},
           Broken{kMatmul, "at 0x80101000", "at 0x80101020", "is no multiple of 2048"},
           Broken{kMatmul, "at 0x80103000", "at 0x90103000", "outside the arena"},
           Broken{kMatmul, "bytes 0x1000000", "bytes 0x1000", "the arena has 4096"},
           Broken{kMatmul, "bytes 4096 held 2048", "bytes 4094 held 2048", "in 4094 bytes"},
           Broken{kMatmul, "<32x64xf16>", "<0x64xf16>", "holds no element"},
           Broken{kMatmul, "batch 1", "batch 0", "a batch of 0"},
           Broken{kMatmul, "allocate %a, %b", "allocate %a, %a", "allocated twice"},
           Broken{kMatmul, "<32x64xf16> order", "<32x64xf16> stride 2048 order", "a stride but no batch"},
           Broken{kSoftmax, "stride 2048", "stride 1024", "the next one begins 1024"},
           Broken{kSoftmax, "bytes 4096 held 960", "bytes 3966 held 960", "do not fit 3966"},
           Broken{kSoftmax, "<16xf16>", "<15xf16>", "16 values for 15"},
           Broken{kMatmul, "alignment 2048", "alignment 0", "the alignment is 0"},
           // Stages and units.
           Broken{kMatmul, "grid 1x2", "grid 1x3", "has 2 instances for a grid of 3"},
           Broken{kMatmul, "instance (0, 1)", "instance (0, 2)", "outside the grid"},
           Broken{kMatmul, "instance (0, 1)", "instance (0, 0)", "or twice"},
           Broken{kSoftmax, "(1, 0) batch 1", "(1, 0)", "is not its batch element"},
           Broken{kSoftmax, "(1, 0) batch 1", "(1, 0) batch 7", "2 batch elements"},
           Broken{kMatmul, "stage MG", "stage VC", "vector cores do not fill"},
           Broken{kSoftmax, "stage VC", "stage MG", "clusters do not run lane"},
           Broken{kMatmul, "bank_entries 256", "bank_entries 7", "CHUNK_OVER_BANK"},
           Broken{kMatmul, "%b[1, 0 of 2]", "%b[2, 0 of 2]", "FILL_PAST_END"},
           Broken{kMatmul, "1 step 1\n      fill B", "1 step 1 operand 7\n      fill B",
                  "bank 1 of side A was not"},
           Broken{kMatmul, "%a[0, 1 of 2]", "%a[0, 2 of 2]", "FILL_PAST_END"},
           Broken{kMatmul, "8x1 step 0\n      fill B", "8x1 step 1\n      fill B",
                  "bank 0 of side A was not"},
           Broken{kMatmul, "8x1 step 1\n      gemm", "8x1 step 0\n      gemm", "bank 1 of side B was not"},
           Broken{kMatmul, "gemm %t0 8x8x1", "gemm %t0 9x8x1", "9x1 are multiplied"},
           Broken{
               kMatmul,
               "compat batch 1 {\n  machine clusters 6 vector_cores 4 agent bank_entries 256 banks 2 tiles "
               "4096",
               "best batch 1 {\n  machine clusters 6 vector_cores 4 agent bank_entries 256 banks 2 tiles 63",
               "1 to 63 sub-tiles"},
           Broken{kMatmul, "drain %t0", "drain %t1", "%t1 was not swept"},
           Broken{kMatmul, "drain %t0 8x8", "drain %t0 8x4", "has 8x8 sub-tiles"},
           Broken{kMatmul, "word 64", "word 65", "ends at element 2064"},
           Broken{kMatmul, "to %c\n", "to next\n", "which this one does not feed"},
           Broken{kFused, " agent", " no_agent", "no agent takes"},
           Broken{kFused, "vector_cores 1", "vector_cores 0", "the machine has 0"},
           Broken{kFused, "resident 1", "resident 0", "nothing was delivered to slot 0"},
           Broken{kFused, "span 256 tile", "span 255 tile", "has no 255 elements"},
           Broken{kFused, " tile 4x4", "", "only there"},
           Broken{kFused, "channel %bias at 0", "channel %bias at 1", "reads elements 1+64"},
           Broken{kFused, "(0, 0) {\n      apply", "(0, 1) {\n      apply", "with other instances"},
           Broken{kSoftmax, "%ex at 0 span 960", "%ex at 1 span 960", "writes elements 1+960"},
           Broken{kSoftmax, "load %x at 0", "load %x at 1", "reads elements 1+960"},
           Broken{kSoftmax, "spread 16 of 48", "spread 16 of 8", "reads elements"},
           Broken{kSoftmax, "const 2.5 in %const2.5", "const 2.5 in %x", "is no constant"},
           Broken{kSoftmax, "apply %y at 0", "apply %const2.5 at 0", "has fixed contents"},
           Broken{kSoftmax, "= row_sum %0 row 20x48", "= neg %0", "a reduce is a row fold"},
           // Results.
           Broken{kMatmul, " word 64", "", "of which instance (0, 0) writes 0+1024"},
           Broken{kMatmul, "to %c word 64", "to %c word 63", "of which instance (0, 0) writes 0+1024"},
           Broken{kMatmul, "to %c\n", "to %c\n      drain %t0 8x8 to %c\n",
                  "of which instance (0, 0) writes 0+1024"},
           Broken{kMatmul, "      drain %t0 8x8 to %c\n", "", "(0, 1): writes other buffers than the first"},
           Broken{kMatmul, "      drain %t0 8x8 to %c word 64\n", "",
                  "(0, 1): writes other buffers than the first"},
           Broken{kSoftmax, "apply %y at 0 span 960", "apply %y at 0 span 959", "buffer %y: element 959"},
           Broken{kSoftmax, "%late at 0 span 960", "%late at 0 span 900", "reads element 900 of %late"},
           Broken{kSoftmax, "= load %x at 0", "= load %y at 0", "reads element 0 of %y"},
           Broken{kSoftmax, "relayout %\"row sums\"", "relayout %x", "only temporaries"},
           Broken{kSoftmax, "to batch2:entry:5x2", "to batch2:flat", "changes nothing"},
       }) {
    const Schedule schedule = read(with(std::string(b.text), b.from, b.to));
    const std::string message = refused([&] { verify(schedule); });
    EXPECT_NE(message.find(b.says), std::string::npos) << b.from << " -> " << b.to << ": " << message;
  }
}

TEST(ScheduleVerify, TheSameInstanceMayWriteAStretchAgain) {
  std::string twice(kSoftmax);
  for (int i = 0; i < 2; ++i) twice = with(twice, "reduce %\"row sums\" at 0", "reduce %ex at 0");
  EXPECT_NE(refused([&] { verify(read(twice)); }).find("reads element 0 of %row sums"), std::string::npos);
  const std::string other_end =
      with(twice, "%ex at 0 span 960 {\n        %0 = load %ex", "%ex at 0 span 959 {\n        %0 = load %ex");
  EXPECT_NE(refused([&] { verify(read(other_end)); }).find("of which instance (0, 0)"), std::string::npos);
}

TEST(ScheduleVerify, OperandsOfOneSideShareABank) {
  const std::string two =
      with(with(std::string(kMatmul), "8x1 step 1\n      fill B", "8x1 step 1 operand 1\n      fill B"),
           "acc 1", "acc 1 a 1");
  EXPECT_EQ(refused([&] { verify(read(two)); }), "");
  EXPECT_NE(refused([&] {
              verify(read(with(two, "bank_entries 256", "bank_entries 15")));
            }).find("REGION_OVER_BANK"),
            std::string::npos);
}

TEST(ScheduleVerify, RelayoutsFollowOneAnother) {
  const std::string other =
      with(std::string(kSoftmax), "sums\" from batch2:flat", "sums\" from batch2:entry:1x1");
  EXPECT_EQ(refused([&] { verify(read(other)); }), "");  // written anew: in whatever order
  EXPECT_NE(
      refused([&] { verify(read(with(other, "policy best", "policy compat"))); }).find("it lies in order"),
      std::string::npos);
}

TEST(ScheduleVerify, PaddingNeedsNoWriter) {
  // 8 rows of which 5 hold values; the writer stops behind them.
  const std::string_view text = R"(schedule @s policy best batch 1 {
  machine clusters 0 vector_cores 1 no_agent bank_entries 256 banks 2 tiles 4096 vector_l1 512 arena 0x0 bytes 0x1000000 alignment 2048
  buffer %y out <5x4xf16> order tile:1x1:2x1 bytes 64 held 32 widest 32
  stage VC grid 1 body 1 {
    instance (0) {
      apply %y at 0 span 20 {
        %0 = const 1
        store %0
      }
    }
  }
}
)";
  EXPECT_EQ(refused([&] { verify(read(text)); }), "");
  EXPECT_NE(refused([&] { verify(read(with(std::string(text), "span 20", "span 19"))); }).find("element 19"),
            std::string::npos);
  // An order without room for all rows: the swept rows of a convolution.
  const std::string short_order = with(std::string(text), "<5x4xf16>", "<9x4xf16>");
  EXPECT_NE(refused([&] { verify(read(short_order)); }).find("element 20"), std::string::npos);
  EXPECT_EQ(refused([&] { verify(read(with(short_order, "span 20", "span 32"))); }), "");
}

TEST(ScheduleText, MutantsAreReadOrRefused) {
  for (const std::string_view text : {kMatmul, kSoftmax, kFused})
    compiler_tests::fuzz(text, 2000, read, print, verify);
}

}  // namespace
}  // namespace ktpu::schedule
