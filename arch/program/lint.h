// SPDX-License-Identifier: Apache-2.0
// Programs that the machine accepts and runs wrongly, as far as that shows before a run: cluster.md section
// 15, the list of illegal programs in quirks.md, orchestrator.md section 11.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "arch/program/program.h"

namespace ktpu::arch {

struct LintFinding {
  std::string_view rule;  // e.g. "fill-count"
  bool error = true;      // false: suspicious, may be intended
  std::size_t step = 0;   // index into Program::steps
  std::string text;       // what and where, in words
};

std::vector<LintFinding> lint(const Program& program);

// "step 3 (kick): error: slot 2, fill ... [fill-count]"
std::string to_text(const LintFinding& finding);

struct LintRule {
  std::string_view name;
  std::string_view meaning;
};
const std::vector<LintRule>& lint_rules();

}  // namespace ktpu::arch
