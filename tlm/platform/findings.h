// SPDX-License-Identifier: Apache-2.0
// What a run did that a report must say: faults of units, programs the hardware has no answer to, and quirks
// of the reference machine that were met (quirks.md).
#pragma once

#include <string>
#include <vector>

#include "tlm/platform/system.h"

namespace ktpu::platform {

struct Finding {
  enum class Severity : std::uint8_t {
    kNote,         // the machine went on as the reference would; --strict makes it exit status 7
    kFault,        // exit status 3
    kUnsupported,  // something this version refuses: exit status 2
  };
  Severity severity = Severity::kNote;
  sim::Cycle cycle = 0;
  std::string where;  // unit or node
  std::string text;   // one sentence

  std::string line() const;  // "cycle N: WHERE: TEXT"
};

// In a fixed order: by mesh, then by unit, then as they happened.
std::vector<Finding> findings(const System& system);

}  // namespace ktpu::platform
