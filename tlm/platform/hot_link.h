// SPDX-License-Identifier: Apache-2.0
// Whether the network is full, and the link that everything queues for.
#pragma once

#include <optional>
#include <string>

#include "tlm/platform/system.h"

namespace ktpu::platform {

struct HotLink {
  const sim::LinkBase* link = nullptr;
  double flits_per_cycle = 0;  // over the whole run
  double refused = 0;          // share of the cycles in which its flit was not taken
  std::size_t senders = 0;     // units whose output was refused in at least a quarter of the cycles
  std::string text() const;
};

// nullopt unless the network refuses at least one unit's flits in a quarter of the cycles and delivers. Needs
// Engine::sync().
std::optional<HotLink> hot_link(System& system);

}  // namespace ktpu::platform
