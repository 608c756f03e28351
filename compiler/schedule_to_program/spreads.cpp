// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule_to_program/spreads.h"

#include "compiler/base/refusal.h"
#include "compiler/schedule_to_program/limits.h"

namespace ktpu::schedule_to_program {

void require_whole_takes(const BandOperand& operand) {
  if (operand.take == 0 || operand.take % kLanes != 0 || operand.period % operand.take != 0)
    throw base::Refusal(base::Phase::kBuild, "SPREAD_SHAPE",
                        fmt::format("{} elements out of every {}", operand.take, operand.period),
                        fmt::format("take a multiple of {} that divides the period", kLanes));
}

bool spread_fits(const BandOperand& operand, std::uint64_t batch, schedule::Policy policy) {
  if (operand.period == 0) return true;
  if (operand.whole && policy == schedule::Policy::kBest && operand.take % batch == 0) return true;
  if (batch <= operand.period) return operand.period % batch == 0 && batch % operand.take == 0;
  return batch % operand.period == 0;
}

std::vector<Dimension> fill_walk(const BandOperand& operand, std::uint64_t batch) {
  const auto run = static_cast<std::uint32_t>(batch / kLanes);
  if (operand.period == 0) return {{kWordBytes, run}};
  if (operand.whole && batch < operand.take) return {{kWordBytes, run}};
  const auto take = static_cast<std::uint32_t>(operand.take / kLanes);
  if (operand.whole || batch <= operand.period)
    return {{kWordBytes, take}, {0, static_cast<std::uint32_t>(batch / operand.take)}};
  const auto repeats = static_cast<std::uint32_t>(operand.period / operand.take);
  return {{kWordBytes, take},
          {0, repeats},
          {take * repeats * kWordBytes, static_cast<std::uint32_t>(batch / operand.period)}};
}

std::uint64_t fill_start(const BandOperand& operand, std::uint64_t passed) {
  if (operand.period == 0) return operand.at + passed;
  if (operand.whole) return operand.at + passed % operand.take;
  return operand.at + passed / operand.period * operand.period;
}

}  // namespace ktpu::schedule_to_program
