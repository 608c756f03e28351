// SPDX-License-Identifier: Apache-2.0
// Whole programs with staging memory and the host's memory window: every way of bringing the operands gives
// the result of the plain path, bit for bit.
#include <gmock/gmock.h>

#include <cstring>

#include "arch/formats/quantise.h"
#include "tests/system/run.h"

namespace ktpu::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint64_t kStaging = 0x80'0000'0000, kDram = 0x8000'0000;

struct Outcome {
  platform::RunResult result;
  plain::Halves c;
  std::vector<memory::Misuse> misuse;
  std::uint64_t staged_words = 0;
};

Outcome run(const std::string& text, const topo::Overrides& sets = {}, const char* machine = "staged",
            std::uint64_t c = kDram) {
  platform::Registry models;
  platform::register_models(models);
  platform::System system(topo::read_file(machine, sets), models);
  const arch::Program program = arch::assemble(text, "test");
  platform::Runner runner(system, &program, platform::RunLimits{500'000, 20'000});
  observe::Registry registry;
  registry.add(system.engine());
  Outcome out{runner.run(), {}, system.mesh().memory_agent->misuse().kept(), 0};
  out.c = plain::from_tiles(platform::read_memory(system.mesh(), c, 2048), 1, 1, 8, 8);
  if (const auto* words = registry.find("memory.dram_path.staging.words_read"))
    out.staged_words = words->read();
  return out;
}

std::string hex(const std::vector<std::uint8_t>& bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    text += fmt::format("{}{:02x}", i % 32 == 0 ? "\n" : "", bytes[i]);
  return "{" + text + "\n}\n";
}
std::vector<std::uint8_t> quantised(const std::vector<std::uint8_t>& fp16, arch::Side side) {
  std::vector<std::uint8_t> out;
  for (std::size_t at = 0; at < fp16.size(); at += 256) {
    std::array<std::uint16_t, 128> halves;
    std::memcpy(halves.data(), &fp16[at], 256);
    const auto entry = arch::quantise_entry(halves);
    for (unsigned w = 0; w < 4; ++w) {
      const auto word = arch::operand_word(side, w, entry);
      const auto* first = reinterpret_cast<const std::uint8_t*>(word.data());
      out.insert(out.end(), first, first + 32);
    }
  }
  return out;
}

const Example& kExample = example("matmul_32x32x128_staged");
std::vector<std::uint8_t> fp16_a() { return plain::to_entries(operand_a(kExample), 32, 128, 8, 4); }
std::vector<std::uint8_t> fp16_b() { return plain::to_entries(operand_b(kExample), 32, 128, 8, 4); }

std::string matmul(std::uint64_t a, std::uint64_t b, bool preq) {
  return fmt::format(
      "round \"r\"\nbaseline (1,1)\nstage 0 {{\n fill a from={:#x} n=32 {} txn=0x40\n fill b from={:#x} n=32 "
      "{} "
      "txn=0x40\n gemm gm=8 gn=8 nk=4 txn=0x40\n drain to={:#x} n=64 txn=0x40 last\n}}\ncredit 32\n"
      "kick (1,1) slots=0..3\nawait (1,1) 4\n",
      a, preq ? "preq" : "", b, preq ? "preq" : "", kDram);
}
const std::string kHead = "program \"t\"\nmachine \"staged\" staging=4\n";

TEST(Staged, PlainPathOnTheMachine) {
  const Outcome out = run(kHead + "load 0x80010000 bytes " + hex(fp16_a()) + "load 0x80020000 bytes " +
                          hex(fp16_b()) + matmul(0x80010000, 0x80020000, false));
  EXPECT_EQ(out.result.status, arch::ExitStatus::kOk) << out.result.message;
  EXPECT_EQ(out.c, expected(kExample));
  EXPECT_EQ(out.staged_words, 0u);
}

// Section 8: upload apertures quantise on the way; the fills find MXFP7 entries in DRAM.
TEST(Staged, UploadedOperands) {
  const Outcome out =
      run(kHead + "window write 0x8480010000 " + hex(fp16_a()) + "window write 0x8580020000 " +
          hex(fp16_b()) + matmul(0x80010000, 0x80020000, true));
  EXPECT_EQ(out.result.status, arch::ExitStatus::kOk) << out.result.message;
  EXPECT_EQ(out.c, expected(kExample));
  EXPECT_TRUE(out.misuse.empty());
}

