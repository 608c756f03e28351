// SPDX-License-Identifier: Apache-2.0
// Programs with their machine: modelled by the cost model and measured by running them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/program/program.h"
#include "compiler/cost/report.h"
#include "topologies/description.h"

namespace ktpu::cost_test {

struct Case {
  std::string set;     // "live", "programs", "schedules"
  std::string family;  // cases of one family are ranked against each other
  std::string name;
  topo::Machine machine;
  arch::Program program;
  std::optional<std::int64_t> recorded;  // machine cycles in the file, of the reference's RTL
};

struct Measured {
  std::string set, family, name;
  std::int64_t machine_run = 0, total_run = 0;      // cycles, by the simulator
  std::int64_t machine_model = 0, total_model = 0;  // by the cost model
  std::optional<std::int64_t> recorded;
  double model_seconds = 0, run_seconds = 0;
  std::uint64_t events = 0;
  cost::Cause limiter = cost::Cause::kHost;
  // Of the machine's time, signed: 0.1 = the model says 10 % too many.
  double error() const;
  double total_error() const;
};

// Runs and models a case. Throws UserError when either does not come to an end.
Measured measure(const Case& c);

// Recorded files below a folder: compiled kernels (vectors/compiler/live) that were not refused, and whole
// programs (vectors/programs) that end.
std::vector<Case> live_cases(const std::string& folder);
std::vector<Case> program_cases(const std::string& folder);
// Kernels of the library with random shapes, each compiled with several random settings of gm, gn, nk, part,
// fuse and regrid; those of one kernel, shape and machine are a family.
std::vector<Case> schedule_cases(std::size_t families, std::size_t schedules, std::uint64_t seed);

// Of |error| in the machine's time.
struct Errors {
  std::size_t count = 0;
  double median = 0, ninth = 0, worst = 0;  // ninth: the 90th percentile
};
Errors errors(const std::vector<Measured>& rows, const std::string& set);  // "" = all
std::string error_table(const std::vector<Measured>& rows);
std::string worst(const std::vector<Measured>& rows, std::size_t count);

// Random pairs of one family whose measured cycles differ by more than `apart` (0.1 = 10 %), and how many of
// them the model ranks the same way. Fewer than `pairs` if there are no more.
struct Ranking {
  std::uint64_t seed = 0;
  std::size_t pairs = 0, right = 0, possible = 0;
  std::vector<std::string> wrong;
};
Ranking rank(const std::vector<Measured>& rows, std::size_t pairs, double apart, std::uint64_t seed);

}  // namespace ktpu::cost_test
