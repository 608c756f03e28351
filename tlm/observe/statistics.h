// SPDX-License-Identifier: Apache-2.0
// What a run is reported by: all counters of the registry, the facts of the run, metrics derived from both,
// and the invariants that must hold between them. Metrics and invariants are data; their formulas are
// evaluated as written (expression.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tlm/observe/expression.h"
#include "tlm/observe/registry.h"

namespace ktpu::observe {

class History;

// Something the run did that a report must say: misuse, a quirk of the reference that was met, a fault.
struct FoundFact {
  std::string id, severity, where;  // severity: "note", "fault", "unsupported"
  std::uint64_t count = 0;
  std::vector<std::pair<sim::Cycle, std::string>> first;  // the first few times it happened
  std::string effect, fix;
  std::string clock = {};  // whose cycles these are; empty: the base clock's
};

// A clock of the machine.
struct ClockFacts {
  std::string name;
  double mhz = 0;
  const sim::Engine* engine = nullptr;  // runs its units
};

// What only the platform knows. Formulas see these as run.cycles, run.clock_mhz, run.machine_cycles,
// run.total_cycles. Formulas over units, links and engines also know unit.cycles and unit.machine_cycles: the
// run and the machine time in cycles of the unit's own clock. unit.machine_cycles may follow a node's name in
// the pattern of a function. Formulas over engines also know
// engine.total, all cycles of the engine's clock, and find their patterns below the engine only.
struct RunFacts {
  sim::Cycle cycles = 0;           // simulated, from the first cycle with reset low
  double clock_mhz = 0;            // of the fabric clock; 0 = unknown: nothing in nanoseconds or per second
  std::vector<ClockFacts> clocks;  // all of the machine, the fabric's first; empty: one
  std::optional<sim::Cycle> machine_cycles;  // first kick to last result landed in memory
  std::optional<sim::Cycle> total_cycles;    // with staging, polls and host relayouts
  // What is needed to repeat the run: machine, program hash, versions, ... Printed in this order.
  std::vector<std::pair<std::string, std::string>> manifest;
  std::vector<FoundFact> found;
};

// What a metric or invariant is evaluated once for: the run, or every unit or link a pattern matches ("*",
// "cluster@*"; the "mN." of a machine with several meshes is ignored when matching).
// Engines are the parts of units that count exclusive states (tlm/sim/attribution.h): "cluster@2,1.sweep".
enum class Over : std::uint8_t { kRun, kUnits, kLinks, kEngines };

// In `formula` a name is looked up below the node first, then as a full name, then among the facts and the
// metrics before it. A name that is nowhere is an error of this program, unless `optional`: then the metric
// is left out for that node.
struct Metric {
  Over over = Over::kRun;
  std::string pattern = {};  // kUnits, kLinks
  std::string name = {};     // the last part; the full name is node + "." + name
  std::string unit = {};     // "%", "GB/s", "TFLOP/s", "flits/cycle", ...
  std::string sentence = {};
  std::string formula = {};
  bool optional = false;
};

enum class Relation : std::uint8_t { kEqual, kAtMost };

struct Invariant {
  Over over = Over::kRun;
  std::string pattern = {};
  std::string name = {};
  std::string sentence = {};  // what is wrong with the run if it does not hold
  std::string left = {};      // formulas, compared at the end of a run
  std::string right = {};
  Relation relation = Relation::kEqual;
  std::string unless =
      {};                 // a formula: what is still under way; not checked where it is not 0. Empty: always
  bool optional = false;  // a name that a node does not have: not checked there
};

struct Row {
  std::string name;
  bool is_count = true;  // `count` holds the value, else `value`
  std::uint64_t count = 0;
  std::optional<double> value;  // none: a divisor was 0
  Over over = Over::kUnits;     // what the row is about: the run, a unit or a link
  std::string unit, sentence, formula, source;
  unsigned priority = 0;  // of an exclusive state of an engine
};

struct Violation {
  std::string name;  // of the invariant, with its node
  std::string sentence;
  std::string left, right;  // formulas
  Relation relation = Relation::kEqual;
  std::optional<double> left_value, right_value;
  std::string text() const;  // one line with both sides
};

class Statistics {
 public:
  // Keeps a reference to `registry`.
  explicit Statistics(const Registry& registry) : registry_(registry) {}

  void set_facts(RunFacts facts) { facts_ = std::move(facts); }
  const RunFacts& facts() const { return facts_; }
  void add(Metric metric);
  void add(Invariant invariant);

  const std::vector<Metric>& metrics() const { return metrics_; }
  const std::vector<Invariant>& invariants() const { return invariants_; }
  const Registry& registry() const { return registry_; }

  // For the reports; null: nothing was recorded. It must outlive them.
  void set_history(const History* history) { history_ = history; }
  const History* history() const { return history_; }

  // Facts first, then run-wide metrics, then counters and metrics node by node. Engine::sync() before.
  std::vector<Row> rows() const;
  // Empty when all invariants hold.
  std::vector<Violation> check() const;

 private:
  const Registry& registry_;
  RunFacts facts_;
  const History* history_ = nullptr;
  std::vector<Metric> metrics_;
  std::vector<Expression> formulas_;  // of metrics_
  std::vector<Invariant> invariants_;
  std::vector<Expression> left_, right_, unless_;  // of invariants_
};

}  // namespace ktpu::observe
