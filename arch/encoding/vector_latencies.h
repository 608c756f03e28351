// SPDX-License-Identifier: Apache-2.0
// Latencies of the vector core's lanes, in cycles (vector.md section 12); the SystemVerilog package has them,
// too.
#pragma once

#include <array>

#include "arch/encoding/latencies.h"

namespace ktpu::arch::latency {

inline constexpr NamedConstant kLaneAlu{"LaneAlu", 15, "vector lane, operands to result"};
inline constexpr NamedConstant kLanesEmpty{"LanesEmpty", 79,
                                           "vector lanes, last beat to the pipe empty, in every mode"};
inline constexpr std::array kVectorAll{kLaneAlu, kLanesEmpty};

}  // namespace ktpu::arch::latency
