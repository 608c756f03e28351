// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/compile.h"

namespace ktpu::apps {

struct CcOptions {
  std::string kernel;  // of the library, or a file
  std::string topology;
  std::vector<std::string> sets;
  unsigned mesh = 0;
  std::string output;  // empty: none

  std::vector<std::string> shapes;  // PORT=32x64
  std::vector<std::string> in;      // PORT=FILE.npy
  std::vector<std::string> knobs;   // NAME=VALUE
  bool auto_tile = false;
  driver::Options compile;

  std::string emit;  // kernel, graph, schedule, program, bytes, all
  bool list = false, explain_tile = false;
  bool cost = false;
  std::vector<std::string> compare;  // knobs of the other

  bool run = false;
  std::vector<std::string> out, expect;
  double atol = 0, rtol = 0;
};

// Parses the command line. Returns an exit status when the run is over already (--help, a wrong argument).
std::optional<int> parse_options(int argc, char** argv, CcOptions& options);

}  // namespace ktpu::apps
