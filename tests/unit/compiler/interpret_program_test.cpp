// SPDX-License-Identifier: Apache-2.0
// The interpreter on program texts: the same memory as the simulator, and errors in words.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "apps/common/interpreted_machine.h"
#include "apps/ktpu-check/rig.h"
#include "arch/error.h"
#include "arch/program/tensor_layout.h"
#include "arch/program/text.h"
#include "compiler/interpret/interpreter.h"

namespace ktpu::test {
namespace {

using interpret::Interpreter;
using interpret::Options;

std::string example(const std::string& name) {
  std::stringstream text;
  text << std::ifstream(std::string(KTPU_SOURCE_DIR) + "/examples/" + name + ".kasm").rdbuf();
  return text.str();
}

void expect_like_simulator(const std::string& text, const std::string& machine_name) {
  const arch::Program program = arch::assemble(text, "test.kasm");
  const topo::Machine machine = check::shipped_machine(machine_name);
  Interpreter interpreter(program, apps::interpreted_machine(machine));
  ASSERT_NO_THROW(interpreter.run());
  platform::Registry models;
  platform::register_models(models);
  platform::System system(machine, models);
  platform::Runner runner(system, &program, {});
  const auto& result = runner.run();
  ASSERT_EQ(result.status, arch::ExitStatus::kOk) << result.message;
  ASSERT_FALSE(program.outputs.empty());
  for (const arch::Tensor& output : program.outputs) {
    const arch::TensorLayout layout(output.layout, output.shape, arch::dtype_bits(output.dtype) / 8);
    const std::uint64_t bytes = layout.elements() * arch::dtype_bits(output.dtype) / 8;
    EXPECT_EQ(interpreter.read_memory(output.mesh, output.address, bytes),
              platform::read_memory(system.mesh(output.mesh), output.address, bytes))
        << output.name;
  }
}

TEST(InterpretProgram, ExamplesAreLikeTheSimulators) {
  const std::vector<std::pair<std::string, std::string>> examples{
      {"matmul_32x32x128", "mesh1"},         {"matmul_32x32x128_round", "mesh1"},
      {"matmul_32x32x128_staged", "staged"}, {"matmul_ksplit", "mesh1"},
      {"matmul_fused_drain", "mesh1"},       {"matmul_256x256x256_fused", "mesh8"},
      {"matmul_peer_sum_quad", "quad"},      {"vector_relu", "mesh8"}};
  for (const auto& [name, machine] : examples) {
    SCOPED_TRACE(name);
    expect_like_simulator(example(name), machine);
  }
}

// Two clusters share A; the second has nothing else to wait for.
const char* const kShared =
    "machine \"mesh8\" staging=16\n"
    "image 0x80000000 tensor [32,128] layout=entry:8x4 seed=139 shift=10\n"
    "image 0x80002000 tensor [32,128] layout=entry:8x4 seed=151 shift=10\n"
    "output c fp16 [32,32] at=0x80004000 layout=tile:1x1:8x8\n"
    "output d fp16 [32,32] at=0x80005000 layout=tile:1x1:8x8\n"
    "round \"shared\"\nbaseline (2,1) (1,1)\n"
    "stage 0 {\n"
    " fill a n=32 from=0x80000000 npeer=1 peer0=(1,1)\n fill b n=32 from=0x80002000\n gemm gm=8 gn=8 nk=4\n"
    " drain n=64 to=0x80005000 last\n"
    " fill a n=32 from=0x80000000 npeer=1 peer0=(2,1)\n fill b n=32 from=0x80002000\n gemm gm=8 gn=8 nk=4\n"
    " drain n=64 to=0x80004000 last\n}\n"
    "credit 512\nkick (2,1) slots=0..3\nkick (1,1) slots=4..7\nawait (2,1) 4\nawait (1,1) 4\n";

TEST(InterpretProgram, ASharedFillWaitsForItsLeader) { expect_like_simulator(kShared, "mesh8"); }

// One round on the cluster (1,1) of `mesh1`, with operands at 0 and 0x2000.
std::string round_of(const std::string& instructions, unsigned count, const std::string& more = "") {
  return fmt::format(
      "machine \"mesh1\" staging=128\nimage 0x0 tensor [32,128] layout=entry:8x4 seed=139 shift=10\n"
      "image 0x2000 tensor [32,128] layout=entry:8x4 seed=151 shift=10\nround \"r\"\nbaseline (1,1)\n"
      "stage 0 {{\n{}}}\ncredit 512\nkick (1,1) slots=0..{}\nawait (1,1) {}\n{}",
      instructions, count - 1, count, more);
}

std::string error_of(const std::string& text, Options options = {}) {
  const arch::Program program = arch::assemble(text, "test.kasm");
  Interpreter interpreter(program, apps::interpreted_machine(check::shipped_machine("mesh1")), options);
  try {
    interpreter.run();
  } catch (const arch::UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(InterpretProgram, ErrorsNameThePlace) {
  const std::string error = error_of(round_of("fill a n=32 from=0x0\nfill a n=200 eoff=100 from=0x0\n", 2));
  for (const char* part :
       {"node (1,1)", "round 1 \"r\"", "step 4", "instruction 1 (FILL)", "overruns its L1"})
    EXPECT_NE(error.find(part), std::string::npos) << error;
}

TEST(InterpretProgram, IllegalPrograms) {
  const std::string fills = "fill a n=32 from=0x0\nfill b n=32 from=0x2000\n";
  const std::vector<std::tuple<std::string, unsigned, std::string>> programs{
      {"fill a n=256 from=0x0\n", 1, "never completes"},
      {fills + "gemm gm=8 gn=8 nk=4\nfill a n=1 eoff=31 from=0x0\n", 4, "the sweep in flight reads"},
      {fills + "gemm gm=8 gn=8 nk=40\n", 3, "past its bank"},
      {fills + "gemm gm=8 gn=8 nk=1 emit to=0x4000\n", 3, "emits nothing"},
      {fills + "gemm gm=8 gn=8 nk=4 emit to=0x4000\ndrain n=60 fuse to=0x4000\n", 4, "a fused DRAIN of 60"},
      {fills + "gemm gm=8 gn=8 nk=4 emit to=0x4000\ndrain n=64 fuse to=0x5000\n", 4,
       "different destinations"},
      {fills + "gemm gm=8 gn=8 nk=4 emit to=0x4000\ngemm gm=8 gn=8 nk=4 emit to=0x4000\n", 4, "second GEMM"},
      {"drain n=64 fuse to=0x4000\n", 1, "never completes"},
      {"drain n=64 dnode dst=(1,1) to=0x0\n", 1, "the unit itself"},
      {"drain n=64 dnode dst=(3,3) to=0x0\n", 1, "where no unit is"},
      {"drain n=64 to=0xF000000000\n", 1, "not in the memory"},
  };
  for (const auto& [text, count, part] : programs) {
    const std::string error = error_of(round_of(text, count));
    EXPECT_NE(error.find(part), std::string::npos) << text << ": " << error;
  }
}

TEST(InterpretProgram, APollThatNothingMeets) {
  const std::string error = error_of(round_of("fill a n=32 from=0x0\n", 1, "await (1,1) 2\n"));
  EXPECT_NE(error.find("is never met"), std::string::npos) << error;
  const std::string waits = error_of(round_of("fill a n=32 from=0x0 npeer=1 peer0=(0,1)\n", 1));
  EXPECT_NE(waits.find("waits for the leader of a shared FILL"), std::string::npos) << waits;
}

TEST(InterpretProgram, WarningsAreForWhoAsks) {
  const std::string text = round_of(
      "fill a n=32 from=0x8000\nfill b n=32 from=0x2000\ngemm gm=8 gn=8 nk=4 aoff=4\ndrain n=65 to=0x4000\n"
      "fill a n=8 from=0x4000\n",
      5, "quiet 256\nround \"later\"\nbaseline (1,1)\ncredit 512\nkick (1,1) slots=4..4\nawait (1,1) 1\n");
  const arch::Program program = arch::assemble(text, "test.kasm");
  for (const bool asked : {false, true}) {
    Options options;
    options.warnings = asked;
    Interpreter interpreter(program, apps::interpreted_machine(check::shipped_machine("mesh1")), options);
    interpreter.run();
    std::string all;
    for (const std::string& w : interpreter.warnings()) all += w + "\n";
    const std::vector<std::string> parts{"nothing wrote, at 0x8000", "that nothing filled",
                                         "that nothing loaded", "0x4000, which a unit wrote"};
    for (const std::string& part : parts)
      EXPECT_EQ(all.find(part) != std::string::npos, asked) << part << all;
    // After quiet memory the same read is fine.
    EXPECT_EQ(interpreter.counters().early_reads, asked ? 1u : 0u);
  }
}

TEST(InterpretProgram, InputsOutputsAndCounters) {
  const arch::Program program = arch::assemble(example("matmul_32x32x128_round"), "test.kasm");
  Interpreter interpreter(program, apps::interpreted_machine(check::shipped_machine("mesh1")));
  // Ones times 65504: every sum is beyond FP16.
  std::vector<std::uint8_t> a, b;
  for (unsigned i = 0; i < 32 * 128; ++i) {
    a.insert(a.end(), {0x00, 0x3C});
    b.insert(b.end(), {0xFF, 0x7B});
  }
  interpreter.set_input("a", a);
  interpreter.set_input("b", b);
  interpreter.run();
  const auto c = interpreter.output("c");
  ASSERT_EQ(c.size(), 2u * 32 * 32);
  for (std::size_t i = 0; i < c.size(); i += 2) ASSERT_EQ(c[i] | c[i + 1] << 8, 0x7BFF);
  EXPECT_EQ(interpreter.counters().saturated, 32u * 32);
  EXPECT_EQ(interpreter.counters().rounds, 1u);
  EXPECT_EQ(interpreter.counters().gemms, 1u);
  EXPECT_EQ(interpreter.traffic().total(), (interpret::Bytes{2 * 32 * 256, 32 * 32 * 2, 0}));
  EXPECT_THROW(interpreter.set_input("a", std::span(a).first(2)), arch::UserError);
  EXPECT_THROW(interpreter.set_input("x", a), arch::UserError);
  EXPECT_THROW(interpreter.output("x"), arch::UserError);
}

}  // namespace
}  // namespace ktpu::test
