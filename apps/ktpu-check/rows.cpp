// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/rows.h"

#include <zlib.h>

#include <memory>
#include <string_view>

#include "arch/error.h"

namespace ktpu::check {

using nlohmann::json;

namespace {

bool cut(std::string& name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return false;
  name.resize(name.size() - suffix.size());
  return true;
}

bool is_lines(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  cut(name, ".gz");
  return name.ends_with(".jsonl");
}

// zlib reads uncompressed files as they are.
std::string read_all(const std::filesystem::path& path) {
  const auto close = [](gzFile_s* file) { gzclose(file); };
  const std::unique_ptr<gzFile_s, decltype(close)> file(gzopen(path.c_str(), "rb"), close);
  if (file == nullptr || !std::filesystem::is_regular_file(path))
    throw arch::UserError::make("{}: cannot be opened", path.string());
  std::string text, chunk(1 << 16, '\0');
  for (;;) {
    const int read = gzread(file.get(), chunk.data(), static_cast<unsigned>(chunk.size()));
    if (read < 0) throw arch::UserError::make("{}: damaged or unreadable", path.string());
    if (read == 0) return text;
    text.append(chunk, 0, static_cast<std::size_t>(read));
  }
}

void parse(std::size_t number, std::string_view text, const RowSink& row) {
  json value;
  try {
    value = json::parse(text);
  } catch (const json::parse_error& error) {
    return row(number, {}, error.what());
  }
  row(number, value, {});
}

}  // namespace

std::string file_stem(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  cut(name, ".gz");
  if (!cut(name, ".jsonl")) cut(name, ".json");
  return name;
}

bool holds_no_rows(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  cut(name, ".gz");
  if (name == "index.json") return true;
  return !name.ends_with(".json") && !name.ends_with(".jsonl");
}

void read_rows(const std::filesystem::path& path, const RowSink& row) {
  const std::string text = read_all(path);
  if (!is_lines(path)) return parse(1, text, row);
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    const std::string_view line(text.data() + begin, end - begin);
    begin = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    parse(++number, line, row);
  }
}

}  // namespace ktpu::check
