// SPDX-License-Identifier: Apache-2.0
// Who waits for whom: the machine at one moment as a graph. A node is a part of a unit ("cluster@1,1
// sequencer", "memory dispatcher", "router@1,1 out east"), an edge one thing it waits for. Built when a run
// stands still or ends, never during it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tlm/orchestrator/poll_text.h"
#include "tlm/platform/system.h"
#include "tlm/sim/unit.h"

namespace ktpu::platform {

class WaitGraph {
 public:
  static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

  struct Node {
    std::string name;                 // "cluster@1,1 sequencer"
    const sim::Unit* unit = nullptr;  // null: a place where nothing is
    std::string part;
    std::vector<std::size_t> out;  // edges that begin here; empty: it waits for nothing
  };
  struct Edge {
    std::size_t from = 0;
    std::size_t to = kNobody;
    std::string what;
    std::string_view kind;  // sim::Wait::kind
    sim::Cycle since = sim::kNever;
  };
  // A poll of a host or a command engine, and the node it is made by.
  struct Poll {
    std::size_t node = 0;
    orchestrator::PendingPoll poll;
  };

  // The units' own words (sim::Unit::waits), the flits that stand on links, and what pending polls depend on.
  // Engine::sync() must have been called.
  explicit WaitGraph(const System& system);

  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Edge>& edges() const { return edges_; }
  const std::vector<Poll>& polls() const { return polls_; }
  // kNobody if nothing is called so.
  std::size_t find(const sim::Unit* unit, std::string_view part) const;

  // By node: whether it can be reached from `from`, itself included.
  std::vector<bool> reach(std::size_t from) const;
  // The first circle in the order of nodes, as the edges along it; empty: none.
  std::vector<std::size_t> circle() const;

  // One line an edge, "FROM -> TO: WHAT"; at most `lines`, then how many more. Those reached from the host
  // come first.
  std::string text(std::size_t lines) const;

 private:
  std::size_t node(const sim::Unit* unit, std::string_view part);
  std::size_t place(const MeshSystem& mesh, arch::Coord at, std::string_view part);
  void add(std::size_t from, std::size_t to, std::string what, std::string_view kind, sim::Cycle since);
  void map_links(const System& system);
  void add_units(const System& system);
  void add_links(const System& system);
  void add_polls(const System& system);
  void add_poll(const System& system, const MeshSystem& mesh, std::size_t from,
                const orchestrator::PendingPoll& poll);
  // RTL alone: an edge that says so, unless it tells something.
  void add_untold(std::size_t from, std::string_view what);
  std::size_t end_of(const sim::LinkBase& link);
  // The node of (unit, part) if that waits, else another waiting part of a unit that moves flits through,
  // else the unit at rest.
  std::size_t resolve(const sim::Unit* unit, std::string_view part);
  bool waits(const sim::Unit* unit, std::string_view part) const;

  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<Poll> polls_;
  std::map<std::pair<const sim::Unit*, std::string>, std::size_t, std::less<>> index_;
  std::map<const sim::Unit*, std::vector<std::string>> waiting_;  // parts, in the order they were told
  std::map<const sim::LinkBase*, std::pair<const sim::Unit*, std::string>> inputs_;
  std::map<const sim::Unit*, const sim::Unit*> whole_;  // of what runs inside another unit (lock-step)
  // Memory agents with a model: their parts are many and have little to do with each other.
  std::set<const sim::Unit*> told_by_part_;
  std::set<const sim::Unit*> silent_;  // RTL alone: they tell of flits that are not taken, and little else
};

}  // namespace ktpu::platform
