// SPDX-License-Identifier: Apache-2.0
// Replays recorded files on the machine and compares every exact field.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/ktpu-check/check_file.h"
#include "apps/ktpu-check/implementations.h"
#include "apps/ktpu-check/replay_files.h"
#include "arch/error.h"

namespace {

using ktpu::arch::ExitStatus;
namespace fs = std::filesystem;

// Folders stand for all files under them, in name order.
std::vector<fs::path> expand(const std::vector<std::string>& arguments) {
  std::vector<fs::path> files;
  for (const std::string& argument : arguments) {
    if (!fs::is_directory(argument)) {
      files.emplace_back(argument);
      continue;
    }
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(argument))
      if (entry.is_regular_file()) found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

void print(const fs::path& file, const ktpu::check::FileResult& result, std::size_t shown) {
  fmt::print("{} rows {} equal {}\n", file.string(), result.rows, result.equal);
  if (!result.error.empty()) fmt::print("  {}\n", result.error);
  for (const std::string& remark : result.remarks) fmt::print("  {}\n", remark);
  for (const auto& [units, rows] : result.ran_on)
    fmt::print("  {} row{} {}\n", rows, rows == 1 ? "" : "s", units);
  if (result.compared != 0) fmt::print("  {} values compared in lock-step\n", result.compared);
  std::size_t lines = 0;
  for (const auto& row : result.differing) {
    for (const auto& d : row.differences.kept()) {
      if (lines++ == shown) break;
      fmt::print("  row {} field {}: expected {}, got {}\n", row.number, d.field, d.expected, d.got);
    }
    if (lines > shown) break;
  }
  if (lines > shown) fmt::print("  and more\n");
  std::fflush(stdout);
}

int run(const std::vector<std::string>& arguments, std::size_t shown) {
  std::size_t rows = 0, equal = 0, with_twin = 0;
  bool unreadable = false;
  for (const fs::path& file : expand(arguments)) {
    const ktpu::check::FileResult result = ktpu::check::check_file(file, shown + 1);
    if (result.ignored) continue;
    print(file, result, shown);
    rows += result.rows;
    equal += result.equal;
    with_twin += result.with_twin;
    unreadable |= !result.error.empty();
  }
  if (const std::string unused = ktpu::check::unused_implementation(); !unused.empty())
    throw ktpu::arch::UserError::make("--impl {}: no machine of these rows has such a node", unused);
  fmt::print("total rows {} equal {}\n", rows, equal);
  if (ktpu::check::twins_wanted()) fmt::print("rows with RTL {}, without {}\n", with_twin, rows - with_twin);
  if (unreadable || rows == 0) return static_cast<int>(ExitStatus::kUserError);
  return static_cast<int>(equal == rows ? ExitStatus::kOk : ExitStatus::kExpectFailed);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Replays recorded files (.json, .jsonl, either also .gz) and compares every exact field. Exit status: "
      "0 all "
      "rows are equal, 1 some differ or cannot be replayed by this version, 2 a file cannot be read or holds "
      "no "
      "rows."};
  app.name("ktpu-check");
  std::vector<std::string> files, implementations;
  std::size_t shown = 8;
  bool replay = false;
  std::string export_folder, quirks = "reference";
  ktpu::check::ReplayOptions replay_options;
  app.add_option("FILE", files,
                 "Recorded files, or folders of them; the kind follows from folder, name and fields")
      ->required()
      ->check(CLI::ExistingPath);
  app.add_option("--differences", shown, "Differences to print per file")->capture_default_str();
  auto* replay_flag = app.add_flag("--replay", replay,
                                   "Run compiled kernels (vectors/compiler/live) on the machine and hold the "
                                   "outputs against FP64. One line each: "
                                   "outcome; machine cycles (each round from its first kick to the last "
                                   "signal or DRAM write beat before the next "
                                   "round's, summed; no staging, no waits) and total cycles; quirks met; "
                                   "largest absolute error and what is allowed "
                                   "(1.25 times the file's max_abs_err_vs_float64 and one FP16 ulp of the "
                                   "largest value); verdict. An error beyond it "
                                   "is fine only if its cause is found: a quirk (gone with --quirks none) or "
                                   "a stale read (gone with --quiet 256)");
  auto* export_option = app.add_option(
      "--export", export_folder, "Write compiled kernels as program files for ktpu-sim below this folder");
  app.add_option("--quiet", replay_options.import.quiet_cycles,
                 "With --replay or --export: cycles without DRAM traffic that the host waits for between "
                 "rounds; 0: it "
                 "does not wait")
      ->check(CLI::Range(0u, 1'000'000u))
      ->capture_default_str();
  app.add_option("--quirks", quirks, "With --replay: of all nodes")
      ->check(CLI::IsMember({"reference", "none"}))
      ->capture_default_str();
  app.add_option("--impl", implementations,
                 "NODE=IMPL: what stands in these nodes of every machine that has them, for instance "
                 "cluster=rtl or 'cluster=lockstep'; the last of several wins")
      ->allow_extra_args(false);
  replay_flag->excludes(export_option);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return status == 0 ? 0 : static_cast<int>(ExitStatus::kUserError);
  }
  if (quirks == "none") replay_options.quirks = ktpu::topo::Quirks::kNone;
  ktpu::check::set_implementations(implementations);
  try {
    if (replay) return static_cast<int>(ktpu::check::replay_files(expand(files), replay_options));
    if (!export_folder.empty())
      return static_cast<int>(ktpu::check::export_files(expand(files), replay_options, export_folder));
    return run(files, shown);
  } catch (const ktpu::arch::UserError& error) {
    fmt::print(stderr, "ktpu-check: {}\n", error.what());
    return static_cast<int>(error.status());
  } catch (const std::exception& error) {
    fmt::print(stderr, "ktpu-check: internal error: {}\n", error.what());
    return static_cast<int>(ExitStatus::kInternal);
  }
}
