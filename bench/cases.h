// SPDX-License-Identifier: Apache-2.0
// What the bench measures: a list one can read.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "arch/program/program.h"
#include "tlm/sim/cycle.h"
#include "topologies/reader.h"

namespace ktpu::bench {

struct Case {
  std::string name = {};  // "mesh8/compute"
  std::string what = {};  // one sentence
  std::string topology = {};
  topo::Overrides sets = {};
  // What stands in the sockets, as --impl of ktpu-sim; empty: models everywhere.
  std::vector<std::string> impls = {};
  // The program of one workload; `quick`: a small one. Null: no program, the machine runs on its own for
  // `cycles` (or `quick_cycles`).
  std::function<arch::Program(const topo::Machine&, bool quick)> program = {};
  sim::Cycle cycles = 0, quick_cycles = 0;
  // In simulated Mcycle/s, 0 = none: what must be reached and what is aimed at, and what the Verilated
  // reference RTL does.
  double must = 0, goal = 0, reference = 0;

  // The case with models everywhere, listed before this one, and how many times faster it must be (0 = no
  // mark). Both must leave the same results.
  std::string models = {};
  double must_times = 0;

  // Also measured without AVX2. RTL knows none.
  bool computes() const { return program != nullptr && impls.empty(); }
};

bool has_lockstep(const Case& c);

const std::vector<Case>& cases();

}  // namespace ktpu::bench
