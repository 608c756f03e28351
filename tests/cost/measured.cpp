// SPDX-License-Identifier: Apache-2.0
#include "tests/cost/measured.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "apps/common/cost_machine.h"
#include "apps/ktpu-check/live_import.h"
#include "apps/ktpu-check/program_import.h"
#include "arch/error.h"
#include "compiler/cost/model.h"
#include "tlm/platform/runner.h"
#include "tlm/platform/system.h"

namespace ktpu::cost_test {

using nlohmann::json;

namespace {

constexpr sim::Cycle kWatchdog = 400'000;

const platform::Registry& models() {
  static const platform::Registry registry = [] {
    platform::Registry r;
    platform::register_models(r);
    return r;
  }();
  return registry;
}

// Of this thread: other work on the machine does not count.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double ratio(std::int64_t model, std::int64_t run) {
  return run == 0 ? 0 : static_cast<double>(model) / static_cast<double>(run) - 1;
}

// Files in the order of their names, whatever the disk's order is.
template <typename Body>
void each_json(const std::string& folder, Body body) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".json" && entry.path().filename() != "index.json")
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    std::ifstream in(path);
    body(path, json::parse(in));
  }
}

// The recorded host that waits, as steps; rounds named by what they run.
arch::Program whole_program(const check::ImportedProgram& imported, const json& file) {
  arch::Program out = imported.program;
  out.steps.clear();
  std::map<std::size_t, std::string> names;
  for (const auto& place : imported.places) {
    const json& step = file.at("steps")[place.recorded];
    if (place.round && step.contains("unit"))
      names[place.first] = fmt::format("stage {} {}", step.contains("stage") ? step["stage"].dump() : "?",
                                       step["unit"].get<std::string>());
  }
  for (std::size_t i = 0; i < imported.program.steps.size(); ++i) {
    arch::Step step = imported.program.steps[i];
    auto* round = std::get_if<arch::StepRound>(&step.action);
    if (round != nullptr) round->name = names[i];
    out.steps.push_back(step);
    if (round != nullptr && imported.quiet_before_round != 0)
      out.steps.push_back({step.mesh, arch::StepQuiet{imported.quiet_before_round}});
  }
  return out;
}

// First kick to the last completion or write beat.
std::optional<std::int64_t> recorded_cycles(const json& file) {
  const json& cycles = file.at("cycles");
  if (!cycles["first_kick"].is_number() || !cycles["last_completion"].is_number()) return std::nullopt;
  std::int64_t last = cycles["last_completion"];
  if (cycles["last_dram_write_beat"].is_number())
    last = std::max(last, cycles["last_dram_write_beat"].get<std::int64_t>());
  return last - cycles["first_kick"].get<std::int64_t>() + 1;
}

}  // namespace

double Measured::error() const { return ratio(machine_model, machine_run); }
double Measured::total_error() const { return ratio(total_model, total_run); }

Measured measure(const Case& c) {
  Measured m;
  m.set = c.set;
  m.family = c.family;
  m.name = c.name;
  m.recorded = c.recorded;
  const cost::CostMachine machine = apps::cost_machine(c.machine);
  double start = cpu_seconds();
  const cost::Report report = cost::estimate(c.program, machine);
  m.model_seconds = cpu_seconds() - start;
  m.machine_model = report.machine_cycles;
  m.total_model = report.total_cycles;
  m.events = report.events;
  m.limiter = report.limiter();

  start = cpu_seconds();
  platform::System system(c.machine, models());
  platform::RunLimits limits;
  limits.watchdog = kWatchdog;
  platform::Runner runner(system, &c.program, limits);
  const platform::RunResult& result = runner.run();
  m.run_seconds = cpu_seconds() - start;
  if (result.status != arch::ExitStatus::kOk)
    throw arch::UserError::make("{}: the run did not end well: {}", c.name, result.message);
  m.machine_run = static_cast<std::int64_t>(result.machine_cycles().value_or(0));
  m.total_run = static_cast<std::int64_t>(std::max(result.host_end, result.last_write_beat.value_or(0) + 1));
  return m;
}

