// SPDX-License-Identifier: Apache-2.0
// Recorded files of the folder that $KTPU_VECTORS names, or of ../shared/vectors beside the source tree.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ktpu::test {

inline std::filesystem::path vectors_folder() {
  const char* env = std::getenv("KTPU_VECTORS");
  return env != nullptr ? env : KTPU_SOURCE_DIR "/../shared/vectors";
}

// All .json files below `group` but the index, sorted; empty when the folder is not there.
inline std::vector<std::filesystem::path> vector_files(const std::string& group) {
  std::vector<std::filesystem::path> files;
  const std::filesystem::path folder = vectors_folder() / group;
  if (!std::filesystem::is_directory(folder)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".json" && entry.path().filename() != "index.json")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

inline nlohmann::json read_json(const std::filesystem::path& path) {
  return nlohmann::json::parse(std::ifstream(path));
}

inline bool long_run() { return std::getenv("KTPU_LONG") != nullptr; }

}  // namespace ktpu::test

// Leaves a test out, in one line, where there are no recorded files at all. Where there are, a group that is
// not among them is a failure: a test must not pass because its files have moved.
#define KTPU_NEEDS_VECTORS(group)                                                  \
  do {                                                                             \
    if (!std::filesystem::exists(::ktpu::test::vectors_folder()))                  \
      GTEST_SKIP() << "recorded files not found: set KTPU_VECTORS";                \
    ASSERT_TRUE(std::filesystem::exists(::ktpu::test::vectors_folder() / (group))) \
        << (::ktpu::test::vectors_folder() / (group)).string() << " is not there"; \
  } while (false)
