// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

namespace ktpu::sim {

// Clock cycles of one domain. Cycle t is the interval before rising edge t+1 (fabric.md section 1.1);
// cycle 0 is the first one in which reset is low.
using Cycle = std::uint64_t;

// "Never": what a unit answers when only an input can give it work again.
inline constexpr Cycle kNever = std::numeric_limits<Cycle>::max();

}  // namespace ktpu::sim
