// SPDX-License-Identifier: Apache-2.0
// What the mutants are made from: the shipped machines, small machines of odd sizes, the example programs,
// and programs with every kind of step.
#pragma once

#include <string>
#include <vector>

#include "arch/program/program.h"
#include "topologies/description.h"

namespace ktpu::fuzz {

struct SeedText {
  std::string name;
  std::string text;
};
struct SeedProgram {
  std::string name;
  arch::Program program;
};
struct SeedMachine {
  std::string name;
  topo::Machine machine;
};

// Topologies as text: as shipped, and with every key written out.
const std::vector<SeedText>& topology_texts();
// Machines to run mutated programs on, cheap to build.
const std::vector<SeedMachine>& machines();
const std::vector<SeedProgram>& programs();
// All kinds of step that this version runs, with something to do for each.
arch::Program tour();

}  // namespace ktpu::fuzz
