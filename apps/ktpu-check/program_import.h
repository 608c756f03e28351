// SPDX-License-Identifier: Apache-2.0
// A recorded whole program (vectors/programs/README.md) as a machine and a program for it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "arch/program/program.h"
#include "topologies/description.h"

namespace ktpu::check {

struct ImportedProgram {
  // Where a recorded round or relayout ended up among the program's steps.
  struct Place {
    std::size_t recorded = 0;  // index in the file's `steps`
    bool round = false;        // else a relayout
    std::size_t first = 0;     // program step that begins it
    std::size_t start = 0;     // a round's first step after a wait in front of it
    std::size_t credit = 0;    // a round's PROG_CRED write
    std::size_t after = 0;     // the program step behind it
  };
  topo::Machine machine;
  arch::Program program;
  std::uint32_t quiet_before_round = 0;  // cycles; 0: the host does not wait
  std::vector<Place> places;             // in program order
  std::vector<std::string> unsupported;  // what this version cannot run, by name
};

// Throws UserError or a JSON exception on a file of another shape.
ImportedProgram import_program(const nlohmann::json& file);

// Applies a row's optional `dram`, the five numbers of memory.md section 15.
void apply_dram(const nlohmann::json& row, topo::Machine& machine);

// [source, count, step] or [source, count, step, times, advance], in destination order.
std::vector<arch::GatherRun> gather_runs(const nlohmann::json& gather);
// Halfwords of `bytes` in the order the runs name; -1 gives 0.
std::vector<std::uint16_t> gather(const std::vector<std::uint8_t>& bytes,
                                  const std::vector<arch::GatherRun>& runs);

}  // namespace ktpu::check
