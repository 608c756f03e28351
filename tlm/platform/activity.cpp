// SPDX-License-Identifier: Apache-2.0
#include "tlm/platform/activity.h"

#include <algorithm>

#include "tlm/traffic/node.h"

namespace ktpu::platform {

Activity::Activity(System& system)
    : system_(system), moved_at_(system.engine().now()), worked_at_(moved_at_) {
  std::vector<const sim::Unit*> fabric;
  for (const MeshSystem& mesh : system.meshes())
    fabric.insert(fabric.end(), mesh.routers.begin(), mesh.routers.end());
  const auto is_traffic = [](const sim::Unit* unit) {
    return dynamic_cast<const traffic::Node*>(unit) != nullptr;
  };
  for (const sim::Timeline::Clock& clock : system.timeline().clocks())
    for (const sim::Unit* unit : clock.engine->units())
      if (!is_traffic(unit) && std::find(fabric.begin(), fabric.end(), unit) == fabric.end() &&
          !unit->name().ends_with("fabric"))
        workers_.push_back(unit);
  for (const sim::Timeline::Clock& clock : system.timeline().clocks())
    for (sim::LinkBase* base : clock.engine->links()) {
      const auto* link = dynamic_cast<const sim::FlitLink*>(base);
      if (link == nullptr || link->sender() == nullptr) continue;
      const bool works = std::find(workers_.begin(), workers_.end(), link->sender()) != workers_.end();
      if (works || is_traffic(link->sender())) outputs_.push_back({link, !works});
    }
}

void Activity::look(sim::Cycle now) {
  std::uint64_t work = system_.any_dram_handshake() ? system_.last_dram_handshake() : 0;
  for (const sim::Unit* unit : workers_) work += unit->progress();
  for (Output& output : outputs_) {
    const std::uint64_t transferred = const_cast<sim::FlitLink*>(output.link)->transferred();
    const bool stands = output.link->valid() && output.link->busy();
    if (!stands)
      output.held_since = sim::kNever;
    else if (transferred != output.transferred || output.held_since == sim::kNever)
      output.held_since = now;
    output.transferred = transferred;
    if (!output.traffic) work += transferred;
  }
  if (work != work_) worked_at_ = now;
  work_ = work;
  const std::uint64_t total = system_.progress();
  if (total != total_) moved_at_ = now;
  total_ = total;
}

void Activity::visit(sim::Archive& a) {
  a.kept("total", total_);
  a.kept("work", work_);
  a.kept("moved_at", moved_at_);
  a.kept("worked_at", worked_at_);
  for (Output& output : outputs_) {
    a.kept("transferred", output.transferred);
    a.kept("held_since", output.held_since);
  }
}

Activity::Held Activity::longest_held() const {
  Held held;
  for (const Output& output : outputs_)
    if (output.held_since != sim::kNever && (held.link == nullptr || output.held_since < held.since))
      held = {output.link, output.held_since};
  return held;
}

}  // namespace ktpu::platform
