// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "arch/error.h"
#include "compiler/framework/passes.h"

namespace ktpu::framework {

Sharing coalesce(const TaskGraph& graph, const std::vector<Place>& places, const Rounds& rounds) {
  Sharing sharing;
  sharing.leads.assign(graph.tasks.size(), true);
  for (const std::vector<TaskId>& round : rounds) {
    std::map<std::pair<Region, unsigned>, std::vector<TaskId>> readers;  // by what, and on which mesh
    for (const TaskId id : round)
      for (const Region& region : graph.tasks[id].reads) readers[{region, places[id].mesh}].push_back(id);
    for (const auto& [what, tasks] : readers) {
      const TaskId leader = tasks.front();
      for (const TaskId id : tasks) {
        if (places[id].at == places[leader].at) continue;
        std::vector<arch::Coord>& peers = sharing.peers[leader];
        if (std::find(peers.begin(), peers.end(), places[id].at) == peers.end())
          peers.push_back(places[id].at);
        sharing.leads[id] = false;
        sharing.bytes_saved += what.first.nbytes;
      }
    }
  }
  return sharing;
}

void verify(const Sharing& sharing, const TaskGraph& graph, const std::vector<Place>& places) {
  if (sharing.leads.size() != graph.tasks.size())
    throw arch::UserError::make("sharing is known of {} of {} tasks", sharing.leads.size(),
                                graph.tasks.size());
  for (const auto& [leader, peers] : sharing.peers)
    if (leader >= graph.tasks.size() ||
        std::find(peers.begin(), peers.end(), places[leader].at) != peers.end())
      throw arch::UserError::make("task {} is none, or its own peer", leader);
}

}  // namespace ktpu::framework
