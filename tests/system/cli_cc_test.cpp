// SPDX-License-Identifier: Apache-2.0
// ktpu-cc as a process: kernels of the library and texts of every level to program files that run.
#include "tests/system/process.h"

namespace ktpu::test {
namespace {

class Cc : public Workshop {
 protected:
  Cc() {
    spill(folder / "a.npy", npy(values(16 * 64, 1), "(16, 64)"));
    spill(folder / "b.npy", npy(values(32 * 64, 7), "(32, 64)"));
  }
  // Halves between 1 and 2, of both signs.
  static std::vector<std::uint16_t> values(std::size_t n, unsigned seed) {
    std::vector<std::uint16_t> made(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t x = (i + seed) * 2654435761u;
      made[i] = static_cast<std::uint16_t>(0x3c00 | (x >> 8 & 0x3ff) | (x >> 3 & 1) << 15);
    }
    return made;
  }
  Finished cc(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"-t", "mesh8"});
    return run("ktpu-cc", arguments);
  }
  bool has(const std::string& text, const std::string& part) const {
    return text.find(part) != std::string::npos;
  }
};

TEST_F(Cc, TheProgramFileRunsAndItsOperandsMayBeInIt) {
  ASSERT_EQ(cc({"ops.matmul", "-s", "a=16x64", "-s", "b=32x64", "-o", "bare.bin"}).status, 0);
  ASSERT_EQ(
      sim({"-t", "mesh8", "-q", "bare.bin", "--in", "a=a.npy", "--in", "b=b.npy", "--out", "c=c.npy"}).status,
      0);
  ASSERT_EQ(cc({"matmul", "--in", "a=a.npy", "--in", "b=b.npy", "-o", "full.bin"}).status, 0);
  EXPECT_EQ(sim({"-t", "mesh8", "-q", "full.bin", "--expect", "c=c.npy"}).status, 0);
  const Finished ran = cc(
      {"matmul", "--in", "a=a.npy", "--in", "b=b.npy", "--run", "--expect", "c=c.npy", "--out", "c=d.npy"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(slurp(folder / "d.npy"), slurp(folder / "c.npy"));
  EXPECT_EQ(run("ktpu-objdump", {"full.bin"}).status, 0);
}

TEST_F(Cc, AWrongExpectationIsStatusOne) {
  spill(folder / "zero.npy", npy(std::vector<std::uint16_t>(16 * 32), "(16, 32)"));
  const Finished ran = cc(
      {"matmul", "--in", "a=a.npy", "--in", "b=b.npy", "--run", "--expect", "c=zero.npy", "--atol", "0.1"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(has(ran.err, "elements differ")) << ran.err;
}

TEST_F(Cc, CompilationGoesOnFromEveryLevel) {
  const std::vector<std::string> operands{"--in", "a=a.npy", "--in", "b=b.npy"};
  std::vector<std::string> arguments{"matmul", "-o", "c.bin"};
  arguments.insert(arguments.end(), operands.begin(), operands.end());
  ASSERT_EQ(cc(arguments).status, 0);
  ASSERT_EQ(sim({"-t", "mesh8", "-q", "c.bin", "--out", "c=c.npy"}).status, 0);
  for (const std::string level : {"kernel", "graph", "schedule", "program", "bytes"}) {
    ASSERT_EQ(cc({"matmul", "-s", "a=16x64", "-s", "b=32x64", "--emit", level, "-o", level}).status, 0);
    const bool tensors = level != "program" && level != "bytes";
    arguments = {level, "-o", "from.bin"};
    if (tensors) arguments.insert(arguments.end(), operands.begin(), operands.end());
    ASSERT_EQ(cc(arguments).status, 0) << level;
    if (tensors) {
      EXPECT_EQ(sim({"-t", "mesh8", "-q", "from.bin", "--expect", "c=c.npy"}).status, 0) << level;
    }
    // The words are those of the whole way.
    EXPECT_EQ(cc({level, "--emit", "bytes", "-o", "words"}).status, 0);
    EXPECT_EQ(cc({"matmul", "-s", "a=16x64", "-s", "b=32x64", "--emit", "bytes", "-o", "whole"}).status, 0);
    EXPECT_EQ(slurp(folder / "words"), slurp(folder / "whole")) << level;
  }
}

TEST_F(Cc, ARefusalSaysWhatWhereAndTheFixAndWritesNothing) {
  const auto before = files();
  const Finished f = cc({"kernels.softmax", "-s", "x=4x130", "--policy", "compat", "-o", "out.bin"});
  EXPECT_EQ(f.status, 2);
  EXPECT_TRUE(has(f.err, "ktpu-cc: a fold along rows of 130 elements (ROW_WIDTH, build): rows are")) << f.err;
  EXPECT_EQ(files(), before);
}

TEST_F(Cc, ALevelAboveTheRefusalCanStillBeRead) {
  const Finished f = cc({"kernels.softmax", "-s", "x=4x130", "--policy", "compat", "--emit", "graph"});
  EXPECT_EQ(f.status, 0) << f.err;
  EXPECT_TRUE(has(f.out, "graph @kernels.softmax")) << f.out;
}

TEST_F(Cc, AStagedEpilogueAndClampedValuesAreSaid) {
  const Finished f = cc({"kernels.linear_silu", "-s", "x=256x64", "-s", "w=512x64", "-o", "out.bin"});
  EXPECT_EQ(f.status, 0);
  EXPECT_TRUE(has(f.err, "note: epilogue staged through memory: ")) << f.err;
  spill(folder / "big.npy", npy(std::vector<std::uint16_t>(16 * 64, 0x7800), "(16, 64)"));
  const Finished g = cc({"ops.mul", "--in", "a=big.npy", "--in", "b=big.npy", "--run"});
  EXPECT_EQ(g.status, 0) << g.err;
  EXPECT_TRUE(has(g.err, "note: 1024 stored values stopped at +-65504")) << g.err;
}

TEST_F(Cc, CostsAreSaidToBeModelled) {
  const Finished f = cc({"matmul", "-s", "a=64x64", "-s", "b=64x64", "--cost", "--compare", "gm=4,gn=4"});
  EXPECT_EQ(f.status, 0) << f.err;
  EXPECT_TRUE(has(f.out, "modelled")) << f.out;
  EXPECT_TRUE(has(f.out, "b: ops.matmul gm=4 gn=4")) << f.out;
}

TEST_F(Cc, EveryMeshOfAMachineUsesItsOwnMemory) {
  for (const std::string mesh : {"0", "2"}) {
    ASSERT_EQ(run("ktpu-cc", {"matmul", "-t", "quad", "--mesh", mesh, "--in", "a=a.npy", "--in", "b=b.npy",
                              "-o", "c.bin"})
                  .status,
              0);
    const Finished f = sim({"-t", "quad", "-q", "c.bin", "--out", "c=c" + mesh + ".npy"});
    EXPECT_EQ(f.status, 0);
    EXPECT_EQ(f.err, "");
  }
  EXPECT_EQ(slurp(folder / "c0.npy"), slurp(folder / "c2.npy"));
}

TEST_F(Cc, TheTileIsExplainedAndChosen) {
  const Finished f = cc({"matmul", "-s", "a=256x256", "-s", "b=256x256", "--explain-tile"});
  EXPECT_EQ(f.status, 0) << f.err;
  EXPECT_TRUE(has(f.out, "gm=64 gn=64 nk=4 intensity 64 useful 100.00% key (262144, 4, 0): chosen")) << f.out;
  EXPECT_TRUE(has(f.out, "ops.matmul has gm=8 gn=8 nk=2")) << f.out;
  const Finished g = cc({"matmul", "-s", "a=256x256", "-s", "b=256x256", "--auto-tile", "--emit", "kernel"});
  EXPECT_TRUE(has(g.out, "knob gm 64")) << g.out << g.err;
}

TEST_F(Cc, AGraphOfOperationsIsPlannedAndComputed) {
  spill(folder / "g.txt",
        "tensors @g {\n  %a = input <16x64xf16>\n  %b = input <32x64xf16>\n"
        "  %c = matmul %a, %b <16x32xf16>\n  %y = silu %c <16x32xf16>\n  result %y\n}\n");
  const Finished plan = cc({"g.txt", "--emit", "plan"});
  EXPECT_EQ(plan.status, 0) << plan.err;
  EXPECT_TRUE(has(plan.out, "%y = call kernels.linear_silu (w = %b, x = %a) gm=8")) << plan.out;
  const Finished ran = cc({"g.txt", "--in", "a=a.npy", "--in", "b=b.npy", "--run", "--out", "y=y.npy"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(cc({"kernels.linear_silu", "--in", "x=a.npy", "--in", "w=b.npy", "--run", "--expect", "y=y.npy"})
                .status,
            0);
  EXPECT_EQ(cc({"g.txt", "-o", "g.bin"}).status, 2);
}

TEST_F(Cc, MistakesOnTheCommandLineHaveTheirWords) {
  struct Mistake {
    std::vector<std::string> arguments;
    std::string words;
  };
  for (const Mistake& m : std::vector<Mistake>{
           {{"ops.mamul", "-o", "x"}, "did you mean \"ops.matmul\"?"},
           {{"ops.matmul", "-s", "a=16x64", "-o", "x"}, "ops.matmul needs b (MISSING_ARGUMENT, bind)"},
           {{"ops.matmul", "-s", "a=16y64", "-o", "x"}, "--shape a=16y64: expected PORT=64x128"},
           {{"ops.matmul", "-k", "gm", "-o", "x"}, "--knob gm: expected NAME=VALUE"},
           {{"ops.matmul", "-s", "a=16x64", "-s", "b=32x64", "-k", "zz=1", "-o", "x"}, "has no knob zz"},
           {{"ops.matmul", "-s", "a=8x64", "--in", "a=a.npy", "-o", "x"}, "the file of --in a has 16x64"},
           {{"ops.matmul", "-s", "a=16x64", "-s", "b=32x64"}, "nothing to do"},
           {{"ops.matmul", "--in", "a=a.npy", "-s", "b=32x64", "--run"}, "input b has no values"},
           {{"a.npy", "-o", "x"}, "it is no text of a level"},
       }) {
    const Finished f = cc(m.arguments);
    EXPECT_EQ(f.status, 2);
    EXPECT_TRUE(has(f.err, m.words)) << f.err;
  }
  EXPECT_EQ(run("ktpu-cc", {"--list"}).status, 0);
}

}  // namespace
}  // namespace ktpu::test
