// SPDX-License-Identifier: Apache-2.0
#include "tlm/traffic/busy_pattern.h"

#include <algorithm>

namespace ktpu::traffic {

BusyPattern BusyPattern::periodic(std::uint32_t period, std::uint32_t duty, std::uint64_t offset) {
  BusyPattern pattern;
  if (period == 0) return pattern;
  duty = std::min(duty, period);
  // Cycle 0 is at `phase` of the period; the part of the busy time that is over by then comes last.
  const std::uint32_t phase = static_cast<std::uint32_t>(offset % period);
  if (phase < duty) pattern.append(duty - phase, true);
  pattern.append(period - std::max(duty, phase), false);
  pattern.append(std::min(duty, phase), true);
  if (phase > duty) pattern.append(phase - duty, false);
  pattern.finish();
  return pattern;
}

BusyPattern BusyPattern::runs(const std::vector<std::uint32_t>& lengths) {
  BusyPattern pattern;
  for (std::size_t k = 0; k < lengths.size(); ++k) pattern.append(lengths[k], k % 2 != 0);
  pattern.finish();
  return pattern;
}

void BusyPattern::append(std::uint64_t length, bool busy) {
  if (length == 0) return;
  period_ += length;
  if (!segments_.empty() && segments_.back().busy == busy)
    segments_.back().end = period_;
  else
    segments_.push_back({period_, busy});
}

void BusyPattern::finish() {
  if (segments_.size() > 1) {
    current_ = {0, segments_.front().end, segments_.front().busy};
    return;
  }
  current_ = {0, sim::kNever, !segments_.empty() && segments_.front().busy};
  segments_.clear();
}

void BusyPattern::seek(sim::Cycle cycle) {
  if (segments_.empty()) return;
  const sim::Cycle base = cycle / period_ * period_;
  const auto it = std::upper_bound(segments_.begin(), segments_.end(), cycle - base,
                                   [](sim::Cycle c, const Segment& s) { return c < s.end; });
  current_ = {it == segments_.begin() ? base : base + std::prev(it)->end, base + it->end, it->busy};
}

sim::Cycle BusyPattern::next_change(sim::Cycle cycle) {
  const bool now = segment_of(cycle).busy;
  sim::Cycle end = current_.end;
  // The last and the first run of a period may be of one kind.
  if (end != sim::kNever && segment_of(end).busy == now) end = current_.end;
  return end;
}

}  // namespace ktpu::traffic
