// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/statistics.h"

#include <unordered_map>

#include "arch/error.h"
#include "tlm/observe/engines.h"
#include "tlm/observe/glob.h"

namespace ktpu::observe {
namespace {

constexpr std::string_view kModelled = "model";

struct UnknownName {
  std::string name;
};

// Looks names up below a node, in the whole machine, among facts and earlier metrics.
class MachineNames final : public Names {
 public:
  MachineNames(const Registry& registry, const RunFacts& facts) : registry_(registry), facts_(facts) {}

  std::string_view node;                 // where formulas are looked up first; empty: the run
  const EngineCycles* engine = nullptr;  // the node, if it is one
  std::unordered_map<std::string, std::optional<double>> metrics;

  std::optional<double> value(std::string_view name) const override {
    if (!node.empty()) {
      const std::string below = std::string(node) + "." + std::string(name);
      if (const Entry* entry = registry_.find(below)) return number(*entry);
      if (const auto it = metrics.find(below); it != metrics.end()) return it->second;
    }
    if (const Entry* entry = registry_.find(name)) return number(*entry);
    if (const auto it = metrics.find(std::string(name)); it != metrics.end()) return it->second;
    return fact(name);
  }

  std::vector<double> values(std::string_view pattern) const override {
    std::vector<double> found;
    if (engine != nullptr) {  // nothing else lies below an engine
      for (const Entry* state : engine->states)
        if (glob_match(pattern, std::string_view(state->path).substr(node.size() + 1)))
          found.push_back(number(*state));
      return found;
    }
    const std::string below =
        node.empty() ? std::string(pattern) : std::string(node) + "." + std::string(pattern);
    for (const Entry& entry : registry_.entries()) {
      if (entry.kind != EntryKind::kCounter && entry.kind != EntryKind::kState) continue;
      if (glob_match(below, entry.path)) found.push_back(number(entry));
    }
    return found;
  }

 private:
  static double number(const Entry& entry) { return static_cast<double>(entry.read()); }
  static std::optional<double> cycles(const std::optional<sim::Cycle>& value) {
    return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
  }
  std::optional<double> fact(std::string_view name) const {
    if (name == "run.cycles") return static_cast<double>(facts_.cycles);
    if (name == "engine.total" && engine != nullptr) {
      const sim::Engine* clock = engine->states.front()->owner->engine();
      return clock == nullptr ? facts_.cycles : clock->now();
    }
    if (name == "run.clock_mhz") return facts_.clock_mhz;
    if (name == "run.machine_cycles") return cycles(facts_.machine_cycles);
    if (name == "run.total_cycles") return cycles(facts_.total_cycles);
    throw UnknownName{std::string(name)};
  }

