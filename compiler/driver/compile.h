// SPDX-License-Identifier: Apache-2.0
// A kernel, from its author's text to the words of every unit: the lowerings one after the other, each level
// verified behind the pass that made it. Compilation may begin at any level above the bytes.
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

enum class Level : std::uint8_t { kKernel, kGraph, kSchedule, kProgram, kBytes };  // L4 to L0

struct Options {
  // kBest: right wherever it compiles, and what the reference refuses without need. kCompat: the reference's
  // words, and its refusals.
  schedule::Policy policy = schedule::Policy::kBest;
  bool regrid = false;
  bool reuse_temps = false;
  Level last = Level::kBytes;  // levels below stay empty; what they would refuse is not found
};

// Every level of one call. Compiled for these extents, knobs and this machine. Levels above the one it began
// at are empty.
struct Compiled {
  kernel::Kernel kernel;         // L4
  graph::Graph graph;            // L3; its epilogues staged where they had to be
  schedule::Schedule schedule;   // L2
  program::Program program;      // L1
  bytes::Executable executable;  // L0
  Level first = Level::kKernel;
  bool relaxed = false;  // the fused form was refused, the staged one compiled (section 15)
  std::string refused;   // why, in the words of that refusal

  const std::string& name() const;
};

// All throw base::Refusal for what the compiler does not take, UserError naming the pass for a level that
// breaks its own rules.
Compiled compile(const kernel::Definition& definition, const std::map<std::string, kernel::Shape>& inputs,
                 const kernel::Knobs& knobs, const Machine& machine, const Options& options = {});
Compiled compile(const kernel::Kernel& kernel, const Machine& machine, const Options& options = {});
Compiled compile(const graph::Graph& graph, const Machine& machine, const Options& options = {});
// Its own policy counts. UserError when it was made for other resources than the machine has.
Compiled compile(const schedule::Schedule& schedule, const Machine& machine, const Options& options = {});
// The program file of these two has no named tensors.
Compiled compile(const program::Program& program, const Machine& machine, const Options& options = {});

// UserError when it was made for another machine.
Compiled compile(const bytes::Executable& executable, const Machine& machine);

}  // namespace ktpu::driver
