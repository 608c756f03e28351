// SPDX-License-Identifier: Apache-2.0
// The causes a run that stands still, or ends with something left, is put down to: one table, a row a cause
// (docs/diagnosis.md shows it). A row's predicate looks at the state of the machine and the wait-for graph,
// never at the program.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tlm/platform/wait_graph.h"

namespace ktpu::platform {

// What the predicates look at.
struct Scene {
  const System& system;
  const WaitGraph& graph;
};

// One place where a cause was found.
struct Evidence {
  std::string where;                      // "cluster@1,1 sequencer"
  std::string what;                       // the numbers of this case, one sentence part
  sim::Cycle since = sim::kNever;         // first cycle, when known
  std::size_t node = WaitGraph::kNobody;  // in the graph
};

struct Cause {
  // What a cause needs to explain a run that stands still.
  enum class Role : std::uint8_t {
    kBlocks,   // its node is one the program waits for
    kLost,     // the program waits for something nobody will send: something went away without a word
    kGeneral,  // what is left to say when nothing else explains it
  };
  std::string_view id;  // "credit-never-seeded"
  Role role;
  bool told_at_end;          // also reported when the run ends well (exit status 7 with --strict)
  std::string_view program;  // how the program looks
  std::string_view message;  // what happens
  std::string_view fix;
  std::string_view section;  // of the specification
  std::vector<Evidence> (*find)(const Scene&);
};

// In the order in which they are tried.
std::span<const Cause> causes();
const Cause* find_cause(std::string_view id);
// The detector's rule (arch/misuse.h) that tells of the same thing at the end of a run; empty: none does.
std::string_view told_by(const Cause& cause);
// The row in words; nullopt if no cause is called so.
std::optional<std::string> explain_cause(std::string_view id);

}  // namespace ktpu::platform
