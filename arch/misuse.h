// SPDX-License-Identifier: Apache-2.0
// What a program may not do although nothing in the machine stops it: the list of illegal programs in
// quirks.md, cluster.md section 15, memory.md sections 5 and 12, orchestrator.md section 11. This table is
// the only place that names a finding: the static check, the detector of a run, reports and --explain look
// here.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ktpu::arch {

enum class StaticCheck : std::uint8_t {
  kNone,     // shows only in a run
  kWarning,  // suspicious, may be meant
  kError,    // wrong on every machine: not run unless asked to
};

enum class RunCheck : std::uint8_t {
  kNone,         // shows only before a run
  kNote,         // the machine goes on; exit status 7 with --strict
  kFault,        // exit status 3
  kUnsupported,  // this version cannot go on: exit status 2
};

struct MisuseRule {
  std::string_view id;     // stable, e.g. "fill-count"
  std::string_view where;  // page and section
  std::string_view what;   // what the program does
  std::string_view effect;
  std::string_view fix;
  StaticCheck before = StaticCheck::kNone;
  RunCheck during = RunCheck::kNone;
};

// In the order of the documentation: cluster, memory, dispatch, host.
std::span<const MisuseRule> misuse_rules();
// nullptr when there is none.
const MisuseRule* find_misuse(std::string_view id);

}  // namespace ktpu::arch
