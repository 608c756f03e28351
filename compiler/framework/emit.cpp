// SPDX-License-Identifier: Apache-2.0
#include "arch/error.h"
#include "compiler/framework/passes.h"

namespace ktpu::framework {
namespace {

template <class... Ts>
struct Overload : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overload(Ts...) -> Overload<Ts...>;

// What a unit gets in a round.
struct UnitProgram {
  std::vector<arch::Flit> flits;
  std::uint32_t signals = 0;
};

}  // namespace

Artifact emit(const TaskGraph& graph, const std::vector<Place>& places, const Rounds& rounds,
              const Sharing& sharing, const Machine& machine, const Encoder& encoder) {
  Artifact artifact;
  artifact.machine = machine.name;
  artifact.rounds = rounds.size();
  artifact.tasks = graph.tasks.size();
  artifact.coalesced_bytes = sharing.bytes_saved;
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    if (r > 0) artifact.steps.emplace_back(Barrier{});
    std::map<Place, UnitProgram> programs;
    for (const TaskId id : rounds[r]) {
      const std::vector<arch::Flit> words = encoder(id, graph.tasks[id], places[id]);
      if (words.size() != graph.tasks[id].flits)
        throw arch::UserError::make("task {}: {} words were encoded, {} were planned", id, words.size(),
                                    graph.tasks[id].flits);
      UnitProgram& program = programs[places[id]];
      program.flits.insert(program.flits.end(), words.begin(), words.end());
      program.signals += graph.tasks[id].signals;
    }
    artifact.steps.emplace_back(Seed{machine.inst_depth});
    for (const auto& [to, program] : programs) {
      artifact.steps.emplace_back(Kick{to, static_cast<std::uint32_t>(artifact.flits.size()),
                                       static_cast<std::uint32_t>(program.flits.size())});
      artifact.flits.insert(artifact.flits.end(), program.flits.begin(), program.flits.end());
    }
    for (const auto& [node, program] : programs) artifact.steps.emplace_back(Await{node, program.signals});
  }
  return artifact;
}

void verify(const Artifact& artifact, const TaskGraph& graph, const Machine& machine) {
  std::uint64_t flits = 0, signals = 0, planned_flits = 0, planned_signals = 0, barriers = 0;
  std::uint64_t credit = 0;
  for (const Task& task : graph.tasks) {
    planned_flits += task.flits;
    planned_signals += task.signals;
  }
  for (const ArtifactStep& step : artifact.steps) {
    if (const Seed* seed = std::get_if<Seed>(&step)) credit = seed->credit;
    if (std::holds_alternative<Barrier>(step)) {
      ++barriers;
      credit = 0;
    }
    if (const Await* await = std::get_if<Await>(&step)) signals += await->count;
    if (const Kick* kick = std::get_if<Kick>(&step)) {
      if (kick->base != flits || kick->count > machine.inst_depth || credit == 0)
        throw arch::UserError::make("kick of ({},{}), slots {}+{}: out of turn, without credit, or too long",
                                    kick->to.at.x, kick->to.at.y, kick->base, kick->count);
      flits += kick->count;
    }
  }
  if (flits != planned_flits || artifact.flits.size() != planned_flits || signals != planned_signals)
    throw arch::UserError::make("{} flits and {} signals; the tasks have {} and {}", flits, signals,
                                planned_flits, planned_signals);
  if (barriers + 1 != artifact.rounds && artifact.rounds != 0)
    throw arch::UserError::make("{} barriers between {} rounds", barriers, artifact.rounds);
}

std::string print(const Artifact& artifact) {
  std::string text = fmt::format("artifact for {}: {} flits, {} rounds, {} tasks\n", artifact.machine,
                                 artifact.flits.size(), artifact.rounds, artifact.tasks);
  const Overload line{[](const Seed& s) { return fmt::format("  seed {}\n", s.credit); },
                      [](const Kick& k) {
                        return fmt::format("  kick {}:({},{}) slots {}+{}\n", k.to.mesh, k.to.at.x, k.to.at.y,
                                           k.base, k.count);
                      },
                      [](const Await& a) {
                        return fmt::format("  await {}:({},{}) {}\n", a.node.mesh, a.node.at.x, a.node.at.y,
                                           a.count);
                      },
                      [](const Barrier&) { return std::string("  barrier\n"); }};
  for (const ArtifactStep& step : artifact.steps) text += std::visit(line, step);
  return text;
}

}  // namespace ktpu::framework
