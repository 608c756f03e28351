// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/implementations.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/common/register_units.h"
#include "tlm/sim/engine.h"
#include "tlm/sim/lockstep.h"
#include "topologies/names.h"

namespace ktpu::check {

using topo::Impl;

namespace {

struct Wanted {
  std::string spec;
  bool used = false;
};
std::vector<Wanted> wanted;  // the tool's command line, for the life of the process
RowUnits books;

void note(const std::string& kind, Impl impl) {
  Impl& noted = books.units.try_emplace(kind, impl).first->second;
  if (impl != Impl::kModel) noted = impl;
}

// What test equipment stands in for the world has no twin; nobody asks.
bool is_block(topo::Kind kind) { return kind != topo::Kind::kTraffic && kind != topo::Kind::kNull; }

}  // namespace

void set_implementations(std::vector<std::string> specs) {
  wanted.clear();
  for (std::string& spec : specs) wanted.push_back({std::move(spec)});
}

bool twins_wanted() {
  return std::any_of(wanted.begin(), wanted.end(),
                     [](const Wanted& w) { return !w.spec.ends_with("=model"); });
}

void apply_implementations(topo::Machine& machine) {
  for (Wanted& w : wanted) w.used = topo::apply_impl_where_present(machine, w.spec) || w.used;
  for (const topo::Mesh& mesh : machine.meshes) {
    for (const topo::Node& node : mesh.nodes)
      if (is_block(node.kind())) note(std::string(topo::kind_short(node.kind())), node.impl);
    for (const topo::Router& router : mesh.routers) note("router", router.impl);
    if (!mesh.agent) continue;
    note("agent", mesh.agent->impl);
    if (machine.host.kind == topo::HostKind::kCommandEngine) note("engine", mesh.agent->engine_impl);
  }
}

Impl implementation_of(const topo::Node& node, const std::string& part) {
  topo::Machine machine;
  machine.meshes.emplace_back().nodes.push_back(node);
  for (Wanted& w : wanted) w.used = topo::apply_impl_where_present(machine, w.spec) || w.used;
  const Impl impl = machine.meshes.front().nodes.front().impl;
  note(part, impl);
  return impl;
}

std::string unused_implementation() {
  for (const Wanted& w : wanted)
    if (!w.used) return w.spec;
  return {};
}

const platform::Registry& all_units() {
  static const platform::Registry registry = [] {
    platform::Registry r;
    apps::register_units(r);
    return r;
  }();
  return registry;
}

bool RowUnits::has_twin() const {
  return std::any_of(units.begin(), units.end(),
                     [](const auto& unit) { return unit.second != Impl::kModel; });
}

std::string RowUnits::text() const {
  std::map<Impl, std::string> kinds;
  for (const auto& [kind, impl] : units) kinds[impl] += (kinds[impl].empty() ? "" : ", ") + kind;
  std::string all;
  for (const Impl impl : {Impl::kRtl, Impl::kLockstep, Impl::kPins, Impl::kModel})
    if (!kinds[impl].empty())
      all += fmt::format("{}{}: {}", all.empty() ? "" : "; ", topo::impl_name(impl), kinds[impl]);
  if (!why_none.empty()) all += (all.empty() ? "" : "; ") + why_none;
  return all;
}

void note_no_twin(std::string why) { books.why_none = std::move(why); }
void note_compared(std::uint64_t values) { books.compared += values; }
void note_compared(const sim::Engine& engine) {
  for (const sim::Unit* unit : engine.units())
    if (const auto* pair = dynamic_cast<const sim::Lockstep*>(unit)) {
      pair->require_compared();
      note_compared(pair->compared_values());
    }
}

RowUnits take_row_units() { return std::exchange(books, {}); }

}  // namespace ktpu::check
