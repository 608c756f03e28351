// SPDX-License-Identifier: Apache-2.0
// The language of ktpu-asm and ktpu-objdump.
#include <iostream>
#include <random>

#include "arch/program/program_file.h"
#include "arch/program/text.h"
#include "tests/unit/arch/program_support.h"

namespace ktpu::arch {
namespace {

std::string asm_error(const std::string& text) {
  return error_of([&] { assemble(text, "f.kasm"); });
}

TEST(ProgramText, EveryKindRoundTripsToTheSameBytes) {
  const Program p = everything();
  const std::string text = disassemble(p);
  const Program again = assemble(text, "again");
  EXPECT_EQ(again, p) << text;
  EXPECT_EQ(serialize_program(again), serialize_program(p));
  EXPECT_EQ(disassemble(again), text);
}

TEST(ProgramText, UnitKindChoosesTheMnemonics) {
  Program p;
  p.needs.units = {{0, {1, 1}, "vector_core", 0, 0, 0, 0}};
  Flit imem = make_flit({}, {}, FlitType::kCuInst, 0x40, false);
  imem.w[3] = 1ull << 60;
  p.steps = {{0, StepStage{0, {imem}}}, {0, StepKick{{1, 1}, 0, 1}}};
  EXPECT_NE(disassemble(p).find("  imem txn=0x40\n"), std::string::npos) << disassemble(p);
  p.needs.units[0].kind = "matmul_cluster";
  EXPECT_NE(disassemble(p).find("  fill a from=0x0 nk=0 anchor=0 txn=0x40\n"), std::string::npos)
      << disassemble(p);
}

TEST(ProgramText, ErrorsHavePlaceCauseAndCure) {
  EXPECT_EQ(asm_error("\nkik (1,1) slots=0..3\n"),
            "f.kasm:2:1: \"kik\" is no statement; did you mean \"kick\"?");
  EXPECT_EQ(asm_error("kick (1,1) slot=0..3\n"),
            "f.kasm:1:12: \"slot\" is not known here (allowed: mesh, slots); did you mean \"slots\"?");
  EXPECT_EQ(asm_error("kick (1,16) slots=0..3\n"), "f.kasm:1:9: y 16 is above 0xf");
  EXPECT_EQ(asm_error("kick (1,1) slots=3..0\n"), "f.kasm:1:18: slots 3..0 are no range");
  EXPECT_EQ(asm_error("stage 0 {\n  fill a n=32 frm=0\n}\n"),
            "f.kasm:2:15: fill has no field \"frm\"; did you mean \"from\"?");
  EXPECT_EQ(asm_error("fill a n=32\n"), "f.kasm:1:1: the instruction \"fill\" stands outside a stage block");
  EXPECT_EQ(asm_error("write PROG_CRD = 1\n"),
            "f.kasm:1:7: the control agent has no register \"PROG_CRD\"; did you mean \"PROG_CRED\"?");
  EXPECT_EQ(asm_error("credit 70000\n"), "f.kasm:1:1: step 0 (credit): seed 70000; the counter has 16 bits");
  EXPECT_EQ(asm_error("credit 1 2\n"), "f.kasm:1:10: \"2\" is not known here (allowed: mesh)");
  EXPECT_EQ(asm_error("credit 1 =\n"), "f.kasm:1:10: the statement should end here, but \"=\" follows");
  EXPECT_EQ(asm_error("program \"x\n"), "f.kasm:1:9: the string has no closing quote on its line");
  EXPECT_EQ(asm_error("credit 1 %\n"), "f.kasm:1:10: character '%' has no meaning here");
  EXPECT_EQ(asm_error("stage 0 {\n fill a\n"),
            "f.kasm:3:1: an instruction or '}' expected, not the end of the file");
  EXPECT_EQ(
      asm_error("input a fp61 [3] at=0\n"),
      "f.kasm:1:9: \"fp61\" is no data type (fp16 fp32 u8 u16 u32 i8 i16 i32 mxfp7); did you mean \"fp16\"?");
  EXPECT_EQ(asm_error("image 0 byte { 00 }\n"),
            "f.kasm:1:9: \"byte\" is no kind of contents; use zeros, bytes, lcg or tensor");
  EXPECT_EQ(asm_error("image 0 bytes { 0g }\n"), "f.kasm:1:17: \"0g\" is no hex byte");
  EXPECT_EQ(asm_error("poll PROG_STAT & 1 == 2\n"),
            "f.kasm:1:1: step 0 (poll): wants 0x2 under mask 0x1: no value can match");
}

// Damaged text is refused with a place, or is a valid program that round-trips.
TEST(ProgramText, MutantsAreRefusedWithAPlaceOrValid) {
  constexpr std::uint64_t kSeed = 11;
  std::cout << "seed " << kSeed << '\n';
  std::mt19937_64 random(kSeed);
  const std::string good = disassemble(everything());
  constexpr std::string_view kBytes = "{}()[],=&#\"\\0x9-.\n az\x80";
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string text = good;
    for (int n = static_cast<int>(random() % 3); n >= 0; --n) {
      const std::size_t at = random() % text.size();
      if (random() % 3 == 0)
        text.erase(at, 1 + random() % 40);
      else
        text[at] = kBytes[random() % kBytes.size()];
    }
    Program p;
    const std::string message = error_of([&] { p = assemble(text, "f.kasm"); });
    refused += !message.empty();
    if (message.empty()) {
      ASSERT_EQ(assemble(disassemble(p), "again"), p) << text;
    } else {
      ASSERT_TRUE(message.starts_with("f.kasm:")) << message;
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(ProgramText, StepsInOneLineForMessages) {
  EXPECT_EQ(step_to_text({0, StepKick{{1, 2}, 3, 4}}), "kick (1,2) slots=3..6");
  EXPECT_EQ(step_to_text({1, StepPoll{0x58, 1, 0}}), "poll PROG_STAT & 0x1 == 0x0 mesh=1");
  EXPECT_EQ(step_to_text({0, StepStage{0, std::vector<Flit>(3)}}), "stage 0 { 3 flits }");
  EXPECT_EQ(step_to_text({0, StepWrite{0x1088, 0}}), "write NODE_STATUS[(1,1)] = 0x0");
}

}  // namespace
}  // namespace ktpu::arch
