// SPDX-License-Identifier: Apache-2.0
// What a poll depends on: the part of the wait-for graph that knows registers (orchestrator.md section 3).
#include <algorithm>

#include "arch/encoding/registers.h"
#include "tlm/platform/wait_graph.h"

namespace ktpu::platform {

namespace reg = arch::agent;

namespace {

constexpr std::uint32_t kNodeStatusEnd = reg::kNodeStatus + 0x1000;  // with the alias

bool is_node_status(std::uint32_t offset) { return offset >= reg::kNodeStatus && offset < kNodeStatusEnd; }

}  // namespace

void WaitGraph::add_polls(const System& system) {
  if (const orchestrator::Host* host = system.host())
    if (const auto poll = host->pending_poll(); poll && poll->mesh < system.meshes().size()) {
      const std::size_t from = node(host, "");
      polls_.push_back({from, *poll});
      const MeshSystem& mesh = system.meshes()[poll->mesh];
      if (poll->engine && mesh.engine_unit != nullptr)
        edges_[nodes_[from].out.front()].to = resolve(mesh.engine_unit, "");
      else if (!poll->impossible())
        add_poll(system, mesh, from, *poll);
    }
  // A host that is at no poll waits for the end of what it does: a burst through a memory window.
  if (const std::size_t host = system.host() == nullptr ? kNobody : find(system.host(), "");
      host != kNobody && polls_.empty())
    for (const MeshSystem& mesh : system.meshes())
      if (waits(mesh.memory_unit, "host window"))
        edges_[nodes_[host].out.front()].to = node(mesh.memory_unit, "host window");
  for (const MeshSystem& mesh : system.meshes()) {
    if (mesh.command_engine == nullptr) continue;
    auto poll = mesh.command_engine->pending_poll();
    if (!poll) continue;
    poll->mesh = static_cast<unsigned>(&mesh - system.meshes().data());
    const std::size_t from = node(mesh.engine_unit, "");
    polls_.push_back({from, *poll});
    if (!poll->impossible()) add_poll(system, mesh, from, *poll);
  }
}

// The unit's own words are the edge that is there already: it gets its end, and further ones as needed.
void WaitGraph::add_poll(const System&, const MeshSystem& mesh, std::size_t from,
                         const orchestrator::PendingPoll& poll) {
  if (nodes_[from].out.empty()) return;
  if (mesh.control_agent == nullptr) {
    const std::size_t agent = node(mesh.memory_unit, "control agent");
    add_untold(agent, "which instructions are under way");
    edges_[nodes_[from].out.front()].to = agent;
    return;
  }
  const orchestrator::DispatchLedger& ledger = mesh.control_agent->ledger();
  const sim::Unit* agent = mesh.memory_unit;
  std::vector<std::pair<std::size_t, std::string>> ends;
  const auto on_dispatcher = [&] {
    if (waits(agent, "dispatcher"))
      ends.emplace_back(node(agent, "dispatcher"), "the dispatcher to send the rest");
  };
  const auto on_output = [&] {
    if (waits(agent, memory::kClientOutput))
      ends.emplace_back(node(agent, memory::kClientOutput), "instructions that have not left the agent");
  };
  const auto on_node = [&](unsigned byte) {
    const arch::Coord at = arch::Coord::from_node_byte(byte);
    const sim::Unit* unit = mesh.endpoint_at(at);
    const bool waiting = unit != nullptr && waiting_.contains(unit);
    if (ledger.outstanding[byte] == 0 && !waiting) return;
    if (!waiting && waits(agent, memory::kClientOutput)) return;  // they have not arrived
    ends.emplace_back(place(mesh, at, "sequencer"),
                      ledger.outstanding[byte] != 0
                          ? fmt::format("{} completions of ({},{})", ledger.outstanding[byte], at.x, at.y)
                          : fmt::format("({},{}), which has not come to rest", at.x, at.y));
  };
  if (poll.offset == reg::kProgStat || poll.offset == reg::kProgCred || poll.offset == reg::kStatus) {
    on_dispatcher();
    on_output();
  } else if (poll.offset == reg::kSigDone && (poll.last & poll.mask) < poll.want) {
    on_dispatcher();
    on_output();
    for (unsigned byte = 0; byte < ledger.outstanding.size(); ++byte) on_node(byte);
  } else if (is_node_status(poll.offset)) {
    on_node((poll.offset >> 3) & 255);
    on_dispatcher();
    on_output();
  } else if (poll.offset == reg::kRxStatus || poll.offset == reg::kTxStatus) {
    on_output();
  } else if (poll.offset == reg::kAuxStat) {
    if (const auto it = waiting_.find(agent); it != waiting_.end())
      ends.emplace_back(node(agent, it->second.front()), "the memory agent");
  }
  const std::size_t own = nodes_[from].out.front();
  for (std::size_t k = 0; k < ends.size(); ++k) {
    if (k == 0)
      edges_[own].to = ends[k].first;
    else
      add(from, ends[k].first, ends[k].second, "poll", poll.since);
  }
}

}  // namespace ktpu::platform
