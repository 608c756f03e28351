// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-sim/session.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

#include "apps/common/machine_facts.h"
#include "apps/common/mismatch_report.h"
#include "apps/common/register_units.h"
#include "apps/common/tensors.h"
#include "apps/ktpu-sim/progress.h"
#include "apps/ktpu-sim/saving.h"
#include "apps/ktpu-sim/system_memory.h"
#include "arch/encoding/address_map.h"
#include "arch/formats/kernel.h"
#include "arch/program/lint.h"
#include "arch/program/program_file.h"
#include "tlm/observe/clock_waves.h"
#include "tlm/observe/explain.h"
#include "tlm/observe/history.h"
#include "tlm/observe/registry.h"
#include "tlm/observe/report.h"
#include "tlm/observe/standard_metrics.h"
#include "tlm/observe/waves.h"
#include "tlm/platform/runner.h"
#include "tlm/platform/simulation.h"
#include "tlm/sim/lockstep.h"
#include "topologies/needs.h"
#include "topologies/reader.h"
#include "topologies/writer.h"

namespace ktpu::apps {

namespace {

using arch::ExitStatus;
using arch::UserError;

topo::Machine read_machine(const Options& options) {
  if (options.topology.empty()) {
    std::string names;
    for (const std::string& name : topo::shipped_names()) names += (names.empty() ? "" : ", ") + name;
    throw UserError::make("no machine given: use --topology FILE.yaml, or a shipped one: {}", names);
  }
  topo::Machine machine = topo::read_file(options.topology, options.sets);
  for (const std::string& impl : options.impls) topo::apply_impl(machine, impl);
  return machine;
}

struct LoadedProgram {
  arch::Program program;
  std::uint64_t hash = 0;
};

LoadedProgram read_program(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (std::filesystem::is_directory(path)) throw UserError::make("{}: is a folder, not a file", path);
  if (!file) throw UserError::make("{}: cannot be opened", path);
  const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) throw UserError::make("{}: cannot be read", path);
  return {arch::parse_program(bytes, path), arch::program_hash(bytes, path)};
}

struct Dump {
  std::uint64_t address = 0, bytes = 0;
  std::string file;
};

Dump parse_dump(const char* option, const std::string& text) {
  try {
    std::size_t used = 0;
    Dump dump;
    dump.address = std::stoull(text, &used, 0);
    if (used >= text.size() || text[used] != ':') throw std::invalid_argument("");
    std::string rest = text.substr(used + 1);
    dump.bytes = std::stoull(rest, &used, 0);
    if (dump.bytes == 0 || rest[0] == '-' || text[0] == '-') throw std::invalid_argument("");
    if (used < rest.size()) {
      if (rest[used] != ':' || used + 1 == rest.size()) throw std::invalid_argument("");
      dump.file = rest.substr(used + 1);
    }
    return dump;
  } catch (const std::exception&) {
    throw UserError::make("{} {}: expected ADDRESS:BYTES{}", option, text,
                          std::string_view(option) == "--dump" ? " or ADDRESS:BYTES:FILE" : "");
  }
}

// The mesh that the address names; with a single mesh its DRAM ignores those bits.
std::size_t mesh_of(const platform::System& system, const char* option, const Dump& dump) {
  if (system.meshes().size() == 1) return 0;
  for (std::size_t m = 0; m < system.meshes().size(); ++m)
    if (system.meshes()[m].description->id == arch::address::mesh(dump.address)) return m;
  throw UserError::make("{} {:#x}: the address names mesh {} (bits [37:36]), and the machine has none",
                        option, dump.address, arch::address::mesh(dump.address));
}

// Refuses a range whose first `bytes` are not in the machine; `text` is what the user wrote.
void require_memory(platform::System& system, const char* option, const std::string& text, const Dump& range,
                    std::uint64_t bytes) {
  platform::MeshSystem& mesh = system.mesh(mesh_of(system, option, range));
  try {
    platform::read_memory(mesh, range.address, bytes);
  } catch (const UserError& error) {
    throw UserError::make("{} {}: {}", option, text, error.what());
  }
}

// The watched ranges of --watch-mem, told on standard output.
void watch_memory(platform::Runner& runner, const platform::System& system, const std::vector<Dump>& ranges) {
  std::vector<std::vector<platform::MemoryWatch::Range>> by_mesh(system.meshes().size());
  for (const Dump& range : ranges)
    by_mesh[mesh_of(system, "--watch-mem", range)].push_back({range.address, range.bytes});
  for (std::size_t m = 0; m < by_mesh.size(); ++m) {
    if (by_mesh[m].empty()) continue;
    const std::string prefix =
        by_mesh.size() == 1 ? "" : fmt::format("m{} ", system.meshes()[m].description->id);
    runner.watch_memory(m, by_mesh[m],
                        [prefix](const std::string& line) { fmt::print("watch {}{}\n", prefix, line); });
  }
}

void show_dump(const platform::MeshSystem& mesh, const Dump& dump) {
  const std::vector<std::uint8_t> bytes = platform::read_memory(mesh, dump.address, dump.bytes);
  if (!dump.file.empty()) {
    std::ofstream file(dump.file, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file) throw UserError::make("{}: cannot be written", dump.file);
    return;
  }
  constexpr std::size_t kPerLine = 32;
  for (std::size_t i = 0; i < bytes.size(); i += kPerLine) {
    std::string line = fmt::format("{:010x}:", dump.address + i);
    for (std::size_t k = i; k < std::min(bytes.size(), i + kPerLine); ++k)
      line += fmt::format("{}{:02x}", k % 2 == 0 ? " " : "", bytes[k]);
    fmt::print("{}\n", line);
  }
}

observe::RunFacts facts_of(const platform::System& system, const platform::RunResult& result,
                           const LoadedProgram* program, const Options& options) {
  observe::RunFacts facts;
  facts.cycles = result.cycles;
  facts.clock_mhz = system.machine().clocks.front().mhz;
  for (const sim::Timeline::Clock& clock : system.timeline().clocks())
    facts.clocks.push_back({clock.name, static_cast<double>(clock.hertz) / 1e6, clock.engine});
  facts.machine_cycles = result.machine_cycles();
  if (program != nullptr && result.host_end != 0)
    facts.total_cycles = std::max(result.host_end, result.last_write_beat.value_or(0) + 1);
  facts.manifest.emplace_back("machine", system.machine().name);
  facts.manifest.emplace_back("fingerprint", fmt::format("{:016x}", topo::fingerprint(system.machine())));
  if (program != nullptr) {
    facts.manifest.emplace_back("program", program->program.name);
    facts.manifest.emplace_back("program_hash", fmt::format("{:016x}", program->hash));
  }
  facts.manifest.emplace_back("verdict", platform::verdict_name(result.verdict));
  if (!result.cause.empty()) {
    facts.manifest.emplace_back("cause", result.cause);
    facts.manifest.emplace_back("cause_at", result.where);
  }
  for (const std::string& set : options.sets) facts.manifest.emplace_back("set", set);
  for (const std::string& impl : options.impls) facts.manifest.emplace_back("impl", impl);
  if (const std::string rtl = system.rtl_alone(); !rtl.empty()) facts.manifest.emplace_back("rtl_alone", rtl);
  for (const platform::Finding& finding : result.findings) {
    using Severity = platform::Finding::Severity;
    observe::FoundFact found{finding.id,
                             finding.severity == Severity::kNote    ? "note"
                             : finding.severity == Severity::kFault ? "fault"
                                                                    : "unsupported",
                             finding.where,
                             finding.count,
                             {},
                             finding.effect,
                             finding.fix,
                             finding.clock};
    for (const auto& occurrence : finding.first) found.first.emplace_back(occurrence.cycle, occurrence.text);
    facts.found.push_back(std::move(found));
  }
  facts.manifest.emplace_back("version", KTPU_VERSION);
  facts.manifest.emplace_back("topology", topo::print_resolved(system.machine()));
  return facts;
}

// Before anything runs: a program that is wrong on every machine is not worth a run.
void check_program(const arch::Program& program, const topo::Machine& machine, const Options& options) {
  if (options.no_lint) return;
  topo::check_needs(program, machine);
  const arch::MachineNeeds facts = machine_facts(machine);
  constexpr std::size_t kShown = 12;
  std::vector<std::string> errors, warnings;
  for (const arch::LintFinding& finding : arch::lint(program, &facts))
    (finding.error() ? errors : warnings).push_back(arch::to_text(finding));
  for (std::size_t i = 0; i < std::min(kShown, warnings.size()); ++i)
    fmt::print(stderr, "ktpu-sim: {}: {}\n", options.program, warnings[i]);
  if (warnings.size() > kShown)
    fmt::print(stderr, "ktpu-sim: and {} more warnings\n", warnings.size() - kShown);
  if (errors.empty()) return;
  std::string text = fmt::format("{}: the static check found {} error{}:", options.program, errors.size(),
                                 errors.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < std::min(kShown, errors.size()); ++i) text += "\n  " + errors[i];
  if (errors.size() > kShown) text += fmt::format("\n  and {} more", errors.size() - kShown);
  throw UserError(text + "\nNothing was run; --no-lint runs it all the same.");
}

void show_notes(const std::vector<std::string>& notes) {
  constexpr std::size_t kShown = 12;
  for (std::size_t i = 0; i < std::min(kShown, notes.size()); ++i)
    fmt::print(stderr, "ktpu-sim: note: {}\n", notes[i]);
  if (notes.size() > kShown) fmt::print(stderr, "ktpu-sim: and {} more notes\n", notes.size() - kShown);
}

// Everything that looks at a run from outside.
struct Watch {
  observe::Registry registry;
  std::unique_ptr<observe::WaveFile> file;
  std::unique_ptr<observe::WaveRing> ring;
  std::unique_ptr<observe::History> history;
  std::unique_ptr<observe::ClockWaves> clocks;     // instead of `file` with several clocks
  std::unique_ptr<observe::ClockRing> clock_ring;  // instead of `ring`

