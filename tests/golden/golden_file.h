// SPDX-License-Identifier: Apache-2.0
// Small expected outputs kept in the repository. KTPU_UPDATE_GOLDEN=1 in the environment rewrites them; read
// the diff.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace ktpu::test {

inline std::string read_file(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

inline void expect_golden(const std::filesystem::path& path, const std::string& actual) {
  if (std::getenv("KTPU_UPDATE_GOLDEN")) {
    std::ofstream(path, std::ios::binary) << actual;
    return;
  }
  ASSERT_TRUE(std::filesystem::exists(path)) << path << " is missing; run with KTPU_UPDATE_GOLDEN=1";
  EXPECT_EQ(read_file(path), actual) << "run with KTPU_UPDATE_GOLDEN=1 and read the diff of " << path;
}

}  // namespace ktpu::test
