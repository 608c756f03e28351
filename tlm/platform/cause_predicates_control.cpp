// SPDX-License-Identifier: Apache-2.0
// Causes on the control side: dispatch, mailbox, polls, destinations.
#include <algorithm>

#include "arch/encoding/registers.h"
#include "tlm/noc/endpoint_base.h"
#include "tlm/noc/router.h"
#include "tlm/platform/cause_predicates.h"
#include "tlm/sim/lockstep.h"

namespace ktpu::platform::predicate {

namespace reg = arch::agent;

namespace {

using orchestrator::DispatchLedger;
using Poll = WaitGraph::Poll;

template <typename F>
Found of_agents(const Scene& scene, F&& f) {
  Found found;
  for (const MeshSystem& mesh : scene.system.meshes())
    if (mesh.control_agent != nullptr && mesh.memory_unit != nullptr) f(mesh, *mesh.control_agent, found);
  return found;
}

Found of_dispatchers(const Scene& scene, bool seeded) {
  return of_agents(scene, [&](const MeshSystem& mesh, const orchestrator::ControlAgent& agent, Found& found) {
    const auto d = agent.dispatcher();
    const DispatchLedger& ledger = agent.ledger();
    if (!d.run || d.credit != 0 || (ledger.seeds != 0) != seeded) return;
    // Instructions under way may still return some: then whatever they wait for is the cause.
    const std::size_t node = scene.graph.find(mesh.memory_unit, "dispatcher");
    if (node == WaitGraph::kNobody) return;
    for (const std::size_t e : scene.graph.nodes()[node].out)
      if (scene.graph.edges()[e].kind == "credit") return;
    std::string what = fmt::format("{} flits for ({},{}) are left", d.left, d.to.x, d.to.y);
    if (seeded)
      what += fmt::format(
          "; PROG_CRED was written as {} in cycle {}, {} flits were sent since, {} completions returned "
          "a credit and {} (flits marked last, faults) returned none",
          ledger.seed, ledger.seeded_at, ledger.pushed, ledger.returned, ledger.kept);
    found.push_back({scene.graph.nodes()[node].name, std::move(what), d.starved_since, node});
  });
}

Found of_events(const Scene& scene, DispatchLedger::Event DispatchLedger::*event, std::string_view part,
                std::string_view what) {
  return of_agents(scene, [&](const MeshSystem& mesh, const orchestrator::ControlAgent& agent, Found& found) {
    const DispatchLedger::Event& e = agent.ledger().*event;
    if (e.count == 0) return;
    found.push_back({fmt::format("{} {}", mesh.memory_unit->name(), part),
                     fmt::format("{}x {}, first in cycle {}", e.count, what, e.first), e.first,
                     scene.graph.find(mesh.memory_unit, part)});
  });
}

enum class Place { kCorner, kOutside, kEmpty, kOther };

Place place_of(const topo::Mesh& mesh, arch::Coord at) {
  const auto outside = [](unsigned v, unsigned lo, unsigned hi) { return v + 1 < lo || v > hi + 1u; };
  const auto ring = [](unsigned v, unsigned lo, unsigned hi) { return v + 1 == lo || v == hi + 1u; };
  if (outside(at.x, mesh.lo.x, mesh.hi.x) || outside(at.y, mesh.lo.y, mesh.hi.y)) return Place::kOutside;
  if (ring(at.x, mesh.lo.x, mesh.hi.x) && ring(at.y, mesh.lo.y, mesh.hi.y)) return Place::kCorner;
  return mesh.node_at(at) == nullptr ? Place::kEmpty : Place::kOther;
}

std::string flit_text(const noc::Misaddressed& m) {
  const arch::Flit flit = m.first_flit();
  return fmt::format("{}x, first in cycle {}: a {} flit from ({},{}) for ({},{})", m.count, m.first,
                     arch::flit_type_name(flit.type_code()), flit.src_x(), flit.src_y(), flit.dst_x(),
                     flit.dst_y());
}

// Flits that came to a unit they were not sent to, by the kind of place they were sent to.
Found of_misaddressed(const Scene& scene, Place place) {
  Found found;
  for (const MeshSystem& mesh : scene.system.meshes()) {
    const auto look = [&](const noc::Misaddressed& m, const std::string& where) {
      if (m.serious() == 0 && (m.count == 0 || scene.graph.polls().empty())) return;
      if (place_of(*mesh.description, m.first_flit().dst()) != place) return;
      found.push_back({where, flit_text(m), m.first, WaitGraph::kNobody});
    };
    for (const sim::Unit* unit : mesh.endpoints)
      if (const auto* reports = sim::model_as<noc::EndpointReports>(unit); reports != nullptr)
        if (const noc::EndpointBase* base = reports->endpoint_base(); base != nullptr)
          look(base->misaddressed(), unit->name());
    if (mesh.memory_agent != nullptr)
      for (unsigned p = 0; p < mesh.description->ports.size(); ++p)
        look(mesh.memory_agent->misaddressed(p),
             memory::MemoryAgent::port_part(p, "of ") + mesh.memory_unit->name());
    for (const sim::Unit* unit : mesh.routers) {
      if (const auto* view = sim::model_as<noc::RouterBank::View>(unit))
        look(view->misaddressed(), unit->name());
      else if (const auto* router = sim::model_as<noc::Router>(unit))
        look(router->misaddressed(), unit->name());
    }
  }
  return found;
}

bool is_count(const orchestrator::PendingPoll& poll) {
  return poll.offset == reg::kSigDone ||
         (poll.offset >= reg::kNodeStatus && poll.offset < reg::kNodeStatus + 0x1000);
}

// Signals counted and wanted, of a poll that waits for a number of them.
std::pair<std::uint64_t, std::uint64_t> counts(const orchestrator::PendingPoll& poll) {
  namespace ns = reg::node_status_word;
  const std::uint64_t last = poll.last & poll.mask;
  if (poll.offset == reg::kSigDone) return {last, poll.want};
  return {arch::get(&last, ns::kCount), arch::get(&poll.want, ns::kCount)};
}

template <typename F>
Found of_polls(const Scene& scene, F&& holds) {
  Found found;
  for (const Poll& poll : scene.graph.polls()) {
    if (poll.poll.engine || !holds(poll)) continue;  // of an engine: it is the engine's own wait
    std::string what;
    for (const std::size_t e : scene.graph.nodes()[poll.node].out) {
      what = scene.graph.edges()[e].what;
      break;
    }
    found.push_back({scene.graph.nodes()[poll.node].name, what, poll.poll.since, poll.node});
  }
  return found;
}

// Nobody is left who could change what it reads.
bool unanswered(const Scene& scene, const Poll& poll) {
  const auto& out = scene.graph.nodes()[poll.node].out;
  return std::all_of(out.begin(), out.end(),
                     [&](std::size_t e) { return scene.graph.edges()[e].to == WaitGraph::kNobody; });
}

}  // namespace

Found credit_never_seeded(const Scene& scene) { return of_dispatchers(scene, false); }
Found credit_below_programs(const Scene& scene) { return of_dispatchers(scene, true); }

Found kick_while_running(const Scene& scene) {
  return of_events(scene, &DispatchLedger::kicks_in_run, "dispatcher",
                   "a kick was ignored because a dispatch was running");
}
Found kick_empty(const Scene& scene) {
  return of_events(scene, &DispatchLedger::kicks_empty, "dispatcher",
                   "a kick was ignored because PROG_LEN was 0");
}
Found destination_changed(const Scene& scene) {
  return of_events(scene, &DispatchLedger::redirects, "dispatcher",
                   "PROG_DST was changed while a dispatch was running");
}
Found send_ignored(const Scene& scene) {
  return of_events(scene, &DispatchLedger::sends_ignored, "mailbox", "a mailbox send was ignored");
}
Found mailbox_full(const Scene& scene) {
  return of_events(scene, &DispatchLedger::rx_lost, "mailbox",
                   "a flit was lost because the receive mailbox was full");
}
Found staging_past_end(const Scene& scene) {
  return of_events(scene, &DispatchLedger::stage_overruns, "dispatcher",
                   "a word behind the end of the staging RAM was read");
}
Found signals_cleared(const Scene& scene) {
  return of_events(scene, &DispatchLedger::signals_cleared, "completion count",
                   "a signal came in the cycle of a clear");
}

Found flit_to_corner(const Scene& scene) { return of_misaddressed(scene, Place::kCorner); }
Found flit_outside(const Scene& scene) { return of_misaddressed(scene, Place::kOutside); }
Found flit_to_empty_slot(const Scene& scene) { return of_misaddressed(scene, Place::kEmpty); }

Found instruction_to_port(const Scene& scene) {
  return of_agents(scene, [&](const MeshSystem& mesh, const orchestrator::ControlAgent& agent, Found& found) {
    for (const arch::Coord port : mesh.description->ports)
      if (const std::uint32_t sent = agent.ledger().sent[port.node_byte()]; sent != 0)
        found.push_back(
            {mesh.memory_unit->name(),
             fmt::format("{} instructions were sent to the memory port at ({},{})", sent, port.x, port.y),
             sim::kNever, WaitGraph::kNobody});
  });
}

Found control_lost(const Scene& scene) {
  Found found;
  for (const MeshSystem& mesh : scene.system.meshes())
    for (const sim::Unit* unit : mesh.endpoints) {
      const auto* reports = sim::model_as<noc::EndpointReports>(unit);
      const noc::EndpointBase* base = reports == nullptr ? nullptr : reports->endpoint_base();
      if (base == nullptr || base->replies_lost() == 0) continue;
      found.push_back({unit->name(), fmt::format("{}x a CU_CTRL request was dropped", base->replies_lost()),
                       sim::kNever, WaitGraph::kNobody});
    }
  return found;
}

Found poll_impossible(const Scene& scene) {
  return of_polls(scene, [](const Poll& p) { return p.poll.impossible(); });
}
Found signals_exceeded(const Scene& scene) {
  return of_polls(scene, [](const Poll& p) {
    const auto [last, want] = counts(p.poll);
    return is_count(p.poll) && last > want;
  });
}
Found signals_missing(const Scene& scene) {
  return of_polls(scene, [&](const Poll& p) {
    const auto [last, want] = counts(p.poll);
    return is_count(p.poll) && last < want && unanswered(scene, p);
  });
}
Found poll_never_true(const Scene& scene) {
  return of_polls(scene, [&](const Poll& p) { return unanswered(scene, p); });
}

}  // namespace ktpu::platform::predicate
