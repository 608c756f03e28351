// SPDX-License-Identifier: Apache-2.0
// Which elements have been painted: for the check that every result is written exactly once (compiler.md
// section 7). Internal to the level.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ktpu::schedule {

class Ranges {
 public:
  using Range = std::pair<std::uint64_t, std::uint64_t>;  // [first, second)

  // Touching ranges become one.
  void add(std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return;
    auto at = ranges_.upper_bound(begin);
    if (at != ranges_.begin() && std::prev(at)->second >= begin) {
      --at;
      begin = at->first;
    }
    while (at != ranges_.end() && at->first <= end) {
      end = std::max(end, at->second);
      at = ranges_.erase(at);
    }
    ranges_.emplace(begin, end);
  }
  bool empty() const { return ranges_.empty(); }
  // What [begin, end) lacks, in order.
  std::vector<Range> missing(std::uint64_t begin, std::uint64_t end) const {
    std::vector<Range> gaps;
    auto at = ranges_.upper_bound(begin);
    if (at != ranges_.begin()) begin = std::max(begin, std::min(end, std::prev(at)->second));
    for (; begin < end; ++at) {
      const std::uint64_t next = at == ranges_.end() ? end : std::min(end, at->first);
      if (begin < next) gaps.emplace_back(begin, next);
      if (at == ranges_.end()) break;
      begin = std::max(begin, at->second);
    }
    return gaps;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // begin -> end
};

}  // namespace ktpu::schedule
