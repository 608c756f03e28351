// SPDX-License-Identifier: Apache-2.0
// Moments and why they are when they are. Every moment of a run is either the start, or another moment and
// some cycles spent on one thing; a thing that waits for several takes the latest of them. So from the end of
// a run the moments lead back to its start, and the cycles along that way, by what they were spent on, add up
// to the whole run: that is what limited it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/cost/machine.h"

namespace ktpu::cost {

// What cycles are spent on.
enum class Cause : std::uint8_t {
  kHost,            // register writes and reads of the host: staging, loading commands
  kPoll,            // from a condition to the read that sees it
  kDispatch,        // the dispatcher and the command engine
  kNetwork,         // routers
  kCluster,         // sweeps and their pipeline
  kClusterDrain,    // write-back of a cluster
  kClusterControl,  // its sequencer
  kVectorLanes,     // beats
  kVectorPipe,      // waits for results, and for an empty pipe
  kVectorMoves,     // L1 to registers and back, words to and from memory
  kVectorControl,   // fetches, scalars, modes
  kPort,            // memory ports and the path to the DRAM
  kDram,            // the DRAM itself
  kQuiet,           // the host waits until memory is quiet
};
inline constexpr std::size_t kCauses = 14;
std::string_view cause_name(Cause cause);

struct Moment {
  Cycles t = 0;
  std::uint32_t id = 0;  // in the ledger; 0: the start of the run
};

inline Moment latest(Moment a, Moment b) { return b.t > a.t ? b : a; }

class Ledger {
 public:
  struct Entry {
    Cycles t = 0;
    std::uint32_t before = 0;
    Cause cause = Cause::kHost;
  };
  Ledger() { entries_.push_back({}); }

  Moment after(Moment from, Cycles cycles, Cause cause) {
    entries_.push_back({from.t + cycles, from.id, cause});
    return {from.t + cycles, static_cast<std::uint32_t>(entries_.size() - 1)};
  }
  // `from`, but not before `t`: the difference is spent on `cause`.
  Moment not_before(Moment from, Cycles t, Cause cause) {
    return t > from.t ? after(from, t - from.t, cause) : from;
  }
  Moment at(std::uint32_t id) const { return {entries_[id].t, id}; }
  std::size_t size() const { return entries_.size(); }

  // Calls `body(begin, end, cause)` for each stretch on the way from `end` back to the start.
  template <typename Body>
  void walk_back(Moment end, Body body) const {
    for (std::uint32_t id = end.id; id != 0; id = entries_[id].before) {
      const Entry& e = entries_[id];
      const Cycles begin = entries_[e.before].t;
      if (begin < e.t) body(begin, e.t, e.cause);
    }
  }

 private:
  std::vector<Entry> entries_;
};

}  // namespace ktpu::cost
