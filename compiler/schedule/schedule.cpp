// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/schedule.h"

#include <algorithm>

#include "arch/error.h"

namespace ktpu::schedule {

std::string_view kind_name(const Statement& statement) {
  if (std::holds_alternative<Fill>(statement)) return "fill";
  if (std::holds_alternative<Gemm>(statement)) return "gemm";
  if (std::holds_alternative<Drain>(statement)) return "drain";
  return std::get<Chain>(statement).reduce ? "reduce" : "apply";
}

BufferId Schedule::find(std::string_view buffer) const {
  const auto found =
      std::find_if(buffers.begin(), buffers.end(), [&](const Buffer& b) { return b.name == buffer; });
  if (found == buffers.end()) throw arch::UserError::make("schedule @{} has no buffer %{}", name, buffer);
  return static_cast<BufferId>(found - buffers.begin());
}

}  // namespace ktpu::schedule
