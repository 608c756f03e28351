// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/program/unit_program.h"
#include "tests/unit/compiler/text_forms.h"

namespace ktpu::program {
namespace {

using compiler_tests::refused;
using compiler_tests::with;

// A product whose tile goes to a vector core, which doubles it.
constexpr std::string_view kFused = R"(program @fused {
  stage MG feeds_next {
    instance (0, 0) acks 2 {
      fill addr 0x80100000 n 4
      fill addr 0x80101000 n 4 sel 1 eoff 8
      gemm gm 4 gn 4 boff 8
      fill addr 0x80100800 n 4 fbank 1
      fill addr 0x80101800 n 4 sel 1 eoff 8 fbank 1
      gemm acc 1 gm 4 gn 4 boff 8 abank 1 bbank 1
      drain n 16 dflags 0x1 to_next  # saturates at 65504
    }
  }
  stage VC waits {
    relayout %h at 0x80103000 <32x64xf16> from "flat" to "entry:8x2" stride 4096
    instance (0, 0) {
      imem word 0xf8000000  # VHALT
      run
    }
  }
  stage MG {
    instance (0, -1) {
    }
  }
}
)";

std::string vector_text(std::string_view steps) {
  return fmt::format("program @v {{\n  stage VC {{\n    instance (0) {{\n{}    }}\n  }}\n}}\n", steps);
}
// One operand of 8 words, copied to 8 words behind it.
constexpr std::string_view kCopy = R"(      imem word 0xd0000000  # VSETI S0, int 128
      imem addr 1 word 0x80
      imem addr 2 word 0xc0000000  # VSETVL S0
      imem addr 3 word 0xe8000000  # VFILL A0, 0
      imem addr 4 word 0xe0000000  # VBAR
      imem addr 5 word 0xa1400000  # VLD.fp16 v0, A2
      imem addr 6 word 0xa9400008  # VST.fp16 v0, A2, 8 (saturates at 65504)
      imem addr 7 word 0xf0200008  # VDRAIN A1, 8
      imem addr 8 word 0xf8000000  # VHALT
      desc fld 1 value 0x200008  # A0.dim0=(32,8)
      desc ad 1 fld 1 value 0x200008  # A1.dim0=(32,8)
      desc value 0x80100000  # A0.base=0x80100000
      desc ad 1 value 0x80101000  # A1.base=0x80101000
      run
)";

Program read(std::string_view text) { return parse(text, "t"); }

TEST(ProgramText, PrintsWhatItReads) {
  for (const std::string& text : {std::string(kFused), vector_text(kCopy)}) {
    EXPECT_EQ(print(read(text)), text);
    EXPECT_EQ(refused([&] { verify(read(text)); }), "");
  }
}

TEST(ProgramText, ReadsEveryField) {
  const Program fused = read(kFused);
  const Stage& first = fused.stages.at(0);
  EXPECT_TRUE(first.feeds_next && !first.waits);
  EXPECT_EQ(first.instances.at(0).acks, 2u);
  EXPECT_EQ(first.instances.at(0).size(), 7u);
  const auto& steps = std::get<std::vector<ClusterStep>>(first.instances[0].steps);
  arch::ClusterInst gemm;
  gemm.op = 2;
  gemm.gm = gemm.gn = 4;
  gemm.boff = 8;
  gemm.acc = gemm.abank = gemm.bbank = 1;
  EXPECT_EQ(steps[5].inst, gemm);
  EXPECT_TRUE(steps[6].to_next && !steps[5].to_next);
  const Relayout& relayout = fused.stages.at(1).before.at(0);
  EXPECT_EQ(relayout.buffer, "h");
  EXPECT_EQ(relayout.address, 0x80103000u);
  EXPECT_EQ(relayout.shape, (std::vector<std::uint32_t>{32, 64}));
  EXPECT_EQ(relayout.to, "entry:8x2");
  EXPECT_EQ(relayout.batch_stride, 4096u);
  EXPECT_EQ(fused.stages.at(2).instances.at(0).key, (std::vector<std::int32_t>{0, -1}));
  // Whatever an instruction holds is in its text, used by the opcode or not.
  Program odd;
  odd.stages.push_back(
      {UnitType::kVector, {}, {{{1}, std::vector<VectorStep>{{9, 5, 4, 3, 2, 1}}, 0}}, false, false});
  odd.stages.push_back(
      {UnitType::kCluster,
       {},
       {{{1}, std::vector<ClusterStep>{{{.op = 1, .n = 70000, .dmesh = 3, .dfin = 7}, false}}, 0}},
       false,
       false});
  EXPECT_EQ(
      print(odd),
      "program @\"\" {\n  stage VC {\n    instance (1) {\n      vector op 9 addr 5 word 0x4 ad 3 fld 2 value "
      "0x1\n"
      "    }\n  }\n  stage MG {\n    instance (1) {\n      fill n 70000 dmesh 3 dfin 7\n    }\n  }\n}\n");
  EXPECT_EQ(print(read(print(odd))), print(odd));
}

