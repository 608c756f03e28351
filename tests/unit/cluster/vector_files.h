// SPDX-License-Identifier: Apache-2.0
// The recorded vectors, read in place.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ktpu::test {

// Rows of a JSON-lines file below $KTPU_VECTORS (default: ../shared/vectors beside the source tree). Empty,
// with one line printed, when it is not there.
inline std::vector<nlohmann::json> vector_rows(const std::string& file) {
  const char* root = std::getenv("KTPU_VECTORS");
  const std::filesystem::path path =
      (root != nullptr ? std::filesystem::path(root)
                       : std::filesystem::path(KTPU_SOURCE_DIR) / "../shared/vectors") /
      file;
  std::ifstream in(path);
  std::vector<nlohmann::json> rows;
  if (!in) {
    std::cout << "vectors not found: " << path.string() << "\n";
    return rows;
  }
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) rows.push_back(nlohmann::json::parse(line));
  return rows;
}

}  // namespace ktpu::test
