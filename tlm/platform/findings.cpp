// SPDX-License-Identifier: Apache-2.0
#include "tlm/platform/findings.h"

#include "arch/encoding/quirks.h"
#include "tlm/noc/endpoint_base.h"

namespace ktpu::platform {

namespace {

using Severity = Finding::Severity;

std::string node_text(const System& system, const topo::Mesh& mesh, arch::Coord at) {
  const topo::Node* node = mesh.node_at(at);
  return node == nullptr ? fmt::format("({},{})", at.x, at.y) : topo::node_id(system.machine(), mesh, *node);
}

void of_agent(const System& system, const MeshSystem& mesh, std::vector<Finding>& out) {
  if (mesh.control_agent == nullptr) return;
  for (const auto& fault : mesh.control_agent->faults())
    out.push_back({Severity::kFault, fault.cycle, node_text(system, *mesh.description, fault.node),
                   fmt::format("reported a fault, argument 0x{:x}", fault.argument)});
}

std::string quirk_text(const noc::QuirkHits& hits) {
  return fmt::format("quirk {} of the reference, met {} time{}: {} (--explain {})", arch::quirk(hits.id).name,
                     hits.count, hits.count == 1 ? "" : "s", hits.text, arch::quirk(hits.id).name);
}

void of_memory(const System& system, const MeshSystem& mesh, std::vector<Finding>& out) {
  if (mesh.memory_agent == nullptr) return;
  for (const memory::Misuse& misuse : mesh.memory_agent->misuse().kept()) {
    const bool fault =
        misuse.kind == memory::MisuseKind::kOutOfRange || misuse.kind == memory::MisuseKind::kDataWithoutSlot;
    out.push_back({fault ? Severity::kFault : Severity::kNote, misuse.cycle,
                   "request of " + node_text(system, *mesh.description, misuse.requester), misuse.text});
  }
  for (const noc::QuirkHits& hits : mesh.memory_agent->quirk_hits())
    out.push_back({Severity::kNote, hits.first, mesh.memory_agent->name(), quirk_text(hits)});
}

void of_endpoints(const MeshSystem& mesh, std::vector<Finding>& out) {
  for (const sim::Unit* unit : mesh.endpoints) {
    const auto* reports = dynamic_cast<const noc::EndpointReports*>(unit);
    if (reports == nullptr) continue;
    for (const noc::EndpointMisuse& misuse : reports->misuse().kept())
      out.push_back({misuse.kind == "kernel-unsupported" ? Severity::kUnsupported : Severity::kNote,
                     misuse.cycle, unit->name(), misuse.text});
    for (const noc::QuirkHits& hits : reports->quirk_hits())
      out.push_back({Severity::kNote, hits.first, unit->name(), quirk_text(hits)});
  }
}

}  // namespace

std::string Finding::line() const { return fmt::format("cycle {}: {}: {}", cycle, where, text); }

std::vector<Finding> findings(const System& system) {
  std::vector<Finding> out;
  for (const MeshSystem& mesh : system.meshes()) {
    of_agent(system, mesh, out);
    of_memory(system, mesh, out);
    of_endpoints(mesh, out);
  }
  return out;
}

}  // namespace ktpu::platform