struct Broken {
  std::string from, to, says;
};

TEST(ProgramText, ErrorsNameTheirPlace) {
  for (const Broken& b : {
           Broken{"program @fused", "program fused", "t:1:9: the program (@...) expected"},
           Broken{"stage MG", "stage MX", "t:2:9: a unit is MG or VC"},
           Broken{"fill addr", "full addr",
                  "t:4:7: one of cluster, fill, gemm, drain expected, not \"full\""},
           Broken{"n 4\n", "n 4 x 5\n", "t:4:32: the statement should end here"},
           Broken{"n 4\n", "n 4294967296\n", "t:4:30: n 4294967296 is above"},
           Broken{"from \"flat\"", "from flat", "t:14:48: a layout in quotes expected"},
           Broken{"imem", "fill", "t:16:7: one of vector, imem, desc, run expected"},
       }) {
    const std::string message = refused([&] { read(with(std::string(kFused), b.from, b.to)); });
    EXPECT_NE(message.find(b.says), std::string::npos) << message << "\n" << b.says;
  }
}

void expect_refused(const std::string& text, const std::vector<Broken>& all) {
  for (const Broken& b : all) {
    const Program program = read(with(text, b.from, b.to));
    const std::string message = refused([&] { verify(program); });
    EXPECT_NE(message.find(b.says), std::string::npos) << b.from << " -> " << b.to << ": " << message;
  }
}

TEST(ProgramVerify, Clusters) {
  expect_refused(
      std::string(kFused),
      {
          {"gemm gm 4", "gemm gm 5", "step 2: reads entry 4 of bank 0 of side A, which no FILL brought"},
          {"gn 4 boff 8\n", "gn 4\n", "reads entry 0 of bank 0 of side B"},
          {"gn 4 boff 8\n", "gn 4 nk 2 boff 8\n", "reads entry 4 of bank 0 of side A"},
          {"abank 1", "abank 0 aoff 4", "step 5: reads entry 4 of bank 0 of side A"},
          {"boff 8", "boff 253", "reads entries 253+4 of a bank of side B"},
          {"n 4\n", "n 4 eoff 253\n", "step 0: ends at entry 257"},
          {"sel 1", "sel 2", "there are 2 sides"},
          {"acc 1 gm 4", "acc 1 gm 3", "adds 12 sub-tiles to an accumulator of 16"},
          {"gemm gm", "gemm acc 1 gm", "adds 16 sub-tiles to an accumulator of 0"},
          {"drain n 16", "drain n 17", "step 6: drains 17 sub-tiles of 16"},
          {"acks 2", "acks 3", "acknowledged 2 times, not 3"},
          {"0x1 to_next", "0x1 dnode 1 to_next", "goes to the next stage and names a node"},
          {" feeds_next", "", "of a stage that feeds it"},
          {"abank 1 bbank 1", "abank 1 bbank 1 to_next", "only a drain goes to the next stage"},
          {"(0, -1) {\n", "(0, -1) {\n cluster op 9\n", "no cluster knows opcode 9"},
          {"(0, -1) {\n", "(0, -1) {\n drain n 1\n", "drains 1 sub-tiles of 0"},
          {"(0, 0) {", "(0, 1) {", "must run the same instances"},
          {"(0, -1) {\n    }\n", "(0, -1) {\n    }\n    instance (0, -1) {\n    }\n", "twice in the stage"},
          {"(0, 0) {", "(0, 0) acks 1 {", "a vector core drains to no node"},
      });
  // A later stage may use what the same place has left in L1; a drain towards another mesh needs no sweep.
  const std::string kept =
      with(with(std::string(kFused), "(0, -1)", "(0, 0)"), "{\n    }\n", "{\ngemm gm 4 gn 4 boff 8\n    }\n");
  EXPECT_EQ(refused([&] { verify(read(kept)); }), "");
  EXPECT_NE(refused([&] { verify(read(with(kept, "(0, 0) {\ngemm", "(0, 1) {\ngemm"))); }), "");
  const std::string far = with(std::string(kFused), "(0, -1) {\n", "(0, -1) {\n drain n 1 dfin 17\n");
  EXPECT_EQ(refused([&] { verify(read(far)); }), "");
}

