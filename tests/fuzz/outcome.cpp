// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/outcome.h"

#include <fmt/format.h>

#include <cctype>
#include <functional>

#include "apps/common/register_units.h"
#include "arch/program/program_file.h"
#include "tlm/observe/registry.h"
#include "tlm/observe/report.h"
#include "tlm/observe/standard_metrics.h"
#include "tlm/platform/system.h"
#include "topologies/reader.h"
#include "topologies/writer.h"

namespace ktpu::fuzz {

namespace {

using arch::ExitStatus;

constexpr std::size_t kLongestMessage = 8192;  // a message is read by people

// Runs one stage; turns what it throws into an outcome.
Outcome guarded(Stage stage, const std::function<void(Outcome&)>& body) {
  Outcome outcome;
  outcome.stage = stage;
  try {
    body(outcome);
  } catch (const arch::UserError& error) {
    outcome.status = error.status();
    outcome.message = error.what();
  } catch (const std::exception& error) {
    outcome.status = ExitStatus::kInternal;
    outcome.message = error.what();
    outcome.wrong = "an exception that is no UserError";
  }
  if (!outcome.wrong.empty()) return outcome;
  const int status = static_cast<int>(outcome.status);
  if (status < 0 || status > 5) outcome.wrong = fmt::format("exit status {}", status);
  if (outcome.status == ExitStatus::kOk ? !outcome.message.empty() : outcome.message.empty())
    outcome.wrong = "status and message disagree";
  if (outcome.message.size() > kLongestMessage)
    outcome.wrong = fmt::format("a message of {} bytes", outcome.message.size());
  return outcome;
}

// "t.yaml:LINE:COLUMN: something"
bool has_place(const std::string& message) {
  std::size_t at = std::string_view(kTopologyName).size();
  if (!message.starts_with(kTopologyName)) return false;
  for (int n = 0; n < 2; ++n) {
    if (at >= message.size() || message[at++] != ':') return false;
    const std::size_t digits = at;
    while (at < message.size() && std::isdigit(static_cast<unsigned char>(message[at])) != 0) ++at;
    if (at == digits || message[digits] == '0') return false;
  }
  return message.compare(at, 2, ": ") == 0 && message.size() > at + 10;
}

// "p.bin: part: what is wrong", or "p.bin: not a program file ..."
bool names_part(const std::string& message) {
  const std::string start = std::string(kProgramName) + ": ";
  if (!message.starts_with(start)) return false;
  const std::string rest = message.substr(start.size());
  return rest.starts_with("not a program file") || rest.find(": ") != std::string::npos;
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

void judge_run(Outcome& outcome) {
  const std::string& m = outcome.message;
  if (outcome.status == ExitStatus::kNoProgress &&
      !(contains(m, "no progress since cycle") && contains(m, "\n  ")) &&
      !contains(m, "[kernel-without-halt]"))  // moves on for ever, so nothing stands still
    outcome.wrong = "a stand-still without the reason";
  if (outcome.status == ExitStatus::kNoProgress && contains(m, "no unit says that it waits"))
    outcome.wrong = "a stand-still that no unit explains";
  if (outcome.status == ExitStatus::kCycleLimit && !contains(m, "--max-cycles"))
    outcome.wrong = "a cycle limit without its name";
  if (outcome.status == ExitStatus::kUnitFault && !contains(m, "cycle ") && !contains(m, "step "))
    outcome.wrong = "a fault without place";
}

}  // namespace

Outcome read_topology(const std::string& text, topo::Machine& machine) {
  Outcome outcome =
      guarded(Stage::kTopology, [&](Outcome&) { machine = topo::read_string(text, kTopologyName); });
  if (outcome.wrong.empty() && outcome.status != ExitStatus::kOk && !has_place(outcome.message))
    outcome.wrong = "no file:line:column";
  return outcome;
}

Outcome read_program(std::span<const std::uint8_t> bytes, arch::Program& program) {
  Outcome outcome =
      guarded(Stage::kProgram, [&](Outcome&) { program = arch::parse_program(bytes, kProgramName); });
  if (outcome.wrong.empty() && outcome.status != ExitStatus::kOk && !names_part(outcome.message))
    outcome.wrong = "no part of the file named";
  return outcome;
}

Outcome run(const topo::Machine& machine, const arch::Program* program, const platform::RunLimits& limits) {
  std::unique_ptr<platform::System> system;
  Outcome built = guarded(Stage::kBuild, [&](Outcome&) {
    static const platform::Registry kUnits = [] {
      platform::Registry units;
      apps::register_units(units);
      return units;
    }();
    system = std::make_unique<platform::System>(machine, kUnits);
  });
  if (system == nullptr) return built;
  return guarded(Stage::kRun, [&](Outcome& outcome) {
    observe::Registry registry;
    registry.add(system->timeline(), [&](const sim::Unit& unit) { return system->source_of(unit); });
    observe::Statistics statistics(registry);
    observe::add_standard(statistics);
    platform::Runner runner(*system, program, limits);
    const platform::RunResult& result = runner.run();
    outcome.status = result.status;
    outcome.message = result.message;
    observe::RunFacts facts;
    facts.cycles = result.cycles;
    facts.clock_mhz = machine.clocks.front().mhz;
    facts.machine_cycles = result.machine_cycles();
    statistics.set_facts(facts);
    if (observe::human_table(statistics, true).empty() || observe::csv_report(statistics).empty())
      outcome.wrong = "no report";
    for (const observe::Violation& violation : statistics.check())
      outcome.wrong = "invariant: " + violation.text();
    if (outcome.wrong.empty()) judge_run(outcome);
  });
}

platform::RunLimits limits_for(const topo::Machine& machine) {
  std::size_t parts = 0;
  for (const topo::Mesh& mesh : machine.meshes) parts += mesh.routers.size() + mesh.nodes.size();
  return {parts > 200 ? 500u : parts > 40 ? 2000u : 20'000u, 5000};
}

}  // namespace ktpu::fuzz
