// SPDX-License-Identifier: Apache-2.0
#include "compiler/cost/model.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "arch/error.h"
#include "compiler/cost/host.h"
#include "compiler/cost/mesh_sim.h"

namespace ktpu::cost {
namespace {

// A round's band: its name without a trailing " round 3".
std::string band_name(const std::string& round) {
  constexpr std::string_view kWord = " round ";
  const std::size_t at = round.rfind(kWord);
  if (at == std::string::npos) return round.empty() ? "rounds" : round;
  const bool number = round.find_first_not_of("0123456789", at + kWord.size()) == std::string::npos;
  return number ? round.substr(0, at) : round;
}

std::vector<Band> bands_of(const std::vector<Host::Round>& rounds, Cycles end) {
  std::vector<Band> bands;
  for (const Host::Round& round : rounds) {
    const std::string name = band_name(round.name);
    if (bands.empty() || bands.back().name != name) {
      if (!bands.empty()) bands.back().end = round.begin;
      bands.push_back({name, 0, bands.empty() ? 0 : round.begin, end, {}});
    }
    ++bands.back().rounds;
  }
  if (bands.empty()) bands.push_back({"whole program", 0, 0, end, {}});
  return bands;
}

// The critical path, cut at the borders of the bands.
void attribute(const Ledger& ledger, Moment end, Report& report) {
  std::size_t band = report.bands.size() - 1;
  ledger.walk_back(end, [&](Cycles begin, Cycles until, Cause cause) {
    const auto c = static_cast<std::size_t>(cause);
    report.spent[c] += until - begin;
    while (until > begin) {
      while (band > 0 && report.bands[band].begin >= until) --band;
      const Cycles from = band == 0 ? begin : std::max(begin, report.bands[band].begin);
      report.bands[band].spent[c] += until - from;
      until = from;
    }
  });
}

}  // namespace

Report estimate(const arch::Program& program, const CostMachine& machine) {
  Ledger ledger;
  EventQueue events;
  std::deque<MeshSim> meshes;
  for (unsigned m = 0; m < machine.meshes.size(); ++m)
    meshes.emplace_back(m, machine.meshes[m], ledger, events);
  Host host(program, machine, meshes, ledger, events);
  host.proceed(0);
  while (!events.empty()) {
    const Event event = events.take();
    if (event.kind == Event::Kind::kHost)
      host.proceed(event.t);
    else
      meshes[event.who >> 8].handle(event);
    if (host.waiting()) host.proceed(event.t);
  }
  if (!host.done())
    throw arch::UserError::make(
        "the program does not come to an end on this machine: the host waits in {}. Run it with ktpu-sim, "
        "which tells the cause.",
        host.waiting_for());

  Report report;
  report.program = program.name;
  report.machine = machine.name;
  report.fabric_mhz = machine.fabric_mhz;
  report.notes = host.notes();
  report.events = events.taken();
  Moment end = host.end(), last;
  std::optional<Cycles> first;
  for (unsigned m = 0; m < meshes.size(); ++m) {
    const MeshSim& mesh = meshes[m];
    const MeshCost& cost = machine.meshes[m];
    last = latest(last, latest(mesh.last_signal(), mesh.dram().last_write_beat()));
    if (mesh.dram().wrote()) end = latest(end, ledger.after(mesh.dram().last_write_beat(), 1, Cause::kDram));
    if (mesh.first_kick() && (!first || *mesh.first_kick() < *first)) first = mesh.first_kick();
    for (std::size_t u = 0; u < cost.units.size(); ++u)
      if (mesh.unit(u).books().instructions != 0)
        report.units.push_back({m, cost.units[u].at, cost.units[u].kind, mesh.unit(u).books()});
    for (std::size_t p = 0; p < cost.ports.size(); ++p)
      report.ports.push_back({m, cost.ports[p].at, mesh.port(p).books()});
    report.drams.push_back({m, mesh.dram().books()});
  }
  if (first && last.t >= *first) report.machine_cycles = last.t - *first + 1;
  report.total_cycles = end.t;
  report.bands = bands_of(host.rounds(), end.t);
  attribute(ledger, end, report);
  return report;
}

}  // namespace ktpu::cost
