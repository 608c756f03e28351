// SPDX-License-Identifier: Apache-2.0
// What a run did that a report must say: faults of units, programs the hardware has no answer to
// (arch/misuse.h), and quirks of the reference machine that were met (quirks.md). One entry for each id and
// node.
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
  // One time it happened; the first few are kept.
  struct Occurrence {
    sim::Cycle cycle = 0;
    std::string text;  // one sentence with instruction or address
  };
  Severity severity = Severity::kNote;
  std::string id;           // of arch/misuse.h, a quirk's name, or "fault"
  std::string where;        // unit or node
  std::uint64_t count = 0;  // of all occurrences
  std::vector<Occurrence> first;
  std::string effect, fix;  // in general; empty for faults
  std::string clock = {};   // whose cycles the occurrences are in; empty: the fabric's

  // "cycle N: WHERE: TEXT [ID] (3 times)"; "cluster cycle N: ..." on a clock called so
  std::string line() const;
  // The same with the fix.
  std::string advice() const;
};

// In a fixed order: by mesh, then by unit, then as they first happened.
std::vector<Finding> findings(const System& system);

}  // namespace ktpu::platform
