// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "arch/error.h"
#include "compiler/framework/passes.h"

namespace ktpu::framework {

Compiled compile(TaskGraph tasks, const Machine& machine, const Encoder& encoder) {
  verify(machine);
  Compiled compiled;
  compiled.graph = std::move(tasks);
  const TaskGraph& graph = compiled.graph;
  compiled.graph.edges.merge(infer_edges(graph.tasks));
  verify(graph);
  compiled.places = place(graph, machine);
  verify(compiled.places, graph, machine);
  compiled.rounds = pack(graph, compiled.places, machine);
  verify(compiled.rounds, graph, compiled.places, machine);
  compiled.sharing = coalesce(graph, compiled.places, compiled.rounds);
  verify(compiled.sharing, graph, compiled.places);
  compiled.artifact = emit(graph, compiled.places, compiled.rounds, compiled.sharing, machine, encoder);
  verify(compiled.artifact, graph, machine);
  return compiled;
}

std::string print(const Compiled& compiled) {
  std::string text;
  for (std::size_t r = 0; r < compiled.rounds.size(); ++r)
    for (const TaskId id : compiled.rounds[r]) {
      const Place& place = compiled.places[id];
      text += fmt::format("round {} task {} on {}:({},{})", r, id, place.mesh, place.at.x, place.at.y);
      if (!compiled.sharing.leads[id]) text += " follows";
      if (const auto peers = compiled.sharing.peers.find(id); peers != compiled.sharing.peers.end())
        for (const arch::Coord peer : peers->second) text += fmt::format(" peer ({},{})", peer.x, peer.y);
      text += '\n';
    }
  return text + print(compiled.artifact);
}

}  // namespace ktpu::framework
