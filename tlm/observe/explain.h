// SPDX-License-Identifier: Apache-2.0
// What a name in a report means: statistics, metrics, invariants, wires, registers, quirks, findings and
// exit statuses.
#pragma once

#include <string>
#include <string_view>

#include "arch/error.h"
#include "tlm/observe/statistics.h"

namespace ktpu::observe {

struct ExitStatusText {
  arch::ExitStatus status;
  std::string_view name;
  std::string_view sentence;
  std::string_view advice;  // what to do next
};
const ExitStatusText& exit_status_text(arch::ExitStatus status);

// Unit, formula and sentence of `name`. `statistics` may be null: then only names that need no machine are
// known. A name without its node ("stalled_cycles") explains the first entry that ends in it. Throws
// UserError with the nearest names for anything unknown.
std::string explain(std::string_view name, const Statistics* statistics = nullptr);

}  // namespace ktpu::observe