// Section 7.2: finished entries in staging memory, written through the window or behind its back.
TEST(Staged, OperandsInStagingMemory) {
  for (const char* how : {"window write {:#x} ", "load {:#x} bytes "}) {
    const Outcome out =
        run(kHead + fmt::format(fmt::runtime(how), kStaging) + hex(quantised(fp16_a(), arch::Side::kA)) +
            fmt::format(fmt::runtime(how), kStaging + 0x1000) + hex(quantised(fp16_b(), arch::Side::kB)) +
            matmul(kStaging, kStaging + 0x1000, true));
    EXPECT_EQ(out.result.status, arch::ExitStatus::kOk) << out.result.message;
    EXPECT_EQ(out.c, expected(kExample));
    EXPECT_EQ(out.staged_words, 256u);
    EXPECT_TRUE(out.misuse.empty());
  }
}

// FP16 in staging memory: the converged store serves a QUANT read, through the port's quantiser.
TEST(Staged, QuantisedFillsFromStagingMemory) {
  const Outcome out =
      run(kHead + "window write 0x8000000000 " + hex(fp16_a()) + "window write 0x8000010000 " +
          hex(fp16_b()) + matmul(kStaging, kStaging + 0x10000, false));
  EXPECT_EQ(out.result.status, arch::ExitStatus::kOk) << out.result.message;
  EXPECT_EQ(out.c, expected(kExample));
  EXPECT_EQ(out.staged_words, 512u);
}

TEST(Staged, AStoreInEveryPort) {
  const Outcome out = run(kHead + "load 0x8000000000 bytes " + hex(quantised(fp16_a(), arch::Side::kA)) +
                              "load 0x8000001000 bytes " + hex(quantised(fp16_b(), arch::Side::kB)) +
                              matmul(kStaging, kStaging + 0x1000, true),
                          {"meshes.0.staging_placement=port"});
  EXPECT_EQ(out.result.status, arch::ExitStatus::kOk) << out.result.message;
  EXPECT_EQ(out.c, expected(kExample));
}

// A script host and a machine without adapters.
TEST(Staged, OtherMachines) {
  const std::string text = kHead + "window write 0x8400010000 " + hex(fp16_a()) +
                           "window write 0x8500020000 " + hex(fp16_b()) + matmul(0x10000, 0x20000, true);
  std::string small = text;
  for (std::size_t at; (at = small.find("(1,1)")) != std::string::npos;) small.replace(at, 5, "(2,1)");
  for (std::size_t at; (at = small.find("to=0x80000000")) != std::string::npos;)
    small.replace(at, 13, "to=0x0");
  const Outcome out = run(small, {}, "reference_small", 0);
  EXPECT_EQ(out.result.status, arch::ExitStatus::kOk) << out.result.message;
  EXPECT_EQ(out.c, expected(kExample));
}

// Section 12: what hangs says so.
TEST(Staged, ADroppedApertureHangsAndIsNamed) {
  const Outcome out = run(kHead + matmul(0x81'0000'0000, kDram + 0x1000, true));
  EXPECT_EQ(out.result.status, arch::ExitStatus::kNoProgress);
  ASSERT_FALSE(out.misuse.empty());
  EXPECT_EQ(out.misuse[0].kind, memory::MisuseKind::kDroppedAperture);
  EXPECT_THAT(out.misuse[0].text, HasSubstr("aperture 0x1 of mesh 0"));
}

TEST(Staged, AnUploadOfAPartOfAnEntryHangsAndIsNamed) {
  const Outcome out = run(kHead + "window write 0x8480010000 size=320 { 00 }\n");
  EXPECT_EQ(out.result.status, arch::ExitStatus::kNoProgress);
  EXPECT_THAT(out.result.message, AllOf(HasSubstr("upload of 10 beats"), HasSubstr("2 of the 8 beats")));
}

}  // namespace
}  // namespace ktpu::test
