// SPDX-License-Identifier: Apache-2.0
// The interpreter on compiled kernels (vectors/compiler/live): as the simulator with and without quirks, bit
// for bit, and with the reference model's rounding as the recorded outputs. The simulator runs every eighth
// program; KTPU_LONG=1 all of them.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "apps/check_formats/hex.h"
#include "apps/common/interpreted_machine.h"
#include "apps/ktpu-check/live_import.h"
#include "apps/ktpu-check/rig.h"
#include "apps/ktpu-check/sha256.h"
#include "arch/program/image.h"
#include "arch/program/tensor_layout.h"
#include "compiler/interpret/interpreter.h"
#include "tests/support/vectors.h"

namespace ktpu::test {
namespace {

using interpret::Interpreter;
using nlohmann::json;

check::LiveProgram imported(const json& file, topo::Quirks quirks) {
  check::LiveProgram live = check::import_live(file);
  for (topo::Mesh& mesh : live.machine.meshes)
    for (topo::Node& node : mesh.nodes) node.quirks = quirks;
  return live;
}

bool runs(const json& file) { return file.at("status") == "ok"; }

void expect_equal_memory(const check::Rig& rig, const Interpreter& interpreter, std::uint64_t address,
                         std::uint64_t bytes) {
  const auto want = rig.read_memory(address, bytes), got = interpreter.read_memory(0, address, bytes);
  const auto at = std::mismatch(want.begin(), want.end(), got.begin()).first;
  EXPECT_TRUE(at == want.end()) << "memory differs at 0x" << std::hex << address + (at - want.begin());
}

// All of memory; where a kernel reads what it may have written a moment ago, the results. Whether it does.
bool compare_with_simulator(const check::LiveProgram& live) {
  interpret::Options options;
  options.warnings = true;
  Interpreter interpreter(live.program, apps::interpreted_machine(live.machine), options);
  interpreter.run();
  check::Rig rig(live.machine, &live.program, check::Watch::kOutside);
  const auto& result = rig.run_unchecked({});
  EXPECT_EQ(result.status, arch::ExitStatus::kOk) << result.message;
  if (interpreter.counters().early_reads == 0)
    for (const arch::MemoryNeed& need : live.program.needs.memory)
      expect_equal_memory(rig, interpreter, need.begin, need.end - need.begin);
  for (const arch::Tensor& output : live.program.outputs) {
    const arch::TensorLayout layout(output.layout, output.shape);
    expect_equal_memory(rig, interpreter, output.address, 2 * layout.elements());
  }
  return interpreter.counters().early_reads != 0;
}

// Bits of the reference model: elements compared and different, largest difference in FP16 steps.
struct Agreement {
  std::size_t compared = 0, different = 0, most = 0;
};

int order(std::uint16_t half) { return half & 0x8000 ? -(half & 0x7FFF) : half; }

Agreement compare_with_model(const json& file) {
  const check::LiveProgram live = check::import_live(file);
  interpret::Options options;
  options.rounding = interpret::Rounding::kReferenceModel;
  Interpreter interpreter(live.program, apps::interpreted_machine(live.machine), options);
  interpreter.run();
  Agreement agreement;
  for (const auto& [name, output] : file.at("outputs").items()) {
    std::size_t count = 1;
    for (const std::uint32_t extent : check::tensor_shape(output)) count *= extent;
    std::vector<std::uint8_t> got = interpreter.output(name);
    got.resize(2 * count);  // rows that were not swept are zeros to the caller
    const bool all = output.contains("fp16");
    const std::size_t by = all ? 1 : output.at("sample_step").get<std::size_t>();
    const auto want =
        check::hex_halves(output.at(all ? "fp16" : "sample_fp16"), "fp16", (count + by - 1) / by);
    if (check::sha256_hex(got) == output.at("sha256_le")) {
      agreement.compared += count;
      continue;
    }
    for (std::size_t i = 0; i < want.size(); ++i) {
      const auto half = static_cast<std::uint16_t>(got[2 * i * by] | got[2 * i * by + 1] << 8);
      ++agreement.compared;
      if (half == want[i]) continue;
      ++agreement.different;
      agreement.most =
          std::max(agreement.most, static_cast<std::size_t>(std::abs(order(half) - order(want[i]))));
    }
    if (agreement.different == 0) ++agreement.different;  // the hash says that some element not shown differs
  }
  EXPECT_EQ(interpreter.counters().saturated, file.at("saturated").get<std::uint64_t>());
  return agreement;
}

TEST(InterpretLive, MemoryIsWhatTheSimulatorLeaves) {
  const auto files = vector_files("compiler/live");
  KTPU_NEEDS_VECTORS("compiler/live");
  ASSERT_FALSE(files.empty());
  std::size_t number = 0, early = 0, compared = 0;
  for (const auto& path : files) {
    SCOPED_TRACE(path.string());
    const json file = read_json(path);
    if (!runs(file) || (number++ % 8 != 0 && !long_run())) continue;
    ++compared;
    for (const topo::Quirks quirks : {topo::Quirks::kNone, topo::Quirks::kReference})
      ASSERT_NO_THROW(early += compare_with_simulator(imported(file, quirks)));
  }
  std::cout << compared << " kernels, with quirks and without; " << early << " of these runs read early\n";
}

TEST(InterpretLive, ReferenceRoundingGivesTheRecordedOutputs) {
  const auto files = vector_files("compiler/live");
  KTPU_NEEDS_VECTORS("compiler/live");
  ASSERT_FALSE(files.empty());
  std::size_t kernels = 0, equal = 0;
  for (const auto& path : files) {
    SCOPED_TRACE(path.string());
    const json file = read_json(path);
    if (!runs(file)) continue;
    Agreement agreement;
    ASSERT_NO_THROW(agreement = compare_with_model(file));
    ++kernels;
    equal += agreement.different == 0;
    if (agreement.different != 0)
      std::cout << file["id"] << ": " << agreement.different << " of " << agreement.compared
                << " differ, by up to " << agreement.most << "\n";
  }
  std::cout << equal << " of " << kernels << " bit-equal\n";
  EXPECT_EQ(equal, kernels);
}

}  // namespace
}  // namespace ktpu::test
