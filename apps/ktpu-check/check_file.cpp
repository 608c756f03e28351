// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/check_file.h"

#include <fmt/format.h>

#include <map>

#include "apps/ktpu-check/implementations.h"
#include "apps/ktpu-check/kinds.h"
#include "apps/ktpu-check/rows.h"
#include "arch/error.h"

namespace ktpu::check {

using nlohmann::json;

namespace {

std::string kind_text(const Kind& kind) {
  return kind.stem.empty() ? std::string(kind.folder) : fmt::format("{}/{}", kind.folder, kind.stem);
}

// One row; a row that cannot be replayed differs, whatever the reason.
void check_row(const Kind& kind, const json& row, Differences& differences) {
  try {
    kind.check(row, differences);
  } catch (const arch::UserError& error) {
    differences.add("(row)", "a row of kind " + kind_text(kind), error.what());
  } catch (const json::exception& error) {
    differences.add("(row)", "a row of kind " + kind_text(kind), error.what());
  } catch (const std::exception& error) {
    differences.add("(row)", "a run without an internal error", error.what());
  }
}

// What it ran on, if anybody asks.
void keep_books(FileResult& result) {
  const RowUnits units = take_row_units();
  if (!twins_wanted()) return;
  const std::string text = units.text();
  ++result.ran_on[units.has_twin()
                      ? "on " + text
                      : "without RTL: " + (text.empty() ? "nothing of them runs on a unit" : text)];
  result.with_twin += units.has_twin();
  result.compared += units.compared;
}

}  // namespace

FileResult check_file(const std::filesystem::path& file, std::size_t kept) {
  FileResult result;
  if (holds_no_rows(file)) {
    result.ignored = true;
    return result;
  }
  std::map<std::string, std::size_t> remarks;
  const auto one = [&](std::size_t number, const json& row, const Kind* kind,
                       const std::string& parse_error) {
    ++result.rows;
    Differences differences;
    take_row_units();
    if (!parse_error.empty()) {
      differences.add("(row)", "JSON", parse_error);
    } else if (kind == nullptr) {
      ++remarks["neither the name nor the fields tell a known kind"];
      return;
    } else if (kind->information_only) {
      ++result.equal;
      ++remarks[kind_text(*kind) + ": all fields are information only, nothing was compared"];
      keep_books(result);
      return;
    } else if (kind->check == nullptr) {
      ++remarks[fmt::format("{}: not supported by this version: {}", kind_text(*kind), kind->why_not)];
      return;
    } else {
      check_row(*kind, row, differences);
      keep_books(result);
    }
    if (differences.count() == 0)
      ++result.equal;
    else if (result.differing.size() < kept)
      result.differing.push_back({number, std::move(differences)});
  };
  const auto take = [&](std::size_t number, const json& row, const std::string& parse_error) {
    if (!parse_error.empty()) return one(number, row, nullptr, parse_error);
    const Kind* group = kind_of_group(row);
    if (group == nullptr) return one(number, row, kind_of(file, row), parse_error);
    std::size_t count = 0;
    // What stands beside the rows belongs to each of them.
    json shared = row;
    for (const char* const field : {"id", "path", "rows"}) shared.erase(field);
    for (const json& inner : row["rows"]) {
      json whole = shared;
      whole.update(inner);
      one(++count, whole, group, parse_error);
    }
  };
  try {
    read_rows(file, take);
  } catch (const arch::UserError& error) {
    result.error = error.what();
  }
  if (result.error.empty() && result.rows == 0) result.error = file.string() + ": holds no rows";
  for (const auto& [text, rows] : remarks)
    result.remarks.push_back(fmt::format("{} row{}: {}", rows, rows == 1 ? "" : "s", text));
  return result;
}

}  // namespace ktpu::check
