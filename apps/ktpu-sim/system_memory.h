// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/common/tensors.h"
#include "tlm/platform/runner.h"
#include "tlm/platform/system.h"

namespace ktpu::apps {

// The memories of a simulated machine, read and written in no time; `system` must outlive it.
inline TensorMemory system_memory(platform::System& system) {
  return {[&system](unsigned mesh, std::uint64_t address, std::uint64_t bytes) {
            return platform::read_memory(system.mesh(mesh), address, bytes);
          },
          [&system](unsigned mesh, std::uint64_t address, std::span<const std::uint8_t> bytes) {
            platform::write_memory(system.mesh(mesh), address, bytes);
          }};
}

}  // namespace ktpu::apps
