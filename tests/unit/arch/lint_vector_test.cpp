// SPDX-License-Identifier: Apache-2.0
// The static check over kernels: each rule fires on a kernel that breaks it and not on the one beside it.
#include <set>

#include "arch/program/lint.h"
#include "arch/program/text.h"
#include "tests/unit/arch/program_support.h"

namespace ktpu::arch {
namespace {

using Rules = std::set<std::string>;

std::vector<LintFinding> findings(const std::string& stage) {
  const std::string head = "machine \"m\" staging=512\nunit vector_core (1,0) inst_depth=512\nstage 0 {\n";
  std::string text = fmt::format("{}{}\n}}\n", head, stage);
  const std::size_t slots = std::get<StepStage>(assemble(text, "test").steps.at(0).action).flits.size();
  text += fmt::format("credit 512\nkick (1,0) slots=0..{}\n", slots - 1);
  return lint(assemble(text, "test"));
}
Rules stage(const std::string& text) {
  Rules names;
  for (const LintFinding& f : findings(text)) names.emplace(f.rule->id);
  return names;
}
// A kernel with the descriptors A0 (4 words of memory) and A1 (4 words of L1 from 0 on).
std::string whole(const std::string& kernel) {
  return fmt::format(
      "desc A0 base=0 dims=[(32,4)]\ndesc A1 base=0 dims=[(1,4)]\nkernel {{\nentry:\n{}\nVHALT\n}}\nrun "
      "entry\n",
      kernel);
}
Rules kernel(const std::string& text) { return stage(whole(text)); }
std::string only(const std::string& text) {
  const std::vector<LintFinding> found = findings(whole(text));
  return found.size() == 1 ? found[0].text : fmt::format("{} findings", found.size());
}

TEST(LintVector, Vector_S13_FaultsThatAreCertain) {
  const Rules kFault{"vector-fault"};
  EXPECT_EQ(kernel("VLD.fp16 v0, A1"), Rules{});
  EXPECT_EQ(kernel(".word 0xa3200000"), kFault);  // VLD of type 3
  EXPECT_EQ(kernel("VSETMODE D2\nVMUL C, v0, K1\nVADD v1, C, K1"), Rules{});
  EXPECT_EQ(kernel("VSETMODE D2\nVMUL C, v0, K1\nVADD v1, C, v2"), kFault);
  EXPECT_EQ(kernel("VSETMODE D2\nVMUL C, v0, K1\nVADD v1, C, K1 b=v2"), kFault);
  EXPECT_EQ(kernel("VSETMODE D2\nVMUL v0, C, K1\nVADD v1, C, K1"), kFault);
  EXPECT_EQ(kernel("VMOV v1, C"), kFault);
  EXPECT_EQ(kernel("VSETMODE TREE\nVRED.SUM S1, v0"), Rules{});
  EXPECT_EQ(kernel("VRED.SUM S1, v0"), kFault);
  EXPECT_EQ(kernel("VRED.ANY S1, P0"), Rules{});
  EXPECT_EQ(kernel("VSETI S0, int 24\nVSETVL S0\nVSETMODE TREE\nVRED.SUM S1, v0"), kFault);
  EXPECT_EQ(kernel("VSETI S0, int 128\nVSETVL S0"), Rules{});
  EXPECT_EQ(kernel("VSETI S0, int 129\nVSETVL S0"), kFault);
  EXPECT_EQ(kernel("VSETI S0, int 0\nVSETVL S0"), kFault);
  EXPECT_EQ(kernel("VBCAST S0, v1\nVSETVL S0"), Rules{});  // who knows
  EXPECT_EQ(kernel("VLOOP S0, a\nVLOOP S0, a\nVBAR\na:"), kFault);
  EXPECT_EQ(kernel("VLOOP S0, a\nVBAR\na:\nVLOOP S0, b\nVBAR\nb:"), Rules{});
  EXPECT_EQ(stage("desc A0 base=0 dims=[(32,16), (512,16)]\nkernel {\nVFILL A0, 0\nVHALT\n}\nrun 0"),
            Rules{});
  EXPECT_EQ(stage("desc A0 base=0 dims=[(32,16), (512,17)]\nkernel {\nVFILL A0, 0\nVHALT\n}\nrun 0"), kFault);
  EXPECT_EQ(stage("desc A0 base=0 dims=[(32,257)]\nkernel {\nVDRAIN A0, 0\nVHALT\n}\nrun 0"), kFault);
  EXPECT_EQ(
      only("VSETI S0, 64.0\nVSETVL S0"),
      "slot 14 for node (1,0), `run`: word 2, `VSETVL S0`: faults with F_VL: S0 is 4358144, lengths are 1 to "
      "128; a count is written `int N`");
}

// A kernel that nobody runs is not looked at; one that is run twice is told of once.
TEST(LintVector, OnlyWhatRuns) {
  const std::string bad = "kernel {\nVRED.SUM S1, v0\nVHALT\n}\n";
  EXPECT_EQ(findings(bad).size(), 0u);
  EXPECT_EQ(findings(fmt::format("{}run 0\nrun 0\n", bad)).size(), 1u);
}

TEST(LintVector, Vector_S14_Groups) {
  const Rules kGroup{"vector-group"};
  EXPECT_EQ(kernel("VSETMODE TREE\nVMOV v0, v1\nVMOV v0, C\nVMOV v0, C\nVMOV v0, C"), kGroup);
  EXPECT_EQ(kernel("VSETMODE D2\nVMUL C, v0, K1\n.word 0x95e60200"), kGroup);  // VCVT, no vector selector
  EXPECT_EQ(kernel("VSETI S0, int 3\nVSETMODE D2\nVLOOP S0, 1\nVMUL C, v0, K1\nVADD v1, C, K1"), kGroup);
  EXPECT_EQ(kernel("VSETI S0, int 3\nVSETMODE D2\nVLOOP S0, 2\nVMUL C, v0, K1\nVADD v1, C, K1"), Rules{});
}

// vector.md 12.4: with n chunks, n + 5 cycles and what stands between must reach 16.
TEST(LintVector, Vector_S12_4_PredicateDistance) {
  const Rules kPredicate{"vector-predicate"};
  const std::string compare = "VCMPLT P1, v0, v1\n", move = "VMOV v2, v3 where P1";
  EXPECT_EQ(kernel(compare + move), kPredicate);
  EXPECT_EQ(kernel(compare + "VMOV v2, v3 where P2"), Rules{});
  EXPECT_EQ(kernel(compare + "VSETI S1, 1.0\nVSETI S2, 1.0\n" + move), Rules{});  // 13 + 12
  EXPECT_EQ(kernel(compare + "VSETVL S0\n" + move), Rules{});                     // unknown from here on
  EXPECT_EQ(kernel(compare + "VSETMODE FLAT\n" + move), Rules{});
  // Filler of 4 cycles: enough for 7 chunks, not for 6.
  auto filler = [&](unsigned vl) {
    return kernel(fmt::format("VSETI S0, int {}\nVSETVL S0\n{}VSETVL S0\n{}", vl, compare, move));
  };
  EXPECT_EQ(filler(112), Rules{});
  EXPECT_EQ(filler(96), kPredicate);
  EXPECT_EQ(kernel(compare + "VRED.ANY S0, P1"), kPredicate);
  EXPECT_EQ(only(compare + move),
            "slot 13 for node (1,0), `run`: word 1, `VMOV v2, v3 where P1`: reads P1 3 cycles before the "
            "compare at "
            "word 0 has written it");
}

TEST(LintVector, Vector_S5_3_FillRace) {
  EXPECT_EQ(kernel("VFILL A0, 0\nVBAR\nVLD.fp16 v0, A1"), Rules{});
  EXPECT_EQ(kernel("VFILL A0, 0\nVLD.fp16 v0, A1"), Rules{"vector-fill-race"});
  EXPECT_EQ(kernel("VFILL A0, 16\nVLD.fp16 v0, A1"), Rules{});
  EXPECT_EQ(kernel("VSETI S0, int 64\nVSETVL S0\nVFILL A0, 0\nVLD.fp16 v0, A1, 4"), Rules{});  // right behind
  EXPECT_EQ(kernel("VFILL A0, 16\nVLD.fp16 v0, A1, 13"), Rules{"vector-fill-race"});
  EXPECT_EQ(kernel("VFILL A0, 510\nVLD.fp16 v0, A1"), Rules{"vector-fill-race"});  // 510, 511, 0, 1
}

TEST(LintVector, Vector_S5_Descriptor) {
  EXPECT_EQ(kernel("VLD.fp16 v0, A2"), Rules{"vector-descriptor"});
  EXPECT_EQ(kernel("VDRAIN A3, 0"), Rules{"vector-descriptor"});
  EXPECT_EQ(stage("kernel {\nVLD.fp16 v0, A2\nVHALT\n}\nrun 0\ndesc A2.base=0\n"),
            Rules{"vector-descriptor"});
}

TEST(LintVector, Vector_S10_EndOfTheKernel) {
  EXPECT_EQ(stage("kernel {\nVBAR\nVHALT\n}\nrun 0"), Rules{});
  EXPECT_EQ(stage("kernel {\nVBAR\nVBAR\n}\nrun 0"), Rules{"vector-imem"});
  EXPECT_EQ(stage("kernel at=510 {\nVBAR\nVBAR\n}\nrun 510"), Rules{"vector-imem"});
  EXPECT_EQ(stage("kernel {\nVBAR\nVHALT\n}\nrun 2"), Rules{"vector-imem"});
  EXPECT_EQ(stage("kernel {\nVSETMODE D4\nVMOV C, v0\n}\nrun 0"), Rules{"vector-imem"});
}

}  // namespace
}  // namespace ktpu::arch
