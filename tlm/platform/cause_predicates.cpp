// SPDX-License-Identifier: Apache-2.0
// Causes at a unit or in the network, seen from the wait-for graph and the units' state.
#include "tlm/platform/cause_predicates.h"

#include <algorithm>

#include "arch/encoding/cluster_inst.h"
#include "tlm/cluster/matmul_cluster.h"
#include "tlm/sim/lockstep.h"

namespace ktpu::platform::predicate {

namespace {

using cluster::MatmulCluster;
using Edge = WaitGraph::Edge;

Evidence at(const Scene& scene, const Edge& edge, std::string what = {}) {
  return {scene.graph.nodes()[edge.from].name, what.empty() ? edge.what : std::move(what), edge.since,
          edge.from};
}

// One piece of evidence for each edge of a kind that `holds` for.
template <typename F>
Found edges(const Scene& scene, std::string_view kind, F&& holds) {
  Found found;
  for (const Edge& edge : scene.graph.edges())
    if (edge.kind == kind && holds(edge)) found.push_back(at(scene, edge));
  return found;
}
Found edges(const Scene& scene, std::string_view kind) {
  return edges(scene, kind, [](const Edge&) { return true; });
}

const MatmulCluster* cluster_of(const Scene& scene, const Edge& edge) {
  return sim::model_as<MatmulCluster>(scene.graph.nodes()[edge.from].unit);
}

bool noted(const sim::Unit* unit, std::string_view kind) {
  const auto* reports = sim::model_as<noc::EndpointReports>(unit);
  if (reports == nullptr) return false;
  const auto& kept = reports->misuse().kept();
  return std::any_of(kept.begin(), kept.end(), [&](const auto& m) { return m.kind == kind; });
}

// A unit that did `misuse` and now waits in one of `kinds`.
Found stuck_after(const Scene& scene, std::initializer_list<std::string_view> misuse,
                  std::initializer_list<std::string_view> kinds) {
  Found found;
  for (const Edge& edge : scene.graph.edges()) {
    const sim::Unit* unit = scene.graph.nodes()[edge.from].unit;
    if (std::find(kinds.begin(), kinds.end(), edge.kind) == kinds.end()) continue;
    if (std::none_of(misuse.begin(), misuse.end(), [&](std::string_view m) { return noted(unit, m); }))
      continue;
    if (std::none_of(found.begin(), found.end(),
                     [&](const Evidence& e) { return scene.graph.nodes()[e.node].unit == unit; }))
      found.push_back(at(scene, edge));
  }
  return found;
}

}  // namespace

Found fill_of_256(const Scene& scene) {
  return edges(scene, "read-response", [&](const Edge& edge) {
    const MatmulCluster* unit = cluster_of(scene, edge);
    return unit != nullptr && unit->instruction().n > 255;
  });
}
Found emit_on_load(const Scene& scene) {
  return stuck_after(scene, {"emit-load"}, {"no-results", "results", "batch"});
}
Found fused_drain_count(const Scene& scene) {
  return stuck_after(scene, {"fuse-count"}, {"no-results", "batch"});
}
Found results_overrun(const Scene& scene) {
  return stuck_after(scene, {"emit-order"}, {"no-results", "results", "batch"});
}
Found peer_to_itself(const Scene& scene) {
  return stuck_after(scene, {"peer-self"},
                     {"peer-add", "results", "recv-fifo-full", "peer-stream", "output"});
}
Found two_senders(const Scene& scene) {
  return stuck_after(scene, {"stream-overlap"}, {"peer-stream", "recv-fifo-full"});
}
Found response_outside_fill(const Scene& scene) { return edges(scene, "stray-response"); }
Found data_without_slot(const Scene& scene) { return edges(scene, "no-slot"); }
Found slots_exhausted(const Scene& scene) { return edges(scene, "slots-full"); }
Found write_short(const Scene& scene) {
  if (!edges(scene, "slots-full").empty()) return {};  // what is missing is queued behind
  return edges(scene, "write-data");
}
Found credit_above_depth(const Scene& scene) {
  return edges(scene, "inst-fifo-full", [&](const Edge& full) {
    // The running instruction cannot end because nothing can come in.
    const auto& all = scene.graph.edges();
    return std::any_of(all.begin(), all.end(), [&](const Edge& e) {
      return e.kind == "own-input" && scene.graph.nodes()[e.from].unit == scene.graph.nodes()[full.from].unit;
    });
  });
}
Found peer_short(const Scene& scene) {
  return edges(scene, "peer-stream", [&](const Edge& edge) {
    if (scene.graph.nodes()[edge.from].part != "receiver") return false;
    // The sender still waits for something itself: that is the cause then.
    return edge.to == WaitGraph::kNobody || scene.graph.nodes()[edge.to].out.empty();
  });
}
Found shared_fill(const Scene& scene) {
  return edges(scene, "shared-fill", [&](const Edge& edge) {
    return edge.to == WaitGraph::kNobody || scene.graph.nodes()[edge.to].out.empty();
  });
}
Found upload_not_whole(const Scene& scene) { return edges(scene, "upload-short"); }
Found aperture_dropped(const Scene& scene) {
  return edges(scene, "read-response", [&](const Edge& edge) {
    const MatmulCluster* unit = cluster_of(scene, edge);
    if (unit == nullptr) return false;
    for (const MeshSystem& mesh : scene.system.meshes()) {
      if (!mesh.has_memory() || sim::model_as<MatmulCluster>(mesh.endpoint_at(unit->params().at)) != unit)
        continue;
      const auto& kept = mesh.memory_misuse().kept();
      return std::any_of(kept.begin(), kept.end(), [&](const memory::Misuse& m) {
        return m.kind == memory::MisuseKind::kDroppedAperture && m.requester == unit->params().at;
      });
    }
    return false;
  });
}
Found remote_interleaved(const Scene& scene) { return edges(scene, "remote-interleaved"); }
Found kernel_without_halt(const Scene& scene) { return edges(scene, "halt"); }

Found sink_refuses(const Scene& scene) {
  Found found;
  for (const Edge& edge : scene.graph.edges()) {
    if (edge.kind != "busy-pattern") continue;
    found.push_back(at(scene, edge));
  }
  return found;
}

Found circle(const Scene& scene) {
  const std::vector<std::size_t> way = scene.graph.circle();
  if (way.empty()) return {};
  const auto& nodes = scene.graph.nodes();
  const auto& all = scene.graph.edges();
  Evidence evidence = at(scene, all[way.front()], " ");
  std::string names = nodes[all[way.front()].from].name;
  for (const std::size_t e : way) names += " -> " + nodes[all[e].to].name;
  evidence.what = std::move(names);
  return {evidence};
}

Found rtl_untold(const Scene& scene) { return edges(scene, "rtl"); }

// What waits for nobody, or for one at rest; first what a poll leads to.
Found dead_wait(const Scene& scene) {
  const auto& nodes = scene.graph.nodes();
  std::vector<bool> first(nodes.size());
  for (const WaitGraph::Poll& poll : scene.graph.polls()) {
    const std::vector<bool> seen = scene.graph.reach(poll.node);
    for (std::size_t n = 0; n < seen.size(); ++n) first[n] = first[n] || seen[n];
  }
  Found near, far;
  for (const Edge& edge : scene.graph.edges()) {
    if (edge.kind == "time" || edge.kind == "rtl" ||
        (edge.to != WaitGraph::kNobody && !nodes[edge.to].out.empty()))
      continue;
    Evidence evidence = at(scene, edge);
    if (edge.to != WaitGraph::kNobody)
      evidence.what += fmt::format("; {} has nothing to do", nodes[edge.to].name);
    (first[edge.from] ? near : far).push_back(std::move(evidence));
  }
  near.insert(near.end(), far.begin(), far.end());
  return near;
}

}  // namespace ktpu::platform::predicate
