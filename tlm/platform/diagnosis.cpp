// SPDX-License-Identifier: Apache-2.0
#include "tlm/platform/diagnosis.h"

#include <algorithm>

#include "tlm/platform/findings.h"
#include "tlm/platform/hot_link.h"

namespace ktpu::platform {

namespace {

constexpr std::size_t kEdgeLines = 16;     // of the wait-for graph in a message
constexpr std::size_t kAlsoLines = 4;      // further causes
constexpr std::size_t kEvidenceLines = 3;  // places of one cause

std::string since_text(sim::Cycle since) {
  return since == sim::kNever ? std::string() : fmt::format(", since cycle {}", since);
}

// What the program waits for is sent by nobody: a poll's way through the graph ends at one at rest, or
// nowhere.
bool has_open_end(const WaitGraph& graph) {
  const auto& nodes = graph.nodes();
  for (const WaitGraph::Poll& poll : graph.polls()) {
    const std::vector<bool> seen = graph.reach(poll.node);
    for (const WaitGraph::Edge& edge : graph.edges()) {
      if (!seen[edge.from] || edge.kind != "poll") continue;
      if (edge.to == WaitGraph::kNobody || nodes[edge.to].out.empty()) return true;
    }
  }
  return false;
}

bool in_reach(const WaitGraph& graph, const FoundCause& found) {
  for (const WaitGraph::Poll& poll : graph.polls()) {
    const std::vector<bool> seen = graph.reach(poll.node);
    for (const Evidence& e : found.evidence)
      if (e.node != WaitGraph::kNobody && seen[e.node]) return true;
  }
  return false;
}

// The causes found, the one that explains the stand first.
std::vector<FoundCause> find_causes(const System& system, const WaitGraph& graph) {
  const bool open_end = has_open_end(graph);
  std::vector<std::pair<int, FoundCause>> ranked;
  for (const Cause& cause : causes()) {
    FoundCause found{&cause, cause.find({system, graph})};
    if (found.evidence.empty()) continue;
    int rank = 0;
    switch (cause.role) {
      case Cause::Role::kBlocks:
        rank = in_reach(graph, found) ? 0 : graph.polls().empty() ? 1 : 3;
        break;
      case Cause::Role::kLost:
        rank = open_end ? 2 : 5;
        break;
      case Cause::Role::kGeneral:
        rank = 4;
        break;
    }
    ranked.emplace_back(rank, std::move(found));
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<FoundCause> out;
  for (auto& [rank, found] : ranked) {
    // What remains to be said when nothing explains it needs no saying after something does.
    if (!out.empty() && (found.cause->role == Cause::Role::kGeneral || rank == 5)) continue;
    if (!out.empty() && (found.cause->id == "poll-never-true" || found.cause->id == "signals-missing"))
      continue;
    out.push_back(std::move(found));
  }
  return out;
}

std::string cause_text(const std::vector<FoundCause>& found) {
  if (found.empty()) return {};
  std::string text = fmt::format(" {}\n  fix: {} (--explain {})", found.front().line(),
                                 found.front().cause->fix, found.front().cause->id);
  for (std::size_t k = 1; k < std::min(found.size(), 1 + kAlsoLines); ++k)
    text += fmt::format("\n  also {}", found[k].line());
  return text;
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFinished:
      return "finished";
    case Verdict::kOrphans:
      return "finished-with-orphans";
    case Verdict::kDeadlock:
      return "deadlock";
    case Verdict::kStarvation:
      return "starvation";
    case Verdict::kSaturation:
      return "saturation";
    case Verdict::kSlow:
      return "slow";
    case Verdict::kStopped:
      return "stopped";
  }
  return "?";
}

std::string FoundCause::line() const {
  const Evidence& first = evidence.front();
  std::string text =
      fmt::format("[{}] at {}{}: {}", cause->id, first.where, since_text(first.since), cause->message);
  if (!first.what.empty()) text += fmt::format("; {}", first.what);
  for (std::size_t k = 1; k < std::min(evidence.size(), kEvidenceLines); ++k)
    text += fmt::format("; {}: {}", evidence[k].where, evidence[k].what);
  if (evidence.size() > kEvidenceLines)
    text += fmt::format("; and {} places more", evidence.size() - kEvidenceLines);
  return text;
}

Diagnosis diagnose_stand(System& system, bool starved, const Activity::Held& held,
                         std::string_view headline) {
  system.timeline().sync();
  const WaitGraph graph(system);
  Diagnosis d;
  d.causes = find_causes(system, graph);
  d.verdict = Verdict::kDeadlock;
  std::string why;
  if (starved) {
    // Others move. If what stands is explained all the same, it would stand without them, too.
    const bool explained =
        held.link == nullptr && !d.causes.empty() && d.causes.front().cause->id != "dead-wait";
    if (!explained) {
      d.verdict = Verdict::kStarvation;
      d.causes.clear();
      why = held.link == nullptr
                ? std::string(" the program waits for units that do nothing, while others go on")
                : fmt::format(
                      " at {}, since cycle {} or before: its {} flit for ({},{}) is not taken, while others "
                      "are\n  fix: give it a share: less load, or another way (fabric.md 7.2: the arbiter's "
                      "turn depends on the cycle alone)",
                      held.link->sender()->name(), held.since,
                      arch::flit_type_name(held.link->data().type_code()), held.link->data().dst_x(),
                      held.link->data().dst_y());
    }
  }
  d.text = fmt::format("{}:{}{}\n{}. Who waits for whom:{}", verdict_name(d.verdict), why,
                       cause_text(d.causes), headline,
                       graph.edges().empty() ? std::string("\n  no unit says that it waits for anything")
                                             : graph.text(kEdgeLines));
  return d;
}

Diagnosis diagnose_limit(System& system, StepCount steps, bool stood, sim::Cycle moved_at,
                         std::string_view headline) {
  system.timeline().sync();
  const sim::Cycle now = system.timeline().now();
  Diagnosis d;
  if (stood) {
    d = diagnose_stand(system, false, {},
                       fmt::format("{}; nothing moved since cycle {}", headline, moved_at));
    return d;
  }
  std::string text;
  if (const auto hot = hot_link(system)) {
    d.verdict = Verdict::kSaturation;
    text = hot->text();
  } else {
    d.verdict = Verdict::kSlow;
    text = steps.all == 0 ? std::string("the machine goes on") : std::string("the program goes on");
  }
  if (steps.all != 0) {
    text += fmt::format("; {} of {} steps done ({:.0f} % of the program's steps)", steps.done, steps.all,
                        100.0 * static_cast<double>(steps.done) / static_cast<double>(steps.all));
    if (steps.done != 0) {
      const double each = static_cast<double>(now) / static_cast<double>(steps.done);
      text += fmt::format(", {:.0f} cycles each, about {:.0f} cycles to go", each,
                          each * static_cast<double>(steps.all - steps.done));
    }
  }
  const WaitGraph graph(system);
  d.text = fmt::format("{}: {}\n{}", verdict_name(d.verdict), text, headline);
  if (steps.all != 0 && !graph.edges().empty())
    d.text += fmt::format(". At that moment:{}", graph.text(kEdgeLines));
  return d;
}

Diagnosis diagnose_end(System& system) {
  const WaitGraph graph(system);
  Diagnosis d;
  const auto& edges = graph.edges();
  const bool orphans =
      std::any_of(edges.begin(), edges.end(), [](const auto& e) { return e.kind != "time"; });
  d.verdict = orphans ? Verdict::kOrphans : Verdict::kFinished;
  if (orphans) d.causes = find_causes(system, graph);
  for (const Cause& cause : causes()) {
    const bool known =
        std::any_of(d.causes.begin(), d.causes.end(), [&](const auto& f) { return f.cause == &cause; });
    if (known || !cause.told_at_end) continue;
    FoundCause found{&cause, cause.find({system, graph})};
    if (!found.evidence.empty()) d.causes.push_back(std::move(found));
  }
  const std::vector<Finding> told = findings(system);
  for (std::size_t k = 0; k < d.causes.size(); ++k) {
    const std::string_view rule = told_by(*d.causes[k].cause);
    const bool twice = !rule.empty() &&
                       std::any_of(told.begin(), told.end(), [&](const Finding& f) { return f.id == rule; });
    if (twice && !(k == 0 && orphans)) continue;
    std::string note = d.causes[k].line();
    if (k == 0 && orphans)
      note = fmt::format("{}: {}{}", verdict_name(d.verdict), note, graph.text(kEdgeLines));
    d.notes.push_back(std::move(note));
  }
  return d;
}

}  // namespace ktpu::platform
