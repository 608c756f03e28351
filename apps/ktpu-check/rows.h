// SPDX-License-Identifier: Apache-2.0
// Recorded files as rows: a .jsonl file has one per line, a .json file is one. Either may be compressed
// (.gz).
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace ktpu::check {

// The name without .gz, .jsonl and .json.
std::string file_stem(const std::filesystem::path& path);
// README, index.json, CSV and whatever else holds no rows.
bool holds_no_rows(const std::filesystem::path& path);

// Calls `row(number from 1, value, error)` for each row; `error` is empty, or says why the row is no JSON
// (then `value` is null). Throws UserError when the file cannot be read.
using RowSink = std::function<void(std::size_t, const nlohmann::json&, const std::string&)>;
void read_rows(const std::filesystem::path& path, const RowSink& row);

}  // namespace ktpu::check
