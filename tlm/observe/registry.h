// SPDX-License-Identifier: Apache-2.0
// The one list of everything that has a name in a machine: registers and counters (from the units'
// visit()), wires and traffic counters (from the links), and values the platform adds. Made once after
// elaboration; entries stay valid as long as units and links do.
#pragma once

#include <deque>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tlm/observe/entry.h"
#include "tlm/sim/engine.h"
#include "tlm/sim/timeline.h"

namespace ktpu::observe {

enum class NodeKind : std::uint8_t { kUnit, kLink };
struct Node {
  std::string_view name;
  NodeKind kind;
  std::string_view source;          // implementation: "model", "rtl", ...
  const sim::Unit* unit = nullptr;  // whose clock its cycles are of: itself, or an end of the link
};

class Registry {
 public:
  Registry() = default;
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // `source` names the implementation that stands there: "model", "rtl", "lockstep", "pins".
  void add(sim::Unit& unit, std::string_view source = "model");
  // Wires valid, busy and, for a link of flits, the header fields and payload; counters transferred and
  // stalled_cycles.
  void add(sim::LinkBase& link, std::string_view source = "model");
  // All units, then all links of a domain, and for each unit the sums over its flit links: X.links.flits_in
  // and X.links.flits_out. `source_of` is asked for each unit; a link has its sender's.
  void add(sim::Engine& engine, const std::function<std::string_view(const sim::Unit&)>& source_of = {});
  // All clocks of a machine, one after the other.
  void add(sim::Timeline& timeline, const std::function<std::string_view(const sim::Unit&)>& source_of = {});
  // A value that belongs to no unit. `path` = node + "." + last part.
  void add_value(std::string path, EntryKind kind, unsigned width, std::string_view unit,
                 std::string_view sentence, std::function<std::uint64_t()> read);

  const std::deque<Entry>& entries() const { return entries_; }  // in the order they were added
  const std::vector<Node>& nodes() const { return nodes_; }      // units and links, in that order

  const Entry* find(std::string_view path) const;  // nullptr: no such name
  // Throws UserError with the nearest names.
  const Entry& at(std::string_view path) const;
  // Entries that `pattern` selects (see glob.h), in registry order.
  std::vector<const Entry*> match(std::string_view pattern) const;
  // Entries that at least one pattern selects, in registry order. Throws UserError with a did-you-mean for a
  // pattern that selects nothing.
  std::vector<const Entry*> select(const std::vector<std::string>& patterns) const;
  // " Did you mean ...?" over entry and node names; empty when nothing is near.
  std::string suggest(std::string_view name) const;

 private:
  friend class RegistryWalk;
  void push(Entry entry);
  void add_link_sums(sim::Engine& engine, const std::function<std::string_view(const sim::Unit*)>& source);
  std::string_view intern(std::string_view text);
  void push_node(std::string_view name, NodeKind kind, std::string_view source, const sim::Unit* unit);

  std::deque<Entry> entries_;
  std::vector<Node> nodes_;
  std::unordered_map<std::string_view, const Entry*> by_path_;
  std::set<std::string, std::less<>> strings_;  // sentences and the like, each stored once
};

}  // namespace ktpu::observe
