// SPDX-License-Identifier: Apache-2.0
#include "tlm/platform/checkpoint.h"

#include <sstream>

#include "tlm/observe/digest.h"
#include "tlm/platform/checkpoint_file.h"
#include "tlm/sim/state_archive.h"
#include "topologies/writer.h"

namespace ktpu::platform {

namespace {

// Engines last: their wake-ups count more than what restored units and links ask for.
template <typename A>
void visit_all(A& archive, System& system, Runner& runner) {
  const std::vector<sim::Timeline::Clock>& clocks = system.timeline().clocks();
  for (const sim::Timeline::Clock& clock : clocks) {
    for (sim::Unit* unit : clock.engine->units()) archive.part(unit->name(), *unit);
    for (sim::LinkBase* link : clock.engine->links()) archive.part(link->name(), *link);
  }
  for (const sim::Timeline::Clock& clock : clocks)
    archive.part(clock.engine == &system.engine() ? "engine" : fmt::format("engine.{}", clock.name),
                 *clock.engine);
  archive.part("run", runner);
}

CheckpointHeader header_of(System& system, const ProgramId& program) {
  CheckpointHeader header;
  header.machine = system.machine().name;
  header.topology = topo::print_resolved(system.machine());
  header.fingerprint = topo::fingerprint(system.machine());
  header.program = program.name;
  header.program_hash = program.hash;
  header.cycle = system.engine().now();
  return header;
}

std::string program_text(const CheckpointHeader& header) {
  return header.program_hash == 0
             ? "no program"
             : fmt::format("program \"{}\" ({:016x})", header.program, header.program_hash);
}

// The first line that differs, without comments.
std::string first_difference(const std::string& a, const std::string& b) {
  std::istringstream left(a), right(b);
  const auto next = [](std::istringstream& in, std::string& line) {
    while (std::getline(in, line)) {
      line.erase(0, line.find_first_not_of(' '));
      if (!line.empty() && line[0] != '#') return;
    }
    line = "the end";
  };
  for (std::string x, y; left || right;) {
    next(left, x);
    next(right, y);
    if (x != y) return fmt::format("; the first difference is \"{}\" there and \"{}\" here", x, y);
  }
  return {};
}

void require_same_run(const std::string& path, const CheckpointHeader& saved, const CheckpointHeader& here) {
  if (saved.fingerprint != here.fingerprint || saved.topology != here.topology)
    throw arch::UserError::make(
        "{}: is a checkpoint of another machine: \"{}\" ({:016x}), and this one is \"{}\" ({:016x}){}; "
        "fix: give the topology, --set and --impl of the run that was saved",
        path, saved.machine, saved.fingerprint, here.machine, here.fingerprint,
        first_difference(saved.topology, here.topology));
  if (saved.program_hash != here.program_hash)
    throw arch::UserError::make(
        "{}: is a checkpoint of another run: it has {}, and this run has {}; "
        "fix: give the program of the run that was saved",
        path, program_text(saved), program_text(here));
}

}  // namespace

void require_checkpoints(System& system) {
  for (const sim::Timeline::Clock& clock : system.timeline().clocks())
    for (sim::Unit* unit : clock.engine->units()) {
      sim::ReachArchive reach(unit->name());
      unit->visit(reach);
    }
}

std::string save_state(System& system, Runner& runner) {
  std::ostringstream out(std::ios::binary);
  sim::SaveArchive archive(out);
  visit_all(archive, system, runner);
  return std::move(out).str();
}

void restore_state(System& system, Runner& runner, std::string_view bytes) {
  std::istringstream in(std::string(bytes), std::ios::binary);
  sim::RestoreArchive archive(in, bytes.size());
  visit_all(archive, system, runner);
}

void save_checkpoint(const std::filesystem::path& path, System& system, Runner& runner,
                     const ProgramId& program) {
  write_checkpoint_file(path, header_of(system, program), save_state(system, runner));
}

void restore_checkpoint(const std::filesystem::path& path, System& system, Runner& runner,
                        const ProgramId& program) {
  require_checkpoints(system);
  std::string state;
  const CheckpointHeader saved = read_checkpoint_file(path, state);
  require_same_run(path.string(), saved, header_of(system, program));
  try {
    restore_state(system, runner, state);
  } catch (const arch::UserError& error) {
    throw arch::UserError::make("{}: {}", path.string(), error.what());
  }
}

std::uint64_t state_digest(System& system) {
  std::uint64_t hash = observe::digest(system.engine());
  for (const sim::Timeline::Clock& clock : system.timeline().clocks())
    if (clock.engine != &system.engine()) hash = observe::combine(hash, observe::digest(*clock.engine));
  for (const MeshSystem& mesh : system.meshes())
    if (mesh.memory != nullptr) hash = observe::combine(hash, mesh.memory->digest());
  return hash;
}

}  // namespace ktpu::platform
