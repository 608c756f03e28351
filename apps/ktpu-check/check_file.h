// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "apps/ktpu-check/compare.h"

namespace ktpu::check {

struct FileResult {
  struct Row {
    std::size_t number = 0;  // from 1
    Differences differences;
  };
  bool ignored = false;  // holds no rows by its name
  std::size_t rows = 0;
  std::size_t equal = 0;
  std::vector<Row> differing;        // the first few
  std::vector<std::string> remarks;  // what was not replayed, and why
  // With twins asked for: on what the rows ran, and how many on each such choice.
  std::map<std::string, std::size_t> ran_on;
  std::size_t with_twin = 0;   // rows in which RTL ran
  std::uint64_t compared = 0;  // values, in lock-step
  std::string error;           // the file could not be read
};

// Replays every row. `kept`: how many differing rows to keep. Throws nothing but InternalError of the checker
// itself.
FileResult check_file(const std::filesystem::path& file, std::size_t kept);

}  // namespace ktpu::check
