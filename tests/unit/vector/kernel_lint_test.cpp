// SPDX-License-Identifier: Apache-2.0
// The static check over the kernels of recorded programs: the reference ran them, so none of them is wrong.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include "apps/common/machine_facts.h"
#include "apps/ktpu-check/program_import.h"
#include "arch/program/lint.h"

namespace ktpu::test {
namespace {

TEST(VectorKernelLint, RecordedProgramsHaveNoError) {
  const char* from_environment = std::getenv("KTPU_VECTORS");
  const std::filesystem::path folder =
      (from_environment ? std::filesystem::path(from_environment)
                        : std::filesystem::path(KTPU_SOURCE_DIR).parent_path() / "shared" / "vectors") /
      "programs";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "vectors not found: " << folder;
  unsigned programs = 0;
  std::map<std::string, unsigned> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".json" || entry.path().filename() == "index.json") continue;
    std::ifstream file(entry.path());
    const check::ImportedProgram p = check::import_program(nlohmann::json::parse(file));
    ++programs;
    const arch::MachineNeeds machine = apps::machine_facts(p.machine);
    for (const arch::LintFinding& f : arch::lint(p.program, &machine)) {
      if (!f.rule->id.starts_with("vector-")) continue;
      if (found[std::string(f.rule->id)]++ == 0)
        std::cout << entry.path().filename() << ": " << to_text(f) << '\n';
      EXPECT_FALSE(f.error()) << entry.path() << ": " << to_text(f);
    }
  }
  std::cout << programs << " programs";
  for (const auto& [id, n] : found) std::cout << ", " << id << ' ' << n;
  std::cout << '\n';
  EXPECT_GT(programs, 50u);
}

}  // namespace
}  // namespace ktpu::test