TEST(ProgramVerify, VectorCores) {
  expect_refused(
      vector_text(kCopy),
      {
          {"imem addr 8 word 0xf8000000", "imem addr 9 word 0xf8000000", "comes to word 8, which holds no"},
          {"imem addr 8 word 0xf8000000", "imem addr 8 word 0xe0000000", "comes to word 9, which holds no"},
          {"imem addr 2 ", "imem addr 512 ", "word 512 of an image; it has 512"},
          {"run", "run addr 100", "comes to word 100"},
          {"imem word 0xd0000000", "run", "step 0: the kernel comes to word 0"},
          {"desc ad 1 fld 1", "desc ad 8 fld 1", "descriptor 8; there are 8"},
          {"desc ad 1 fld 1", "desc ad 1 fld 5", "no field 5"},
          {"desc fld 1 value 0x200008", "desc fld 1 value 0x400200008", "too wide"},
          {"value 0x80100000", "value 0x10000000000", "too wide"},
          {"desc fld 1 value 0x200008", "desc fld 1 value 0x200101", "walks 257 words"},
          {"0xf0200008", "0xf0200139", "uses 321 words of L1"},
          {"0xf0200008", "0xf02001f7", "uses 511 words of L1"},
          {"0xf0200008", "0xf02001f9", "uses 513 words of L1"},
          {"0xa9400008", "0xa9400139", "uses 321 words of L1"},
          {"run", "vector op 7", "no vector core knows opcode 7"},
      });
  for (const char* fits : {"0xf0200138", "0xf02001f8"})  // 320 words; all 512
    EXPECT_EQ(refused([&] { verify(read(with(vector_text(kCopy), "0xf0200008", fits))); }), "") << fits;
  // The constant of a VSETI is no instruction, whatever its bits.
  EXPECT_EQ(refused([&] {
              verify(read(with(vector_text(kCopy), "word 0x80\n", "word 0xf8000080\n")));
            }).find("VHALT"),
            std::string::npos);
}

TEST(ProgramVerify, ProgramsAreOfTheirUnit) {
  Program program = read(kFused);
  program.stages[0].instances[0].steps = std::vector<VectorStep>{};
  EXPECT_NE(refused([&] { verify(program); }).find("for a cluster"), std::string::npos);
  program = read(kFused);
  program.stages[1].instances[0].steps = std::vector<ClusterStep>{};
  EXPECT_NE(refused([&] { verify(program); }).find("for a vector core"), std::string::npos);
}

TEST(ProgramText, MutantsAreReadOrRefused) {
  for (const std::string& text : {std::string(kFused), vector_text(kCopy)})
    compiler_tests::fuzz(text, 3000, read, print, verify);
}

}  // namespace
}  // namespace ktpu::program
