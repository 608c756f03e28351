// SPDX-License-Identifier: Apache-2.0
// ktpu-bench: how fast the simulator is. README.md of this folder says what each case is.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>

#include "arch/error.h"
#include "arch/formats/simd.h"
#include "bench/cases.h"
#include "bench/measure.h"
#include "bench/table.h"

namespace {

using namespace ktpu;
using arch::ExitStatus;
using bench::Case;

struct Options {
  std::vector<std::string> filters;
  double seconds = 3;
  unsigned repeats = 5;
  std::string json;
  std::string simd = "both";
  bool list = false, quick = false;
};

bool selected(const Case& c, const Options& options) {
  if (options.filters.empty()) return true;
  for (const std::string& filter : options.filters)
    if (c.name.find(filter) != std::string::npos) return true;
  return false;
}

void list_cases(const Options& options) {
  for (const Case& c : bench::cases())
    if (selected(c, options)) fmt::print("{:<20} {}\n", c.name, c.what);
}

// Whatever stands in the sockets computes the same.
void compare_results(const Case& c, const bench::Outcome& outcome, const bench::Outcome& models) {
  if (outcome.results != models.results)
    throw arch::UserError::make("{}: results {:016x}, those of {} {:016x}", c.name, outcome.results, c.models,
                                models.results);
}

// Small workloads: what does not depend on the way of running must not change with it.
void check(const Case& c) {
  const bench::Outcome reference = bench::run_workload(c, {}, true);
  for (const bench::Variant variant :
       {bench::Variant{true, false}, {false, true}, {false, false}, {true, true}}) {
    if (!c.computes() && !variant.simd) continue;
    const bench::Outcome other = bench::run_workload(c, variant, true);
    // Lock-step counts the cycles and values it compared: more, when no cycle is skipped.
    const bool counts = bench::has_lockstep(c) && !variant.idle_skip;
    if (counts ? other.cycles != reference.cycles || other.results != reference.results
               : other.digest != reference.digest)
      throw arch::UserError::make("{}: AVX2 {}, idle skip {}: digest {:016x}, otherwise {:016x}", c.name,
                                  variant.simd ? "on" : "off", variant.idle_skip ? "on" : "off", other.digest,
                                  reference.digest);
  }
  if (!c.models.empty()) {
    for (const Case& other : bench::cases())
      if (other.name == c.models) compare_results(c, reference, bench::run_workload(other, {}, true));
  }
  fmt::print("{:<20} cycles {:>8} commands {:>8} flits {:>9} digest {:016x}\n", c.name, reference.cycles,
             reference.commands, reference.flits, reference.digest);
}

void save(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc);
  file << text;
  file.flush();
  if (!file) throw arch::UserError::make("{}: cannot be written", path);
}

// What the last one is compared with, when it was measured.
const bench::Measurement* models_of(const std::vector<bench::Measurement>& all) {
  for (const bench::Measurement& m : all)
    if (m.of->name == all.back().of->models && m.variant.simd) return &m;
  return nullptr;
}

ExitStatus run(const Options& options) {
  if (options.list) {
    list_cases(options);
    return ExitStatus::kOk;
  }
  std::vector<const Case*> chosen;
  for (const Case& c : bench::cases())
    if (selected(c, options)) chosen.push_back(&c);
  if (chosen.empty()) throw arch::UserError("--filter selects no case; --list shows all");
  if (options.quick) {
    for (const Case* c : chosen) check(*c);
    fmt::print("digests equal with AVX2 on and off, idle skip on and off\n");
    return ExitStatus::kOk;
  }
  const bool avx2 = arch::simd_in_use();
  if (!avx2) fmt::print("This processor has no AVX2: only the scalar forms are measured.\n");
  fmt::print("{}{}", bench::table_notes(options.seconds, options.repeats), bench::table_header());
  std::vector<bench::Measurement> all;
  for (const Case* c : chosen) {
    for (const bool simd : {true, false}) {
      if (simd ? !avx2 && c->computes() : !c->computes()) continue;
      if (c->computes() && options.simd != "both" && simd != (options.simd == "on")) continue;
      all.push_back(bench::measure(*c, {simd, true}, options.seconds, options.repeats));
      const bench::Measurement* models = models_of(all);
      if (models != nullptr) compare_results(*c, all.back().median().outcome, models->median().outcome);
      fmt::print("{}", bench::table_row(all.back(), models));
      std::fflush(stdout);
      for (const bench::Measurement& m : all)
        if (m.of == c && m.median().outcome.digest != all.back().median().outcome.digest)
          throw arch::UserError::make("{}: digests with AVX2 on and off differ", c->name);
    }
  }
  if (!options.json.empty()) save(options.json, bench::json(all, options.seconds, options.repeats));
  return ExitStatus::kOk;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Measures the speed of the simulator: cycles per second of user CPU time, one thread."};
  Options options;
  app.add_option("--filter", options.filters, "only cases whose name contains this (may be repeated)");
  app.add_option("--seconds", options.seconds, "user CPU time of a repetition, at least")
      ->check(CLI::Range(0.001, 1e6))
      ->capture_default_str();
  app.add_option("--repeats", options.repeats, "repetitions; the median counts")
      ->check(CLI::Range(1u, 1000u))
      ->capture_default_str();
  app.add_option("--avx2", options.simd, "vectorised arithmetic")
      ->check(CLI::IsMember({"on", "off", "both"}))
      ->capture_default_str();
  app.add_option("--json", options.json, "also write all repetitions to this file");
  app.add_flag("--list", options.list, "print the cases and stop");
  app.add_flag("--quick", options.quick,
               "no measurement: run small workloads, compare digests with AVX2 and idle skip on and off");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : static_cast<int>(ExitStatus::kUserError);
  }
  try {
    return static_cast<int>(run(options));
  } catch (const arch::UserError& e) {
    fmt::print(stderr, "ktpu-bench: {}\n", e.what());
    return static_cast<int>(e.status());
  } catch (const std::exception& e) {
    fmt::print(stderr, "ktpu-bench: internal error: {}\n", e.what());
    return static_cast<int>(ExitStatus::kInternal);
  }
}
