// SPDX-License-Identifier: Apache-2.0
// The engines of a machine, whose exclusive states share its cycles out (tlm/sim/attribution.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tlm/observe/registry.h"

namespace ktpu::observe {

struct EngineCycles {
  std::string_view name;                 // "cluster@2,1.sweep"
  std::vector<const Entry*> states;      // by priority; never empty
  std::uint64_t total() const;           // cycles of all states
  std::vector<unsigned> tenths() const;  // shares of the states in tenths of a percent; they add up to 1000
};

// In registry order.
std::vector<EngineCycles> engines_of(const Registry& registry);
// The states of one engine by priority; empty when it is none.
std::vector<const Entry*> states_of(std::string_view engine, const Registry& registry);
// The last part of a state's name.
std::string_view short_name(const Entry& state);

// Rounds the parts of a whole to tenths of a percent so that they add up to 100.0 %: the largest remainders
// are rounded up. All 0 when the whole is.
std::vector<unsigned> tenths_of_percent(const std::vector<std::uint64_t>& parts);

// A line per engine: "cluster@2,1.sweep  issuing 61.0  stalled 2.5  idle 36.5  %". Without `zeros`, states
// and engines with nothing but rest are left out.
std::string shares_text(const Registry& registry, bool zeros);

}  // namespace ktpu::observe
