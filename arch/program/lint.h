// SPDX-License-Identifier: Apache-2.0
// Programs that the machine accepts and runs wrongly, as far as that shows before a run. The rules are those
// of arch/misuse.h with a static check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/misuse.h"
#include "arch/program/program.h"

namespace ktpu::arch {

struct LintFinding {
  const MisuseRule* rule = nullptr;
  std::size_t step = 0;               // index into Program::steps
  std::optional<std::uint32_t> slot;  // staging slot of the flit it is about
  std::string text;                   // what and where, in words, with the instruction

  bool error() const { return rule->before == StaticCheck::kError; }
};

// `machine`: all units of the machine it will run on, with their sizes; null: the sizes the program says it
// needs.
std::vector<LintFinding> lint(const Program& program, const MachineNeeds* machine = nullptr);

// "step 3: error: slot 2 for node (1,1), `fill ...`: ... [fill-count]; fix: ..."
std::string to_text(const LintFinding& finding);

}  // namespace ktpu::arch
