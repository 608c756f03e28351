// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/replay_files.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <string>

#include "apps/ktpu-check/rig.h"
#include "apps/ktpu-check/rows.h"
#include "arch/program/program_file.h"
#include "topologies/writer.h"

namespace ktpu::check {

namespace fs = std::filesystem;
using arch::ExitStatus;
using nlohmann::json;

namespace {

bool is_compiled_kernel(const json& row) {
  return row.is_object() && row.contains("kernel") && row.contains("status") && row.contains("machine") &&
         row["machine"].is_object();
}

struct Counts {
  std::size_t others = 0, unreadable = 0;
};

Counts for_each_kernel(const std::vector<fs::path>& files, const std::function<void(const json&)>& take) {
  Counts counts;
  for (const fs::path& file : files) {
    if (holds_no_rows(file)) continue;
    try {
      read_rows(file, [&](std::size_t number, const json& row, const std::string& parse_error) {
        if (!parse_error.empty()) {
          ++counts.unreadable;
          fmt::print("{} row {}: {}\n", file.string(), number, parse_error);
        } else if (is_compiled_kernel(row)) {
          take(row);
        } else {
          ++counts.others;
        }
      });
    } catch (const arch::UserError& error) {
      ++counts.unreadable;
      fmt::print("{}\n", error.what());
    }
  }
  return counts;
}

std::string quirks_text(const Replayed& row) {
  std::string all;
  for (const auto& [id, hits] : row.quirks) all += fmt::format("{}{}x{}", all.empty() ? "" : ",", id, hits);
  return all.empty() ? "-" : all;
}

const char* outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kCompleted:
      return "completed";
    case Outcome::kHang:
      return "hang";
    case Outcome::kFault:
      return "fault";
    case Outcome::kRefused:
      return "refused";
    case Outcome::kError:
      break;
  }
  return "error";
}

void print(const Replayed& row) {
  fmt::print("{} {}", row.name, outcome_name(row.outcome));
  if (row.outcome != Outcome::kRefused && row.outcome != Outcome::kError)
    fmt::print(" machine {} total {} quirks {}", row.machine_cycles, row.total_cycles, quirks_text(row));
  if (row.accuracy) {
    const Accuracy& a = *row.accuracy;
    fmt::print(" error {:.4g} allowed {:.4g}", a.sampled ? a.error_seen : a.error, a.allowed);
    if (a.sampled) fmt::print(" (of the recorded samples; of all elements {:.4g})", a.error);
  }
  fmt::print(": {}{}\n", row.fine ? "" : "NOT FINE: ", row.verdict);
  std::fflush(stdout);
}

void warn_of(const Counts& counts) {
  if (counts.others != 0) fmt::print("{} rows are no compiled kernels and were left out\n", counts.others);
}

}  // namespace

ExitStatus replay_files(const std::vector<fs::path>& files, const ReplayOptions& options) {
  std::size_t programs = 0, completed = 0, hangs = 0, faults = 0, refused = 0, holding = 0, caused = 0,
              wrong = 0, bad = 0;
  const Counts counts = for_each_kernel(files, [&](const json& file) {
    const Replayed row = replay(file, options);
    print(row);
    if (row.outcome == Outcome::kRefused) {
      ++refused;
      return;
    }
    ++programs;
    completed += row.outcome == Outcome::kCompleted;
    hangs += row.outcome == Outcome::kHang;
    faults += row.outcome == Outcome::kFault;
    if (!row.fine)
      ++bad;
    else if (row.known_wrong)
      ++wrong;
    else
      ++(row.accuracy->holds() ? holding : caused);
  });
  warn_of(counts);
  fmt::print(
      "total programs {} completed {} hangs {} faults {}; holding {} of known cause {} known wrong {} not "
      "fine {}; "
      "refused by the compiler {}\n",
      programs, completed, hangs, faults, holding, caused, wrong, bad, refused);
  if (counts.unreadable != 0 || programs + refused == 0) return ExitStatus::kUserError;
  return bad == 0 ? ExitStatus::kOk : ExitStatus::kExpectFailed;
}

ExitStatus export_files(const std::vector<fs::path>& files, const ReplayOptions& options,
                        const fs::path& folder) {
  const topo::Machine reference = shipped_machine("reference_6c4v");
  std::size_t written = 0, bad = 0;
  const Counts counts = for_each_kernel(files, [&](const json& file) {
    if (file["status"] != "ok") return;
    try {
      const LiveProgram live = import_live(file, options.import);
      const fs::path path = folder / (live.program.name + ".bin");
      fs::create_directories(path.parent_path());
      arch::save_program(live.program, path);
      if (live.machine == reference) {
        fmt::print("{} for {}\n", path.string(), reference.name);
      } else {
        const fs::path machine = folder / (live.program.name + ".yaml");
        std::ofstream out(machine);
        out << topo::print_resolved(live.machine);
        if (!out.flush()) throw arch::UserError::make("{}: cannot be written", machine.string());
        fmt::print("{} for {}\n", path.string(), machine.string());
      }
      ++written;
    } catch (const std::exception& error) {
      fmt::print("{}: {}\n", file.value("id", "?"), error.what());
      ++bad;
    }
  });
  warn_of(counts);
  fmt::print("total programs {} written, {} not\n", written, bad);
  return counts.unreadable != 0 || bad != 0 || written == 0 ? ExitStatus::kUserError : ExitStatus::kOk;
}

}  // namespace ktpu::check
