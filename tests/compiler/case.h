// SPDX-License-Identifier: Apache-2.0
// A kernel call as a test has it: compiled for a machine, run on the simulator and in the interpreter, held
// against FP64.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/ktpu-check/format_bound.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/program_file.h"
#include "topologies/description.h"

namespace ktpu::test {

struct Target {
  std::string name;
  topo::Machine machine;
  unsigned mesh = 0;
};
// A shipped topology.
Target shipped(const std::string& name, unsigned mesh = 0);
// Clusters and vector cores on a grid of 3 x 3 routers, with the limits given.
struct MadeMachine {
  unsigned clusters = 6, vector_cores = 4;                         // up to 8 each
  unsigned staging_flits = 128, commands = 128, inst_depth = 512;  // inst_depth: a power of two
};
Target made(const MadeMachine& like);
void set_quirks(Target& target, topo::Quirks quirks);

struct Case {
  std::string kernel;
  std::map<std::string, kernel::Shape> inputs;
  kernel::Knobs knobs;
  bool regrid = false, reuse_temps = false;
  std::uint32_t seed = 1;  // of the operands
};
std::string print(const Case& c);

driver::Compiled compiled(const Case& c, const Target& target,
                          schedule::Policy policy = schedule::Policy::kBest);
// Each level verifies, and its text reads back as itself. Returns what does not; empty: all well.
std::string check_levels(const driver::Compiled& compiled);

// Operands of magnitudes that the kernel takes, from the seed.
driver::Inputs operands(const Case& c);

using Outputs = std::map<std::string, std::vector<std::uint16_t>>;  // row-major
struct Run {
  std::string problem;  // empty: it ended well
  Outputs outputs;
  std::uint64_t saturated = 0;    // interpreter only
  std::uint64_t early_reads = 0;  // interpreter only: reads of what may not have landed
};
Run interpreted(const arch::Program& program, const Target& target);
Run simulated(const arch::Program& program, const Target& target);

// Against FP64; none for a kernel without a reference.
std::optional<check::FormatBound> bound_of(const Case& c, const driver::Compiled& compiled,
                                           const driver::Inputs& inputs, const Outputs& outputs);

// All of it: compiles, checks the levels, runs in the interpreter and, if `simulate`, on the simulator; equal
// bits, an error within the bound. Returns what is wrong; empty: nothing. Throws base::Refusal.
std::string problem_with(const Case& c, const Target& target, bool simulate,
                         schedule::Policy policy = schedule::Policy::kBest);

}  // namespace ktpu::test
