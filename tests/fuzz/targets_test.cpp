// SPDX-License-Identifier: Apache-2.0
// The kept inputs of the fuzz targets, replayed in every test run: corpus/{topology,program,assembler}.
#include "tests/fuzz/targets/targets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <vector>

#include "tests/fuzz/program_mutator.h"
#include "tests/fuzz/seeds.h"

namespace ktpu::fuzz {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Target = std::function<std::string(std::span<const std::uint8_t>)>;

Bytes read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void replay(const std::string& folder, const Target& target) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(KTPU_SOURCE_DIR "/tests/fuzz/corpus/" + folder))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  EXPECT_FALSE(files.empty());
  for (const auto& file : files) EXPECT_EQ(target(read_bytes(file)), "") << file;
}

TEST(FuzzTargets, TopologyCorpus) { replay("topology", fuzz_topology); }
TEST(FuzzTargets, ProgramCorpus) { replay("program", fuzz_program); }
TEST(FuzzTargets, AssemblerCorpus) { replay("assembler", fuzz_assembler); }

// A target that finds nothing wrong with anything is worth nothing: these inputs reach its last stage.
TEST(FuzzTargets, SeedsAreAllowed) {
  const auto& texts = topology_texts();
  for (const SeedText& seed : {texts.front(), texts.back()})
    EXPECT_EQ(fuzz_topology(Bytes(seed.text.begin(), seed.text.end())), "") << seed.name;
  for (std::size_t n = 0; n < std::min<std::size_t>(3, programs().size()); ++n)
    EXPECT_EQ(fuzz_program(write_unchecked(programs()[n].program)), "") << programs()[n].name;
}

}  // namespace
}  // namespace ktpu::fuzz
