// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tlm/sim/cycle.h"

namespace ktpu::sim {

// How much a lock-step pair compared, whether it is a unit or a part of one.
class Comparison {
 public:
  virtual ~Comparison() = default;
  virtual Cycle compared_cycles() const = 0;
  // Wires and data words.
  virtual std::uint64_t compared_values() const = 0;
};

}  // namespace ktpu::sim
