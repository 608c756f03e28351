// SPDX-License-Identifier: Apache-2.0
#include "tlm/platform/findings.h"

#include <algorithm>

#include "arch/encoding/quirks.h"
#include "arch/misuse.h"
#include "tlm/noc/endpoint_base.h"
#include "tlm/sim/lockstep.h"

namespace ktpu::platform {

namespace {

using Severity = Finding::Severity;

constexpr std::uint64_t kFaultsShown = 4;  // of one node

std::string node_text(const System& system, const topo::Mesh& mesh, arch::Coord at) {
  const topo::Node* node = mesh.node_at(at);
  return node == nullptr ? fmt::format("({},{})", at.x, at.y) : topo::node_id(system.machine(), mesh, *node);
}

Finding of_rule(std::string_view id, std::string where) {
  Finding finding;
  finding.id = id;
  finding.where = std::move(where);
  if (const arch::MisuseRule* rule = arch::find_misuse(id)) {
    finding.effect = rule->effect;
    finding.fix = rule->fix;
    if (rule->during == arch::RunCheck::kFault) finding.severity = Severity::kFault;
    if (rule->during == arch::RunCheck::kUnsupported) finding.severity = Severity::kUnsupported;
  }
  return finding;
}

// `make` gives the finding of a log's entry, still without count and occurrences.
template <class T, class Make>
void of_log(const sim::OccurrenceLog<T>& log, Make&& make, std::vector<Finding>& out) {
  for (const auto& tally : log.tallies()) {
    const T& first = log.first(tally);
    Finding finding = make(first);
    finding.count = tally.count;
    for (const T& entry : log.kept())
      if (same_finding(entry, first)) finding.first.push_back({entry.cycle, entry.text});
    out.push_back(std::move(finding));
  }
}

void of_quirks(const std::vector<noc::QuirkHits>& list, const std::string& where, std::vector<Finding>& out) {
  for (const noc::QuirkHits& hits : list) {
    const arch::Quirk& quirk = arch::quirk(hits.id);
    Finding finding;
    finding.id = quirk.name;
    finding.where = where;
    finding.count = hits.count;
    finding.first.push_back({hits.first, hits.text});
    finding.effect = quirk.reference;
    finding.fix = fmt::format("with `quirks: none`: {}", quirk.none);
    out.push_back(std::move(finding));
  }
}

void of_endpoint(const noc::EndpointReports& reports, const std::string& where, std::vector<Finding>& out) {
  of_log(
      reports.misuse(), [&](const noc::EndpointMisuse& m) { return of_rule(m.kind, where); }, out);
  of_quirks(reports.quirk_hits(), where, out);
}

void of_agent(const System& system, const MeshSystem& mesh, std::vector<Finding>& out) {
  if (mesh.agent() == nullptr) return;
  if (mesh.control_agent != nullptr)
    of_endpoint(*mesh.control_agent, mesh.memory_unit->name() + ".agent", out);
  const std::size_t begin = out.size();
  for (const orchestrator::SignalledFault& fault : mesh.agent()->faults()) {
    std::string where = node_text(system, *mesh.description, fault.node);
    auto finding = std::find_if(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(),
                                [&](const Finding& f) { return f.where == where; });
    if (finding == out.end()) {
      finding = out.emplace(out.end());
      finding->severity = Severity::kFault;
      finding->id = "fault";
      finding->where = std::move(where);
    }
    if (++finding->count <= kFaultsShown)
      finding->first.push_back(
          {fault.cycle, fmt::format("reported a fault, argument 0x{:x}", fault.argument)});
  }
}

void of_memory(const System& system, const MeshSystem& mesh, std::vector<Finding>& out) {
  if (!mesh.has_memory()) return;
  of_log(
      mesh.memory_misuse(),
      [&](const memory::Misuse& m) {
        const bool by_host =
            m.kind == memory::MisuseKind::kLoadLanding || m.kind == memory::MisuseKind::kOutputLanding;
        const std::string node = node_text(system, *mesh.description, m.requester);
        return of_rule(memory::misuse_name(m.kind),
                       (by_host ? "host against the write of " : "request of ") + node);
      },
      out);
  if (mesh.memory_agent != nullptr) of_quirks(mesh.memory_agent->quirk_hits(), mesh.memory_unit->name(), out);
}

}  // namespace

std::string Finding::line() const {
  std::string text = fmt::format("{}{}cycle {}: {}: {} [{}]", clock, clock.empty() ? "" : " ",
                                 first.front().cycle, where, first.front().text, id);
  if (count > 1) text += fmt::format(" ({} times)", count);
  return text;
}

std::string Finding::advice() const { return fix.empty() ? line() : fmt::format("{}; fix: {}", line(), fix); }

std::vector<Finding> findings(const System& system) {
  std::vector<Finding> out;
  for (const MeshSystem& mesh : system.meshes()) {
    of_agent(system, mesh, out);
    of_memory(system, mesh, out);
    for (const sim::Unit* unit : mesh.endpoints) {
      const auto* reports = sim::model_as<noc::EndpointReports>(unit);
      if (reports == nullptr) continue;
      const std::size_t begin = out.size();
      of_endpoint(*reports, unit->name(), out);
      if (unit->engine() == nullptr || unit->engine() == &system.engine()) continue;
      for (std::size_t k = begin; k < out.size(); ++k) out[k].clock = system.timeline().clock_of(*unit).name;
    }
    for (const noc::StagingAdapter* adapter : mesh.adapters)
      if (adapter != nullptr) of_endpoint(*adapter, adapter->name(), out);
  }
  return out;
}

}  // namespace ktpu::platform