  Watch(platform::System& system, const Options& options) {
    registry.add(system.timeline(), [&](const sim::Unit& unit) { return system.source_of(unit); });
    if (!options.history.empty()) {
      history = std::make_unique<observe::History>(registry, system.engine(), options.history);
      system.engine().add(*history);
    }
    if (options.vcd.empty()) return;
    const bool one_clock = system.timeline().single();
    if (options.vcd_last != 0) {
      if (!one_clock) {
        clock_ring = std::make_unique<observe::ClockRing>(registry, system.timeline(), options.scope,
                                                          options.vcd_last);
        return;
      }
      ring = std::make_unique<observe::WaveRing>(registry, options.scope, options.vcd_last);
      system.engine().add(*ring);
      return;
    }
    observe::WaveOptions waves;
    waves.scope = options.scope;
    waves.from = options.vcd_from;
    if (options.vcd_to) waves.to = *options.vcd_to;
    waves.max_bytes = options.vcd_limit_mib << 20;
    waves.clock_mhz = system.machine().clocks.front().mhz;
    if (!one_clock) {
      clocks = std::make_unique<observe::ClockWaves>(registry, system.timeline(), options.vcd, waves);
      fmt::print(stderr, "ktpu-sim: {}: {}\n", options.vcd, clocks->estimate());
      return;
    }
    file = std::make_unique<observe::WaveFile>(registry, options.vcd, waves);
    fmt::print(stderr, "ktpu-sim: {}: {}\n", options.vcd, file->estimate());
    system.engine().add(*file);
  }

