// SPDX-License-Identifier: Apache-2.0
#include "apps/common/mismatch_report.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace ktpu::apps {
namespace {

const sim::Lockstep* pair_of(platform::System& system, const std::string& unit) {
  for (const sim::Timeline::Clock& clock : system.timeline().clocks())
    for (sim::Unit* each : clock.engine->units())
      if (const auto* pair = dynamic_cast<sim::Lockstep*>(each); pair != nullptr && pair->name() == unit)
        return pair;
  return nullptr;
}

// A flit to a vector core holds instructions of its own kind. With several meshes a unit's name begins with
// that of its mesh.
sim::DialectAt dialects_around(platform::System& system, const std::string& unit) {
  const topo::Mesh* mesh = nullptr;
  for (const topo::Mesh& each : system.machine().meshes)
    if (system.machine().meshes.size() == 1 || unit.starts_with(fmt::format("m{}.", each.id))) mesh = &each;
  return [mesh](arch::Coord at) {
    const topo::Node* node = mesh == nullptr ? nullptr : mesh->node_at(at);
    return node != nullptr && node->kind() == topo::Kind::kVectorCore ? arch::Dialect::kVector
                                                                      : arch::Dialect::kCluster;
  };
}

}  // namespace

std::string mismatch_report(platform::System& system, const sim::Mismatch& mismatch,
                            const std::string& waves) {
  const sim::Lockstep* pair = pair_of(system, mismatch.unit);
  if (pair == nullptr) return {};
  std::ostringstream text;
  text << "Its last transfers:\n";
  pair->print_transfers(text, dialects_around(system, mismatch.unit));
  text << "The last cycles of its ports:\n";
  pair->print_history(text);
  if (waves.empty()) return text.str();
  std::ofstream file(waves);
  pair->write_history_vcd(file);
  file.close();
  text << (file ? fmt::format("Waves of both sides: {}\n", waves)
                : fmt::format("{}: the waves of both sides cannot be written there\n", waves));
  return text.str();
}

}  // namespace ktpu::apps
