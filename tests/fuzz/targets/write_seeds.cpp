// SPDX-License-Identifier: Apache-2.0
// Writes what the fuzz targets start from: FOLDER/{topology,program,assembler}/*.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "arch/program/text.h"
#include "tests/fuzz/program_mutator.h"
#include "tests/fuzz/seeds.h"

namespace {

void put(const std::filesystem::path& path, const void* data, std::size_t size) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary).write(static_cast<const char*>(data), static_cast<long>(size));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz_write_seeds FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  unsigned n = 0;
  for (const auto& [name, text] : ktpu::fuzz::topology_texts())
    put(folder / "topology" / (std::to_string(n++) + ".yaml"), text.data(), text.size());
  n = 0;
  for (const auto& [name, program] : ktpu::fuzz::programs()) {
    const auto bytes = ktpu::fuzz::write_unchecked(program);
    put(folder / "program" / (std::to_string(n) + ".bin"), bytes.data(), bytes.size());
    const std::string text = ktpu::arch::disassemble(program);
    put(folder / "assembler" / (std::to_string(n++) + ".kasm"), text.data(), text.size());
  }
  return 0;
}
