// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/explain.h"

#include <array>
#include <charconv>
#include <optional>

#include "arch/encoding/quirks.h"
#include "arch/misuse.h"
#include "tlm/observe/engines.h"
#include "tlm/observe/glob.h"
#include "tlm/observe/history.h"
#include "tlm/observe/standard_metrics.h"

namespace ktpu::observe {
namespace {

using arch::ExitStatus;

constexpr std::array<ExitStatusText, 9> kExitStatuses{{
    {ExitStatus::kOk, "ok", "The program finished and every expectation was met.", ""},
    {ExitStatus::kExpectFailed, "expect_failed", "The program finished, but an --expect did not hold.",
     "The message names the worst element; --atol and --rtol set what counts as equal."},
    {ExitStatus::kUserError, "user_error",
     "The arguments, the topology or the program cannot be used, or the program needs more than the machine "
     "has.",
     "The message names the file, line and key, and what is allowed there."},
    {ExitStatus::kUnitFault, "unit_fault", "A unit reported a fault.",
     "Each line of the message names the cycle, the node and what it met."},
    {ExitStatus::kNoProgress, "no_progress",
     "No unit made progress for as many cycles as --watchdog says; polling is not progress.",
     "The message lists who waits for whom: look for the first unit that waits for something nobody sends."},
    {ExitStatus::kCycleLimit, "cycle_limit",
     "The limit of --max-cycles was reached before the program ended.",
     "Raise the limit if the program was still making progress."},
    {ExitStatus::kLockstepMismatch, "lockstep_mismatch",
     "A model and its twin gave different outputs in the same cycle, or a lock-step run compared nothing.",
     "The message names node, cycle, port and field; the lines after it show the last cycles of both."},
    {ExitStatus::kStrict, "strict",
     "With --strict: the program did something undefined, raced, or hit a quirk of the reference machine.",
     "The notes before the message name each with its cycle; without --strict they are notes only."},
    {ExitStatus::kInternal, "internal",
     "A check inside the simulator failed: this is our mistake, not yours.",
     "Please report the message together with the topology and the program."},
}};

std::string explain_exit(const ExitStatusText& exit) {
  std::string text = fmt::format("exit status {} ({})\n  meaning:  {}\n", static_cast<int>(exit.status),
                                 exit.name, exit.sentence);
  if (!exit.advice.empty()) text += fmt::format("  next:     {}\n", exit.advice);
  return text;
}

std::string explain_quirk(const arch::Quirk& quirk) {
  return fmt::format("quirk {} of {} ({})\n  reference: {}\n  counted:   when {}\n  none:      {}\n",
                     quirk.name, quirk.unit, quirk.where, quirk.reference, quirk.hit, quirk.none);
}

std::string explain_misuse(const arch::MisuseRule& rule) {
  using arch::RunCheck, arch::StaticCheck;
  const std::string_view before = rule.before == StaticCheck::kError ? "an error: not run without --no-lint"
                                  : rule.before == StaticCheck::kWarning ? "a warning"
                                                                         : "not seen";
  const std::string_view during = rule.during == RunCheck::kNote    ? "a note (exit status 7 with --strict)"
                                  : rule.during == RunCheck::kFault ? "exit status 3"
                                  : rule.during == RunCheck::kUnsupported ? "exit status 2"
                                                                          : "not seen";
  return fmt::format(
      "misuse {} ({})\n  what:     {}\n  effect:   {}\n  fix:      {}\n  before:   {}\n  in a run: {}\n",
      rule.id, rule.where, rule.what, rule.effect, rule.fix, before, during);
}

std::string explain_metric(const Metric& metric) {
  return fmt::format("{}\n  of:       {}\n  unit:     {}\n  meaning:  {}\n  formula:  {}\n", metric.name,
                     metric.over == Over::kRun       ? std::string("the run")
                     : metric.over == Over::kUnits   ? fmt::format("units '{}'", metric.pattern)
                     : metric.over == Over::kEngines ? fmt::format("engines '{}'", metric.pattern)
                                                     : fmt::format("links '{}'", metric.pattern),
                     metric.unit, metric.sentence, metric.formula);
}

std::string explain_invariant(const Invariant& invariant) {
  std::string text =
      fmt::format("{}\n  checked:  {} {} {} at the end of a run\n", invariant.name, invariant.left,
                  invariant.relation == Relation::kEqual ? "=" : "<=", invariant.right);
  if (!invariant.unless.empty()) text += fmt::format("  only if:  {} = 0\n", invariant.unless);
  return text + fmt::format("  broken:   {}\n", invariant.sentence);
}

// "4", "exit 4", "exit4", "no_progress"
const ExitStatusText* find_exit(std::string_view name) {
  for (const ExitStatusText& exit : kExitStatuses)
    if (exit.name == name) return &exit;
  if (name.starts_with("exit")) name.remove_prefix(4);
  while (name.starts_with(' ') || name.starts_with('=')) name.remove_prefix(1);
  int number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return nullptr;
  for (const ExitStatusText& exit : kExitStatuses)
    if (static_cast<int>(exit.status) == number) return &exit;
  return nullptr;
}

// Facts are not in the registry; they are the first rows of every report.
struct FactText {
  std::string_view name, unit, sentence;
};
constexpr std::array<FactText, 6> kFacts{{
    {"run.cycles", "cycles", "Fabric cycles simulated since reset"},
    {"run.machine_cycles", "cycles", "From the first kick to the last result landed in memory"},
    {"run.total_cycles", "cycles", "The whole program with staging, polls and host relayouts"},
    {"run.clock_mhz", "MHz", "Frequency of the fabric clock, from the topology"},
    {"unit.cycles", "cycles", "run.cycles counted at the clock of the unit or link in question"},
    {"unit.machine_cycles", "cycles", "run.machine_cycles counted at the clock of the unit in question"},
}};

// Whether `name` is `full` or what follows one of its dots.
bool ends_in(std::string_view full, std::string_view name) {
  return full == name ||
         (full.size() > name.size() && full.ends_with(name) && full[full.size() - name.size() - 1] == '.');
}

// A state of an engine with the order in which its states win.
std::string describe(const Entry& entry, const Registry& registry) {
  std::string text = entry.describe();
  if (entry.kind != EntryKind::kMemory && entry.width <= 64)
    text += fmt::format(
        "  history:  --history {} records {}, in at most {} buckets of equal width\n", entry.path,
        entry.kind == EntryKind::kCounter ? "its growth per cycle" : "its least, mean and greatest value",
        History::kBuckets);
  if (entry.priority == 0) return text;
  std::string order;
  std::size_t states = 0;
  for (const Entry* state : states_of(entry.engine(), registry)) {
    order += fmt::format("{}{}", order.empty() ? "" : " > ", short_name(*state));
    ++states;
  }
  return text + fmt::format("  priority: {} of {}: {} (when several hold, the first one counts the cycle)\n",
                            entry.priority, states, order);
}

std::optional<std::string> explain_engine(std::string_view name, const Registry& registry) {
  for (const EngineCycles& engine : engines_of(registry)) {
    if (!ends_in(engine.name, name)) continue;
    std::string text = fmt::format(
        "{}\n  an engine; in every cycle it is in the first of these states that holds:\n", engine.name);
    for (const Entry* state : engine.states)
      text += fmt::format("  {:<14} {}\n", short_name(*state), state->sentence);
    return text;
  }
  return std::nullopt;
}

std::optional<std::string> explain_entry(std::string_view name, const Registry& registry) {
  if (const Entry* entry = registry.find(name)) return describe(*entry, registry);
  const Entry* first = nullptr;
  std::size_t count = 0;
  for (const Entry& entry : registry.entries()) {
    if (!ends_in(entry.path, name)) continue;
    if (first == nullptr) first = &entry;
    ++count;
  }
  if (first == nullptr) return std::nullopt;
  std::string text = describe(*first, registry);
  if (count > 1) text += fmt::format("  also:     {} more with this name in this machine\n", count - 1);
  return text;
}

}  // namespace

const ExitStatusText& exit_status_text(ExitStatus status) {
  for (const ExitStatusText& exit : kExitStatuses)
    if (exit.status == status) return exit;
  return kExitStatuses.back();
}

std::string explain(std::string_view name, const Statistics* statistics) {
  if (const arch::Quirk* quirk = arch::find_quirk(name)) return explain_quirk(*quirk);
  if (const arch::MisuseRule* rule = arch::find_misuse(name)) return explain_misuse(*rule);
  if (const ExitStatusText* exit = find_exit(name)) return explain_exit(*exit);
  for (const FactText& fact : kFacts)
    if (fact.name == name)
      return fmt::format("{}\n  unit:     {}\n  meaning:  {}\n", fact.name, fact.unit, fact.sentence);
  if (statistics != nullptr) {
    // An engine and what it works on may have one name (memory.agent.out): both are told.
    if (const auto engine = explain_engine(name, statistics->registry())) {
      const Entry* entry = statistics->registry().find(name);
      return entry == nullptr ? *engine : *engine + describe(*entry, statistics->registry());
    }
    if (const auto entry = explain_entry(name, statistics->registry())) return *entry;
  }
  const std::vector<Metric>& metrics = statistics != nullptr ? statistics->metrics() : standard_metrics();
  for (const Metric& metric : metrics)
    if (ends_in(name, metric.name) || ends_in(metric.name, name)) return explain_metric(metric);
  const std::vector<Invariant>& invariants =
      statistics != nullptr ? statistics->invariants() : standard_invariants();
  for (const Invariant& invariant : invariants)
    if (ends_in(name, invariant.name)) return explain_invariant(invariant);

  std::vector<std::string_view> known;
  for (const arch::Quirk& quirk : arch::kQuirks) known.push_back(quirk.name);
  for (const arch::MisuseRule& rule : arch::misuse_rules()) known.push_back(rule.id);
  for (const ExitStatusText& exit : kExitStatuses) known.push_back(exit.name);
  for (const FactText& fact : kFacts) known.push_back(fact.name);
  for (const Metric& metric : metrics) known.push_back(metric.name);
  for (const Invariant& invariant : invariants) known.push_back(invariant.name);
  if (statistics != nullptr)
    for (const Entry& entry : statistics->registry().entries()) {
      known.push_back(entry.path);
      const std::size_t dot = entry.path.rfind('.');
      if (dot != std::string::npos) known.push_back(std::string_view(entry.path).substr(dot + 1));
    }
  throw arch::UserError::make(
      "nothing is called '{}'.{} Names are those of a report (statistics, wires, registers), quirk ids as in "
      "V3, findings as in fill-count, "
      "and exit statuses as in 'exit 4'.{}",
      name, did_you_mean(name, known),
      statistics == nullptr ? " Give --topology to explain the names of a machine." : "");
}

}  // namespace ktpu::observe
