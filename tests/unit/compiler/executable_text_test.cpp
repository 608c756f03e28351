// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/bytes/executable.h"
#include "tests/unit/compiler/text_forms.h"

namespace ktpu::bytes {
namespace {

using compiler_tests::refused;
using compiler_tests::with;

// A product whose tile goes to the vector core at (1,0), which signals twice for it; then a vector stage in
// two rounds.
constexpr std::string_view kFused = R"(executable @fused machine "sim 6+4" {
  dispatch "MG" stage 0 staging 128 commands 128 depth 512 {
    round 0 of 1 bound end commands 9 {
      payload fill a from=0x80100000 n=16
      payload fill b from=0x80101000 n=16
      payload gemm gm=8 gn=8 nk=2
      payload drain to=0x0 n=16 dnode dst=(1,0) dflags=0x1 dack=(1,1)
      seed 512
      kick (1,1) slots 0+4
      await (1,1) 4
      await (1,0) 2
    }
  }
  wait_memory
  relayout at 0x80102000 <2x32x64xf16> from "batch2:flat" to "batch2:entry:8x2" stride 4096
  dispatch "VC" stage 2 staging 2 commands 128 depth 512 {
    round 0 of 2 bound staging commands 8 machine "other" {
      imem word=0xf8000000 txn=0x40
      run txn=0x40
      seed 512
      kick (1,0) slots 0+2
      await (1,0) 2
    }
    round 1 of 2 bound end commands 8 {
      flit 0f0f5408f00000000000000000000000000000000000000000000000000000000000000f
      seed 512
      kick (1,4) slots 0+1
      await (1,4) 1
    }
  }
}
)";

Executable read(std::string_view text) { return parse(text, "t"); }

TEST(ExecutableText, PrintsWhatItReads) {
  const Executable fused = read(kFused);
  EXPECT_EQ(print(fused), kFused);
  EXPECT_EQ(refused([&] { verify(fused); }), "");
  EXPECT_EQ(fused.flits(), 7u);
}

TEST(ExecutableText, ReadsEveryField) {
  const Executable fused = read(kFused);
  EXPECT_EQ(fused.machine, "sim 6+4");
  const auto& clusters = std::get<Dispatch>(fused.steps.at(0));
  const Artifact& round = clusters.plan.rounds.at(0).artifact;
  EXPECT_EQ(round.words.at(1).w[4], 0u);  // a bare payload
  EXPECT_EQ(std::get<Kick>(round.steps.at(1)).base.index(), 0u);
  EXPECT_EQ(std::get<Await>(round.steps.at(3)).node, (arch::Coord{1, 0}));
  EXPECT_TRUE(std::holds_alternative<WaitMemory>(fused.steps.at(1)));
  const auto& relayout = std::get<HostRelayout>(fused.steps.at(2));
  EXPECT_EQ(relayout.address, 0x80102000u);
  EXPECT_EQ(relayout.batch_stride, 4096u);
  EXPECT_EQ(relayout.from, "batch2:flat");
  const auto& vectors = std::get<Dispatch>(fused.steps.at(3));
  EXPECT_EQ(vectors.stage, 2u);
  EXPECT_EQ(vectors.plan.limits.staging_flits, 2u);
  EXPECT_EQ(vectors.plan.rounds.at(0).bound, Bound::kStaging);
  EXPECT_EQ(vectors.plan.rounds.at(0).artifact.machine, "other");
  EXPECT_EQ(vectors.plan.rounds.at(0).artifact.words.at(0).txn(), 0x40u);
  EXPECT_EQ(vectors.plan.rounds.at(1).artifact.words.at(0).w[4], 0x0f0f5408u);
}

struct Broken {
  std::string_view from, to, says;
};

