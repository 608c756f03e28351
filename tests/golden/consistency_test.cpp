// SPDX-License-Identifier: Apache-2.0
// What cannot be seen must not matter (design.md section 2): recorded programs, under the recorded and under
// other DRAM numbers, run the same with and without idle skip and with and without a look inside the
// clusters.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "apps/ktpu-check/program_import.h"
#include "tests/golden/run_events.h"

namespace ktpu::check {
namespace {

using nlohmann::json;

std::vector<json> program_files() {
  const char* env = std::getenv("KTPU_VECTORS");
  const std::filesystem::path root =
      std::filesystem::path(env != nullptr ? env : KTPU_SOURCE_DIR "/../shared/vectors") / "programs";
  std::vector<json> files;
  for (const char* name : {"small/matmul/30x50x20.json", "small/matmul/64x96x64_g2x2x1.json",
                           "mesh8/matmul/2x32x64x48.json", "mesh8/matmul/128x128x128_g16x16x2.json"}) {
    std::ifstream in(root / name);
    if (!in)
      std::printf("vectors not found: %s\n", (root / name).c_str());
    else
      files.push_back(json::parse(in));
  }
  return files;
}

TEST(Consistency, IdleSkipAndProbesChangeNothing) {
  constexpr unsigned kSeed = 7;
  std::printf("seed %u\n", kSeed);
  std::mt19937 random(kSeed);
  const auto upto = [&](std::uint32_t high) { return static_cast<std::uint32_t>(random() % (high + 1)); };
  for (const json& file : program_files()) {
    for (int variant = 0; variant < 3; ++variant) {
      ImportedProgram imported = import_program(file);
      topo::DramSimple& dram = imported.machine.meshes.front().dram->simple;
      if (variant != 0) {
        dram.first_read_beat = 1 + upto(90);
        dram.read_gaps = {upto(3), upto(3), upto(5)};
        dram.first_write_beat = 1 + upto(10);
        dram.write_gaps = {upto(4), upto(2)};
        dram.write_response = 1 + upto(40);
      }
      const std::string plain = run_events(imported.machine, imported.program, Watch::kOutside, true);
      const std::string every_cycle = run_events(imported.machine, imported.program, Watch::kOutside, false);
      const std::string watched = run_events(imported.machine, imported.program, Watch::kInside, true);
      expect_no_findings(plain, imported.program, file["id"].dump());
      EXPECT_TRUE(plain == every_cycle)
          << file["id"] << " idle skip: " << first_difference(plain, every_cycle);
      EXPECT_TRUE(plain == watched) << file["id"] << " probes: " << first_difference(plain, watched);
    }
  }
}

}  // namespace
}  // namespace ktpu::check
