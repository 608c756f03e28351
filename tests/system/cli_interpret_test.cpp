// SPDX-License-Identifier: Apache-2.0
// ktpu-interpret as a process: the same output files as ktpu-sim, traffic, errors.
#include <nlohmann/json.hpp>

#include "tests/system/process.h"

namespace ktpu::test {
namespace {

using Interpret = Workshop;

TEST_F(Interpret, OutputsAreTheSimulators) {
  ASSERT_EQ(sim({example("matmul_256x256x256"), "-t", "mesh8", "-q", "--out", "c=c.npy"}).status, 0);
  const Finished f =
      run("ktpu-interpret", {example("matmul_256x256x256"), "-t", "mesh8", "--out", "c=own.npy", "--expect",
                             "c=c.npy", "--traffic", "--traffic-json", "traffic.json"});
  EXPECT_EQ(f.status, 0) << f.err;
  EXPECT_NE(f.out.find("expect c: 65536 elements equal"), std::string::npos) << f.out;
  EXPECT_NE(f.out.find("mesh 0 (1,1)"), std::string::npos) << f.out;
  EXPECT_EQ(slurp(folder / "own.npy"), slurp(folder / "c.npy"));
  const auto traffic = nlohmann::json::parse(slurp(folder / "traffic.json"));
  EXPECT_EQ(traffic["total"]["written"], 2 * 256 * 256);
}

TEST_F(Interpret, ModelRoundingDiffers) {
  ASSERT_EQ(run("ktpu-interpret", {example("matmul_256x256x256"), "-t", "mesh8", "--out", "c=c.npy"}).status,
            0);
  const Finished f = run("ktpu-interpret", {example("matmul_256x256x256"), "-t", "mesh8", "--rounding",
                                            "model", "--expect", "c=c.npy"});
  EXPECT_EQ(f.status, 1);
  EXPECT_NE(f.err.find("elements differ"), std::string::npos) << f.err;
}

TEST_F(Interpret, AMachineTooSmallIsRefusedBeforeTheRun) {
  const Finished f = run("ktpu-interpret", {example("matmul_256x256x256"), "-t", "mesh1"});
  EXPECT_EQ(f.status, 2);
  EXPECT_NE(f.err.find("the program needs a matmul_cluster at"), std::string::npos) << f.err;
}

// Zeros for an operand that was forgotten are a right answer to the wrong question.
TEST_F(Interpret, AnInputThatIsNotGivenIsNamed) {
  const std::string text =
      "machine \"mesh1\"\ninput a fp16 [4,32] at=0x0 layout=entry:1x1\ninput b fp16 [4,32] at=0x400 "
      "layout=entry:1x1\nround \"r\"\n";
  const std::string zeros = assemble(text, "zeros");
  const std::string held = assemble("image 0x400 zeros size=32\n" + text, "held");
  for (const char* app : {"ktpu-interpret", "ktpu-sim"}) {
    const Finished none = run(app, {zeros, "-t", "mesh1"});
    EXPECT_EQ(none.status, 0) << none.err;
    for (const char* name : {"a", "b"})
      EXPECT_NE(none.err.find("input \"" + std::string(name) + "\" (fp16 of 4x32) is not given"),
                std::string::npos)
          << none.err;
    const Finished half = run(app, {held, "-t", "mesh1"});
    EXPECT_NE(half.err.find("input \"a\""), std::string::npos) << half.err;
    EXPECT_EQ(half.err.find("input \"b\""), std::string::npos) << half.err;
  }
}

TEST_F(Interpret, ErrorsHaveTheirStatus) {
  EXPECT_EQ(run("ktpu-interpret", {example("matmul_256x256x256")}).status, 2);
  EXPECT_EQ(run("ktpu-interpret", {"absent.bin", "-t", "mesh8"}).status, 2);
  const std::string head = "machine \"mesh1\"\nround \"r\"\nbaseline (1,1)\n";
  const std::string hang = assemble(
      head + "stage 0 {\n fill a n=1 from=0x0\n}\ncredit 8\nkick (1,1) slots=0..0\nawait (1,1) 2\n", "hang");
  EXPECT_EQ(run("ktpu-interpret", {hang, "-t", "mesh1"}).status, 4);
  const std::string fault = assemble(
      head + "stage 0 {\n fill a n=9 eoff=250 from=0x0\n}\ncredit 8\nkick (1,1) slots=0..0\nawait (1,1) 1\n",
      "fault");
  const Finished f = run("ktpu-interpret", {fault, "-t", "mesh1"});
  EXPECT_EQ(f.status, 3);
  EXPECT_NE(f.err.find("node (1,1), round 1 \"r\", step 4, instruction 0 (FILL)"), std::string::npos)
      << f.err;
}

}  // namespace
}  // namespace ktpu::test
