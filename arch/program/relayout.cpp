// SPDX-License-Identifier: Apache-2.0
#include "arch/program/relayout.h"

namespace ktpu::arch {

std::vector<GatherRun> gather_between(const TensorLayout& from, const TensorLayout& to) {
  std::vector<std::int64_t> place(from.values(), -1);
  for (std::uint64_t i = 0; i < from.elements(); ++i)
    if (const std::int64_t value = from.source(i); value >= 0 && place[static_cast<std::size_t>(value)] < 0)
      place[static_cast<std::size_t>(value)] = static_cast<std::int64_t>(i);
  std::vector<GatherRun> runs;
  for (std::uint64_t i = 0; i < to.elements(); ++i) {
    const std::int64_t value = to.source(i);
    const std::int64_t source = value < 0 ? -1 : place[static_cast<std::size_t>(value)];
    if (!runs.empty()) {
      GatherRun& run = runs.back();
      if (source < 0 ? run.source < 0 : run.source >= 0 && source == run.source + run.count) {
        ++run.count;
        continue;
      }
    }
    runs.push_back({source, 1, 1, 1, 0});
  }
  return runs;
}

}  // namespace ktpu::arch