  void finish(platform::System& system, const Options& options, bool failed) {
    const sim::Cycle end = system.timeline().now();
    if (history != nullptr) {
      system.timeline().sync();
      history->finish(system.engine().now());
    }
    if (file != nullptr) {
      file->finish(end);
      if (!file->notice().empty()) fmt::print(stderr, "ktpu-sim: {}\n", file->notice());
    }
    if (clocks != nullptr) {
      clocks->finish();
      if (!clocks->notice().empty()) fmt::print(stderr, "ktpu-sim: {}\n", clocks->notice());
    }
    if (clock_ring != nullptr && failed) clock_ring->dump(options.vcd);
    if (ring != nullptr && failed) ring->dump(options.vcd, end, system.machine().clocks.front().mhz);
  }
};

template <class F>
void for_each_lockstep(platform::System& system, F&& f) {
  for (const sim::Timeline::Clock& clock : system.timeline().clocks())
    for (sim::Unit* unit : clock.engine->units())
      if (auto* pair = dynamic_cast<sim::Lockstep*>(unit)) f(*pair);
}

void print_size(const platform::System& system, bool fits) {
  const std::vector<sim::Timeline::Clock>& clocks = system.timeline().clocks();
  std::size_t units = 0, links = 0;
  std::string by_clock;
  for (const sim::Timeline::Clock& clock : clocks) {
    units += clock.engine->units().size();
    links += clock.engine->links().size();
    by_clock += fmt::format("\n  clock {} ({} MHz): {} units, {} links", clock.name,
                            static_cast<double>(clock.hertz) / 1e6, clock.engine->units().size(),
                            clock.engine->links().size());
  }
  fmt::print("{}: {} units, {} links{}{}\n", system.machine().name, units, links,
             fits ? "; the program fits" : "", clocks.size() == 1 ? "" : by_clock);
}

// Without a program nothing but traffic nodes can act.
void check_traffic(const topo::Machine& machine, const Options& options) {
  bool sends = false;
  for (const topo::Mesh& mesh : machine.meshes)
    for (const topo::Node& node : mesh.nodes) {
      const auto* traffic = node.get<topo::Traffic>();
      if (traffic == nullptr || traffic->pattern == topo::Pattern::kScript || traffic->rate == 0) continue;
      sends = true;
      if (traffic->flits == 0 && options.max_cycles == sim::kNever)
        throw UserError::make(
            "{} sends for ever, so the run would never end: give --max-cycles N, or the node's unit a number "
            "of flits",
            topo::node_id(machine, mesh, node));
    }
  if (options.program.empty() && !sends)
    fmt::print(stderr, "ktpu-sim: note: no program, and no traffic node that sends: nothing happens\n");
}

}  // namespace

