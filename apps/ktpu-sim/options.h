// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tlm/sim/cycle.h"

namespace ktpu::apps {

struct Options {
  std::string program;  // empty: none
  std::string topology;
  std::vector<std::string> sets;   // --set KEY=VALUE
  std::vector<std::string> impls;  // --impl NODE=IMPL

  std::vector<std::string> in, out, expect;  // NAME=FILE.npy
  double atol = 0, rtol = 0;
  std::vector<std::string> dumps;         // ADDR:LEN[:FILE]
  std::vector<std::string> watch_memory;  // ADDR:LEN

  std::string stats;  // FILE.json or FILE.csv
  bool table = false, zeros = false, quiet = false;
  std::vector<std::string> history;
  std::string mismatch_vcd = "mismatch.vcd";
  std::string vcd;
  std::vector<std::string> scope;
  sim::Cycle vcd_from = 0;
  std::optional<sim::Cycle> vcd_to;
  std::uint64_t vcd_limit_mib = 4096;
  sim::Cycle vcd_last = 0;  // keep the last N cycles, write them when the run fails

  std::string checkpoint, restore;        // files
  std::vector<sim::Cycle> checkpoint_at;  // cycles
  std::optional<sim::Cycle> checkpoint_every;
  std::vector<std::string> digest;  // N, FILE; or empty

  bool elaborate_only = false, print_topology = false, list_topologies = false;
  std::vector<std::string> explain;
  sim::Cycle max_cycles = sim::kNever, watchdog = 100'000;
  bool strict = false, no_lint = false, no_check = false, no_idle_skip = false, no_simd = false;
};

// Parses the command line. Returns an exit status when the run is over already (--help, a wrong argument).
std::optional<int> parse_options(int argc, char** argv, Options& options);

}  // namespace ktpu::apps