  const Registry& registry_;
  const RunFacts& facts_;
};

// Without the "mN." that machines of several meshes put before a node's name.
std::string_view without_mesh(std::string_view name) {
  if (name.size() > 3 && name[0] == 'm' && name[1] >= '0' && name[1] <= '9' && name[2] == '.')
    return name.substr(3);
  return name;
}

bool applies(Over over, std::string_view pattern, const Node& node) {
  if (over == Over::kUnits && node.kind != NodeKind::kUnit) return false;
  if (over == Over::kLinks && node.kind != NodeKind::kLink) return false;
  return glob_match(pattern, node.name) || glob_match(pattern, without_mesh(node.name));
}

// nullopt outside: the formula names something this node does not have and may do so.
std::optional<std::optional<double>> evaluate(const Expression& formula, const MachineNames& names,
                                              bool optional) {
  try {
    return formula.evaluate(names);
  } catch (const UnknownName& unknown) {
    KTPU_CHECK(optional, "formula '{}' for '{}': there is no '{}'", formula.text(), names.node, unknown.name);
    return std::nullopt;
  }
}

bool holds(const std::optional<double>& left, Relation relation, const std::optional<double>& right) {
  if (relation == Relation::kEqual) return left == right;
  return left && right && *left <= *right;
}

Row fact_row(std::string_view name, std::string_view unit, std::string_view sentence, std::uint64_t value) {
  Row row;
  row.name = name;
  row.count = value;
  row.over = Over::kRun;
  row.unit = unit;
  row.sentence = sentence;
  row.formula = "measured in the run";
  row.source = kModelled;
  return row;
}

}  // namespace

std::string Violation::text() const {
  const auto show = [](const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : std::string("no value");
  };
  return fmt::format("{}: {} (= {}) is {} {} (= {}). {}", name, left, show(left_value),
                     relation == Relation::kEqual ? "not" : "more than", right, show(right_value), sentence);
}

void Statistics::add(Metric metric) {
  formulas_.push_back(Expression::parse(metric.formula));
  metrics_.push_back(std::move(metric));
}

void Statistics::add(Invariant invariant) {
  left_.push_back(Expression::parse(invariant.left));
  right_.push_back(Expression::parse(invariant.right));
  unless_.push_back(Expression::parse(invariant.unless.empty() ? "0" : invariant.unless));
  invariants_.push_back(std::move(invariant));
}

std::vector<Row> Statistics::rows() const {
  std::vector<Row> rows;
  rows.push_back(fact_row("run.cycles", "cycles", "Fabric cycles simulated since reset", facts_.cycles));
  if (facts_.machine_cycles)
    rows.push_back(fact_row("run.machine_cycles", "cycles",
                            "From the first kick to the last result landed in memory",
                            *facts_.machine_cycles));
  if (facts_.total_cycles)
    rows.push_back(fact_row("run.total_cycles", "cycles",
                            "The whole program with staging, polls and host relayouts",
                            *facts_.total_cycles));
  MachineNames names(registry_, facts_);
  const auto metric_row = [&](std::size_t index, std::string_view node, std::string_view source) {
    const Metric& metric = metrics_[index];
    names.node = node;
    const auto value = evaluate(formulas_[index], names, metric.optional);
    if (!value) return;
    Row row;
    row.name = node.empty() ? metric.name : fmt::format("{}.{}", node, metric.name);
    row.is_count = false;
    row.value = *value;
    row.over = metric.over;
    row.unit = metric.unit;
    row.sentence = metric.sentence;
    row.formula = metric.formula;
    row.source = source;
    names.metrics[row.name] = *value;
    rows.push_back(std::move(row));
  };
  for (std::size_t i = 0; i < metrics_.size(); ++i)
    if (metrics_[i].over == Over::kRun) metric_row(i, "", kModelled);

  // Entries of a node follow each other in the registry, so one pass serves all nodes.
  std::unordered_map<std::string_view, std::vector<const Entry*>> counters;
  for (const Entry& entry : registry_.entries())
    if (entry.kind == EntryKind::kCounter) counters[entry.node].push_back(&entry);
  const auto counter_rows = [&](std::string_view node) {
    const auto it = counters.find(node);
    if (it == counters.end()) return;
    for (const Entry* entry : it->second) {
      Row row;
      row.name = entry->path;
      row.count = entry->read();
      row.unit = entry->unit;
      row.sentence = entry->sentence;
      row.formula = entry->formula.empty() ? "counted in the run" : entry->formula;
      row.source = entry->source;
      row.priority = entry->priority;
      rows.push_back(std::move(row));
    }
  };
  for (const Node& node : registry_.nodes()) {
    counter_rows(node.name);
    for (std::size_t i = 0; i < metrics_.size(); ++i)
      if (metrics_[i].over != Over::kRun && applies(metrics_[i].over, metrics_[i].pattern, node))
        metric_row(i, node.name, node.source);
  }
  return rows;
}

std::vector<Violation> Statistics::check() const {
  std::vector<Violation> violations;
  MachineNames names(registry_, facts_);
  const auto check_one = [&](std::size_t index, std::string_view node) {
    const Invariant& invariant = invariants_[index];
    names.node = node;
    const auto under_way = evaluate(unless_[index], names, invariant.optional);
    if (!under_way || *under_way != 0) return;
    const auto left = evaluate(left_[index], names, invariant.optional);
    const auto right = evaluate(right_[index], names, invariant.optional);
    if (!left || !right || holds(*left, invariant.relation, *right)) return;
    violations.push_back({node.empty() ? invariant.name : fmt::format("{}.{}", node, invariant.name),
                          invariant.sentence, invariant.left, invariant.right, invariant.relation, *left,
                          *right});
  };
  for (std::size_t i = 0; i < invariants_.size(); ++i) {
    if (invariants_[i].over == Over::kRun) {
      check_one(i, "");
      continue;
    }
    if (invariants_[i].over == Over::kEngines) {
      for (const EngineCycles& engine : engines_of(registry_)) {
        names.engine = &engine;
        check_one(i, engine.name);
      }
      names.engine = nullptr;
      continue;
    }
    for (const Node& node : registry_.nodes())
      if (applies(invariants_[i].over, invariants_[i].pattern, node)) check_one(i, node.name);
  }
  return violations;
}

}  // namespace ktpu::observe