void require_writable(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(path).parent_path();
  std::error_code error;
  if (fs::is_directory(path, error)) throw UserError::make("{}: cannot be written: it is a folder", path);
  if (!folder.empty() && !fs::is_directory(folder, error))
    throw UserError::make("{}: cannot be written: there is no folder {}", path, folder.string());
}

ExitStatus run_session(const Options& options) {
  if (options.list_topologies) {
    for (const std::string& name : topo::shipped_names()) fmt::print("{}\n", name);
    return ExitStatus::kOk;
  }
  if (!options.explain.empty() && options.topology.empty()) {
    for (const std::string& name : options.explain) {
      const auto cause = platform::explain_cause(name);
      fmt::print("{}\n", cause ? *cause : observe::explain(name));
    }
    return ExitStatus::kOk;
  }
  topo::Machine machine = read_machine(options);
  if (options.print_topology) {
    fmt::print("{}", topo::print_resolved(machine));
    return ExitStatus::kOk;
  }
  std::vector<Dump> dumps;
  for (const std::string& text : options.dumps) dumps.push_back(parse_dump("--dump", text));
  std::vector<Dump> watched;
  for (const std::string& text : options.watch_memory) {
    watched.push_back(parse_dump("--watch-mem", text));
    if (!watched.back().file.empty()) throw UserError::make("--watch-mem {}: expected ADDRESS:BYTES", text);
  }
  std::vector<Binding> in, out, expect;
  for (const std::string& text : options.in) {
    in.push_back(parse_binding("--in", text));
    for (std::size_t k = 0; k + 1 < in.size(); ++k)
      if (in[k].name == in.back().name)
        throw UserError::make("--in {}: the input is given twice; the first would never be read", text);
  }
  for (const std::string& text : options.out) out.push_back(parse_binding("--out", text));
  for (const std::string& text : options.expect) expect.push_back(parse_binding("--expect", text));

  std::unique_ptr<LoadedProgram> program;
  if (!options.program.empty()) program = std::make_unique<LoadedProgram>(read_program(options.program));
  if (program == nullptr && !(in.empty() && out.empty() && expect.empty()))
    throw UserError("--in, --out and --expect need a program");

  if (program != nullptr) check_program(program->program, machine, options);
  if (options.no_simd) arch::set_simd(false);
  platform::Registry units;
  register_units(units);
  platform::System system(machine, units);
  system.timeline().set_idle_skip(!options.no_idle_skip);
  for (platform::MeshSystem& mesh : system.meshes())
    if (mesh.memory_agent != nullptr) mesh.memory_agent->landing().set_enabled(!options.no_check);

  // What cannot be right is said before the run, not after hours of it.
  for (const Binding& binding : out) {
    check_output(program->program, binding, false);
    require_writable(binding.file);
  }
  for (const Binding& binding : expect) check_output(program->program, binding, true);
  for (std::size_t k = 0; k < dumps.size(); ++k) {
    require_memory(system, "--dump", options.dumps[k], dumps[k], dumps[k].bytes);
    if (!dumps[k].file.empty()) require_writable(dumps[k].file);
  }
  for (std::size_t k = 0; k < watched.size(); ++k)
    require_memory(system, "--watch-mem", options.watch_memory[k], watched[k], 1);
  if (!options.stats.empty()) {
    observe::require_report_path(options.stats);
    require_writable(options.stats);
  }

  Watch watch(system, options);
  observe::Statistics statistics(watch.registry);
  observe::add_standard(statistics);
  statistics.set_history(watch.history.get());
  if (!options.explain.empty()) {
    for (const std::string& name : options.explain) {
      const auto cause = platform::explain_cause(name);
      fmt::print("{}\n", cause ? *cause : observe::explain(name, &statistics));
    }
    return ExitStatus::kOk;
  }

  if (!options.elaborate_only) check_traffic(machine, options);
  if (const std::string rtl = system.rtl_alone(); !rtl.empty() && !options.quiet)
    fmt::print(
        stderr,
        "ktpu-sim: note: RTL alone: {}. What a program does wrong there, and most of their statistics, "
        "only models tell (--impl '*=lockstep' has both)\n",
        rtl);
  platform::RunLimits limits{options.max_cycles, options.watchdog};
  platform::Runner runner(system, program ? &program->program : nullptr, limits);
  watch_memory(runner, system, watched);
  for (const Binding& binding : in) load_input(system_memory(system), program->program, binding);
  if (program != nullptr && options.restore.empty() && !options.elaborate_only && !options.quiet)
    for (const std::string& note : missing_inputs(program->program, in))
      fmt::print(stderr, "ktpu-sim: {}: {}\n", options.program, note);
  platform::Simulation simulation("ktpu", system, runner);
  if (options.elaborate_only) {
    if (!options.quiet) print_size(system, program != nullptr);
    return ExitStatus::kOk;
  }
  if (machine.host.kind == topo::HostKind::kExternal)
    throw UserError::make(
        "{}: its host is external, and ktpu-sim has none to attach: it would wait for ever. Choose another "
        "one "
        "(--set host.kind=command_engine), or attach a host in C++ (platform::Simulation::host_socket)",
        machine.name);
  Saving saving(options, system, runner,
                program ? platform::ProgramId{program->program.name, program->hash} : platform::ProgramId{});
  saving.begin();
  Progress progress(runner);
  simulation.set_heartbeat([&](sim::Cycle now) { progress.beat(now); });
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);  // "stopped by user"
  sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_THROW);      // of a user's module
  try {
    sc_core::sc_start();
    if (simulation.failure()) std::rethrow_exception(simulation.failure());
  } catch (const sim::LockstepError& error) {
    progress.clear();
    watch.finish(system, options, true);
    fmt::print(stderr, "ktpu-sim: {}\n{}", error.what(),
               mismatch_report(system, error.mismatch(), options.mismatch_vcd));
    return error.status();
  }
  progress.clear();
  saving.finish();
  const platform::RunResult& result = runner.result();
  watch.finish(system, options, result.status != ExitStatus::kOk);
  for_each_lockstep(system, [](const sim::Lockstep& pair) { pair.require_compared(); });

  ExitStatus status = result.status;
  if (status != ExitStatus::kNoProgress) show_notes(result.notes);  // that message holds them
  if (status != ExitStatus::kOk) fmt::print(stderr, "ktpu-sim: {}\n", result.message);
  if (status == ExitStatus::kOk) {
    for (const Binding& binding : out) save_output(system_memory(system), program->program, binding);
    for (const Binding& binding : expect) {
      const Comparison c =
          compare_output(system_memory(system), program->program, binding, options.atol, options.rtol);
      if (c.different == 0) {
        fmt::print("expect {}: {} elements equal\n", c.name, c.elements);
        continue;
      }
      fmt::print(stderr, "ktpu-sim: expect {}: {} of {} elements differ; worst [{}]: got {}, expected {}\n",
                 c.name, c.different, c.elements, c.worst, c.worst_value, c.worst_expected);
      status = ExitStatus::kExpectFailed;
    }
  }
  for (const Dump& dump : dumps) show_dump(system.mesh(mesh_of(system, "--dump", dump)), dump);
  if (options.strict && status == ExitStatus::kOk && !result.notes.empty()) {
    fmt::print(stderr, "ktpu-sim: --strict: the program relies on what the notes above say\n");
    status = ExitStatus::kStrict;
  }
  statistics.set_facts(facts_of(system, result, program.get(), options));
  if (!options.stats.empty()) observe::write_report(statistics, options.stats);
  const std::vector<observe::Violation> violations = statistics.check();
  for (const observe::Violation& violation : violations)
    fmt::print(stderr, "ktpu-sim: VIOLATED {}\n", violation.text());
  if (!violations.empty() && status == ExitStatus::kOk) {
    fmt::print(stderr,
               "ktpu-sim: internal error: the statistics contradict each other. Please report this.\n");
    status = ExitStatus::kInternal;
  }
  if (options.table || options.zeros) {
    fmt::print("{}", observe::human_table(statistics, options.zeros));
  } else if (!options.quiet) {
    fmt::print("{}", observe::human_summary(statistics));
  }
  return status;
}

}  // namespace ktpu::apps
