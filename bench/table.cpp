// SPDX-License-Identifier: Apache-2.0
#include "bench/table.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace ktpu::bench {

namespace {

constexpr double kMega = 1e6;

// 12.3M, 0.456M, 7.9G
std::string rate(double per_second) {
  if (per_second >= 1e12) return fmt::format("{:.3g}T", per_second / 1e12);
  if (per_second >= 1e9) return fmt::format("{:.3g}G", per_second / 1e9);
  return fmt::format("{:.3f}M", per_second / kMega);
}

const char* simd_text(const Measurement& m) {
  return !m.of->computes() ? "-" : m.variant.simd ? "on" : "off";
}

std::string reached(const Measurement& m) {
  if (m.of->must == 0 || !m.variant.simd) return "";
  const double mega = m.median().cycles_per_second / kMega;
  const char* word = m.of->goal != 0 && mega >= m.of->goal ? "goal" : mega >= m.of->must ? "must" : "below";
  return m.of->goal != 0 ? fmt::format("{} ({}/{})", word, m.of->must, m.of->goal)
                         : fmt::format("{} ({})", word, m.of->must);
}

double times_slower(const Measurement& m, const Measurement& models) {
  return models.median().cycles_per_second / m.median().cycles_per_second;
}

std::string verdict(const Measurement& m, const Measurement* models) {
  std::string text = reached(m);
  if (models == nullptr) return text;
  const double times = times_slower(m, *models);
  if (!text.empty()) text += ", ";
  text += fmt::format("models x{:.1f}", times);
  if (m.of->must_times != 0)
    text += fmt::format(", {} (x{})", times >= m.of->must_times ? "must" : "below", m.of->must_times);
  return text;
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

}  // namespace

std::string table_header() {
  return fmt::format("{:<20} {:>4} {:>9} {:>19} {:>8} {:>9} {:>9} {:>7} {:>16}  {}\n", "case", "AVX2",
                     "cycles/s", "min .. max", "commd/s", "commd/cyc", "flits/cyc", "MiB", "digest",
                     "reached (must/goal)");
}

std::string table_row(const Measurement& m, const Measurement* models) {
  const double speed = m.median().cycles_per_second;
  const Outcome& o = m.median().outcome;
  const bool computes = m.of->computes();
  return fmt::format(
      "{:<20} {:>4} {:>9} {:>19} {:>8} {:>9} {:>9.3f} {:>7.1f} {:016x}  {}\n", m.of->name, simd_text(m),
      rate(speed),
      fmt::format("{} .. {}", rate(m.slowest().cycles_per_second), rate(m.fastest().cycles_per_second)),
      computes ? rate(speed * m.commands_per_cycle()) : "-",
      computes ? fmt::format("{:.3f}", m.commands_per_cycle()) : "-",
      static_cast<double>(o.flits) / static_cast<double>(o.cycles),
      static_cast<double>(m.peak_bytes()) / (1 << 20), o.digest, verdict(m, models));
}

std::string table_notes(double seconds, unsigned repeats) {
  return fmt::format(
      "Medians of {} repetitions of at least {} s user CPU time, one thread, statistics on; compiler {}; "
      "processor {}.\n",
      repeats, seconds, __VERSION__, processor());
}

std::string json(const std::vector<Measurement>& measurements, double seconds, unsigned repeats) {
  nlohmann::ordered_json out;
  out["processor"] = processor();
  out["compiler"] = __VERSION__;
  out["seconds_per_repetition"] = seconds;
  out["repeats"] = repeats;
  for (const Measurement& m : measurements) {
    const Outcome& o = m.median().outcome;
    nlohmann::ordered_json row;
    row["case"] = m.of->name;
    row["avx2"] = m.of->computes() ? nlohmann::ordered_json(m.variant.simd) : nlohmann::ordered_json();
    row["median_cycles_per_second"] = m.median().cycles_per_second;
    row["min_cycles_per_second"] = m.slowest().cycles_per_second;
    row["max_cycles_per_second"] = m.fastest().cycles_per_second;
    row["accumulator_commands_per_second"] = m.median().cycles_per_second * m.commands_per_cycle();
    row["cycles"] = o.cycles;
    row["accumulator_commands"] = o.commands;
    row["clusters"] = o.clusters;
    row["flits"] = o.flits;
    row["digest"] = fmt::format("{:016x}", o.digest);
    row["peak_memory_bytes"] = m.peak_bytes();
    row["must_mcycles_per_second"] = m.of->must;
    row["goal_mcycles_per_second"] = m.of->goal;
    row["reference_rtl_mcycles_per_second"] = m.of->reference;
    for (const Repetition& r : m.repetitions)
      row["repetitions"].push_back({{"cycles_per_second", r.cycles_per_second},
                                    {"user_seconds", r.seconds},
                                    {"workloads", r.workloads},
                                    {"peak_memory_bytes", r.peak_bytes}});
    out["cases"].push_back(std::move(row));
  }
  return out.dump(2) + "\n";
}

}  // namespace ktpu::bench