std::vector<Case> live_cases(const std::string& folder) {
  std::vector<Case> cases;
  each_json(folder, [&](const std::filesystem::path& path, const json& file) {
    if (!file.contains("status") || file["status"] == "refused") return;
    check::LiveProgram live = check::import_live(file);
    cases.push_back({"live", path.parent_path().filename().string(),
                     fmt::format("live/{}/{}", path.parent_path().filename().string(), path.stem().string()),
                     std::move(live.machine), std::move(live.program), std::nullopt});
  });
  return cases;
}

std::vector<Case> program_cases(const std::string& folder) {
  std::vector<Case> cases;
  each_json(folder, [&](const std::filesystem::path& path, const json& file) {
    if (!file.contains("steps") || file["status"] != "ok") return;
    const check::ImportedProgram imported = check::import_program(file);
    if (!imported.unsupported.empty()) return;
    const std::string family = path.parent_path().filename().string();
    const std::string machine = path.parent_path().parent_path().filename().string();
    cases.push_back({"programs", fmt::format("{} {}", machine, family),
                     fmt::format("{}/{}/{}", machine, family, path.stem().string()), imported.machine,
                     whole_program(imported, file), recorded_cycles(file)});
  });
  return cases;
}

Errors errors(const std::vector<Measured>& rows, const std::string& set) {
  std::vector<double> all;
  for (const Measured& m : rows)
    if (set.empty() || m.set == set) all.push_back(std::fabs(m.error()));
  if (all.empty()) return {};
  std::sort(all.begin(), all.end());
  const std::size_t n = all.size();
  return {n, n % 2 != 0 ? all[n / 2] : (all[n / 2 - 1] + all[n / 2]) / 2, all[(n - 1) * 9 / 10], all.back()};
}

std::string error_table(const std::vector<Measured>& rows) {
  std::string out =
      fmt::format("{:<52} {:>10} {:>10} {:>8} {:>10} {:>10} {:>8} {:>8}  {}\n", "program", "run", "modelled",
                  "error", "total run", "modelled", "error", "model us", "limiter");
  for (const Measured& m : rows)
    out += fmt::format("{:<52} {:>10} {:>10} {:>+7.2f}% {:>10} {:>10} {:>+7.2f}% {:>8.0f}  {}\n", m.name,
                       m.machine_run, m.machine_model, 100 * m.error(), m.total_run, m.total_model,
                       100 * m.total_error(), 1e6 * m.model_seconds, cost::cause_name(m.limiter));
  return out;
}

std::string worst(const std::vector<Measured>& rows, std::size_t count) {
  std::vector<Measured> sorted = rows;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Measured& a, const Measured& b) {
    return std::fabs(a.error()) > std::fabs(b.error());
  });
  if (sorted.size() > count) sorted.resize(count);
  return error_table(sorted);
}

Ranking rank(const std::vector<Measured>& rows, std::size_t pairs, double apart, std::uint64_t seed) {
  Ranking r;
  r.seed = seed;
  std::vector<std::pair<const Measured*, const Measured*>> all;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t k = i + 1; k < rows.size(); ++k) {
      const Measured &a = rows[i], &b = rows[k];
      if (a.set != b.set || a.family != b.family) continue;
      const auto [low, high] = std::minmax(a.machine_run, b.machine_run);
      if (static_cast<double>(high) > (1 + apart) * static_cast<double>(low)) all.emplace_back(&a, &b);
    }
  r.possible = all.size();
  std::mt19937_64 random(seed);
  std::shuffle(all.begin(), all.end(), random);
  if (all.size() > pairs) all.resize(pairs);
  for (const auto& [a, b] : all) {
    ++r.pairs;
    if ((a->machine_run < b->machine_run) == (a->machine_model < b->machine_model))
      ++r.right;
    else
      r.wrong.push_back(fmt::format("{} against {}: run {} : {}, modelled {} : {}", a->name, b->name,
                                    a->machine_run, b->machine_run, a->machine_model, b->machine_model));
  }
  return r;
}

}  // namespace ktpu::cost_test
