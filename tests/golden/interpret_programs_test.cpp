// SPDX-License-Identifier: Apache-2.0
// The interpreter against programs recorded on the reference RTL (vectors/programs): every result and every
// buffer in front of and behind a relayout, bit for bit, with the reference's quirks. KTPU_LONG=1 also
// compares all of memory with a run of the simulator whose host waits between rounds.
#include <gtest/gtest.h>

#include "apps/check_formats/hex.h"
#include "apps/common/interpreted_machine.h"
#include "apps/ktpu-check/program_import.h"
#include "apps/ktpu-check/rig.h"
#include "apps/ktpu-check/sha256.h"
#include "compiler/interpret/interpreter.h"
#include "tests/support/vectors.h"

namespace ktpu::test {
namespace {

using interpret::Interpreter;
using nlohmann::json;

constexpr std::uint32_t kQuiet = 256;

// The recorded host read data of an earlier round before it had landed: no question of what the program
// means.
bool stale_read(const json& file) {
  if (!file.contains("wrong")) return false;
  for (const json& wrong : file["wrong"])
    if (wrong["cause"].get<std::string>().starts_with("stale read")) return true;
  return false;
}

std::string hash_at(const Interpreter& interpreter, const json& where, const char* bytes) {
  return check::sha256_hex(interpreter.read_memory(0, check::hex_value(where.at("addr"), "addr", 40),
                                                   where.at(bytes).get<std::uint64_t>()));
}

// Halfwords of an output that differ from the recorded row-major result, told by its gather.
std::size_t different(const json& output, const Interpreter& interpreter) {
  const auto raw = interpreter.read_memory(0, check::hex_value(output.at("addr"), "addr", 40),
                                           output.at("nbytes").get<std::uint64_t>());
  const auto got = check::gather(raw, check::gather_runs(output.at("gather")));
  const auto want = check::hex_halves(output.at("fp16"), "fp16", got.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < got.size(); ++i) count += got[i] != want[i];
  return count;
}

void compare_with_simulator(const check::ImportedProgram& program, const Interpreter& interpreter) {
  check::Rig rig(program.machine, &program.program, check::Watch::kOutside);
  rig.set_quiet_before_round(kQuiet);
  rig.run_unchecked({});
  const topo::Dram& dram = *program.machine.meshes.front().dram;
  const auto want = rig.read_memory(dram.base, dram.size_bytes);
  const auto got = interpreter.read_memory(0, dram.base, dram.size_bytes);
  const auto at = std::mismatch(want.begin(), want.end(), got.begin()).first;
  EXPECT_TRUE(at == want.end()) << "memory differs from the simulator's at offset " << at - want.begin();
}

// The same with a host that waits in front of every round: what is read too early then is so within a round.
bool reads_early_within_a_round(const check::ImportedProgram& program) {
  arch::Program quiet = program.program;
  quiet.steps.clear();
  for (const arch::Step& step : program.program.steps) {
    if (std::holds_alternative<arch::StepRound>(step.action))
      quiet.steps.push_back({step.mesh, arch::StepQuiet{kQuiet}});
    quiet.steps.push_back(step);
  }
  interpret::Options options;
  options.warnings = true;
  Interpreter interpreter(quiet, apps::interpreted_machine(program.machine), options);
  interpreter.run();
  return interpreter.counters().early_reads != 0;
}

void interpret_recorded(const json& file) {
  const check::ImportedProgram program = check::import_program(file);
  interpret::Options options;
  options.warnings = true;
  Interpreter interpreter(program.program, apps::interpreted_machine(program.machine), options);
  std::size_t step = 0;
  for (const auto& place : program.places) {
    if (place.round) continue;
    const json& relayout = file.at("steps")[place.recorded];
    interpreter.run(step, place.first);
    EXPECT_EQ(hash_at(interpreter, relayout, "bytes_before"), relayout.at("sha256_before"));
    interpreter.run(place.first, place.after);
    EXPECT_EQ(hash_at(interpreter, relayout, "bytes_after"), relayout.at("sha256_after"));
    step = place.after;
  }
  interpreter.run(step, program.program.steps.size());
  for (const json& output : file.at("outputs")) {
    if (stale_read(file)) {
      EXPECT_GT(interpreter.counters().early_reads, 0u);
      EXPECT_EQ(different(output, interpreter), file.at("bits_different_under_quiet_host"));
    } else {
      EXPECT_EQ(hash_at(interpreter, output, "nbytes"), output.at("raw_sha256"));
      EXPECT_EQ(different(output, interpreter), 0u);
    }
  }
  if (long_run() && !reads_early_within_a_round(program)) compare_with_simulator(program, interpreter);
}

TEST(InterpretPrograms, MemoryIsWhatTheReferenceLeft) {
  const auto files = vector_files("programs");
  KTPU_NEEDS_VECTORS("programs");
  ASSERT_FALSE(files.empty());
  for (const auto& path : files) {
    SCOPED_TRACE(path.string());
    const json file = read_json(path);
    ASSERT_EQ(file.at("status"), "ok");
    ASSERT_NO_THROW(interpret_recorded(file));
  }
}

}  // namespace
}  // namespace ktpu::test