TEST(ExecutableText, ErrorsNameTheirPlace) {
  for (const Broken& b : {
           Broken{"machine \"sim 6+4\"", "machine sim", "t:1:27: a machine in quotes expected, not \"sim\""},
           Broken{"wait_memory", "wait", "t:14:3: dispatch, relayout or wait_memory expected"},
           Broken{"bound end", "bound end_", "t:3:24: a bound is one of end, staging, credit, commands"},
           Broken{" n=16", " m=16", "t:4:38: fill has no field \"m\""},
           Broken{" n=16", " n=x", "t:4:38: \"x\" is not a number"},
           Broken{"payload gemm", "payload gem", "t:6:15: \"gem\" is no instruction"},
           Broken{"kick (1,1)", "kick (1,16)", "t:9:12: a node is written (x,y), 0 to 15 each"},
           Broken{"slots 0+4", "slots 0", "t:9:24: slots are written first+count, not \"0\""},
           Broken{"slots 0+4", "slots 125+4", "t:9:24: slots 125 to 128: the staging RAM has 128"},
           Broken{"await (1,0) 2\n", "await (1,0) 2\n      payload run\n",
                  "t:12:7: words come before the steps"},
       }) {
    const std::string message = refused([&] { read(with(std::string(kFused), b.from, b.to)); });
    EXPECT_NE(message.find(b.says), std::string::npos) << message << "\n" << b.says;
  }
}

TEST(ExecutableVerify, RefusesWhatBreaksARule) {
  for (const Broken& b : {
           Broken{"dispatch \"MG\"", "dispatch \"XX\"", "step 0: a dispatch goes to MG or VC"},
           Broken{"stage 0", "stage 3", "step 3: stage 2 comes after stage 3"},
           Broken{"round 0 of 1", "round 1 of 1", "is numbered 1 of 1"},
           Broken{"round 0 of 1", "round 0 of 2", "is numbered 0 of 2"},
           Broken{"bound end", "bound credit", "the last round, and only it"},
           Broken{"bound staging", "bound end", "the last round, and only it"},
           Broken{"commands 9", "commands 8", "takes 9 commands, not 8"},
           Broken{"      seed 512\n", "", "before the credit is seeded"},
           Broken{"seed 512\n      kick", "seed 512\n      seed 512\n      kick", "seeded twice"},
           Broken{"seed 512", "seed 513", "a credit of 513 for 1 kicks"},
           Broken{"seed 512", "seed 1", "a credit of 1 for 1 kicks"},
           Broken{"slots 0+4", "slots 1+4", "only 4 words are staged"},
           Broken{"await (1,1) 4", "await (1,2) 4", "node (1,1) is kicked, but not awaited"},
           Broken{"await (1,1) 4", "await (1,1) 3", "node (1,1) owes 4 signals, 3 are awaited"},
           Broken{"await (1,0) 2\n    }\n    round 1", "await (1,0) 3\n    }\n    round 1",
                  "node (1,0) owes 2 signals, 3 are awaited"},
           Broken{"await (1,0) 2", "await (1,1) 2", "node (1,1) is awaited twice"},
           Broken{"kick (1,1) slots 0+4\n      await (1,1) 4", "await (1,1) 4\n      kick (1,1) slots 0+4",
                  "a kick comes after an await"},
           Broken{"to \"batch2:entry:8x2\"", "to \"batch2:flat\"", "to itself"},
           Broken{"to \"batch2:entry:8x2\"", "to \"batch3:entry:8x2\"", "step 2: "},
           Broken{"to \"batch2:entry:8x2\"", "to \"entrance\"", "step 2: "},
       }) {
    const std::string text = with(std::string(kFused), b.from, b.to);
    const std::string message = refused([&] { verify(read(text)); });
    EXPECT_NE(message.find(b.says), std::string::npos) << b.from << " -> " << b.to << ": " << message;
  }
}

TEST(ExecutableText, MutantsAreReadOrRefused) {
  compiler_tests::fuzz(
      kFused, 5000, read, [](const Executable& e) { return print(e); },
      [](const Executable& e) { verify(e); });
}

}  // namespace
}  // namespace ktpu::bytes
