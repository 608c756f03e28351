// SPDX-License-Identifier: Apache-2.0
// A kernel, from its author's text to the words of every unit: the lowerings one after the other, each level
// verified behind the pass that made it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/bytes/executable.h"
#include "compiler/driver/machine.h"
#include "compiler/graph/graph.h"
#include "compiler/kernel/definition.h"
#include "compiler/program/unit_program.h"
#include "compiler/schedule/schedule.h"

namespace ktpu::driver {

struct Options {
  // kBest: right wherever it compiles, and what the reference refuses without need. kCompat: the reference's
  // words, and its refusals.
  schedule::Policy policy = schedule::Policy::kBest;
  bool regrid = false;
  bool reuse_temps = false;
};

// Every level of one call. Compiled for these extents, knobs and this machine.
struct Compiled {
  kernel::Kernel kernel;         // L4
  graph::Graph graph;            // L3; its epilogues staged where they had to be
  schedule::Schedule schedule;   // L2
  program::Program program;      // L1
  bytes::Executable executable;  // L0
  bool relaxed = false;          // the fused form was refused, the staged one compiled (section 15)
};

// Throws base::Refusal for what the compiler does not take, UserError naming the pass for a level that breaks
// its own rules.
Compiled compile(const kernel::Definition& definition, const std::map<std::string, kernel::Shape>& inputs,
                 const kernel::Knobs& knobs, const Machine& machine, const Options& options = {});

}  // namespace ktpu::driver
