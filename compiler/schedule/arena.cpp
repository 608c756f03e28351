// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/arena.h"

#include <algorithm>

namespace ktpu::schedule {

Arena::Arena(std::uint64_t base, std::uint64_t size, std::uint64_t alignment)
    : base_(base), size_(size), alignment_(alignment), top_(base) {
  if (alignment == 0 || base % alignment != 0)
    throw arch::UserError::make("an arena at {:#x} cannot be aligned to {} bytes", base, alignment);
}

Address Arena::allocate(std::uint64_t bytes) {
  const std::uint64_t end = base_ + size_;
  const auto no_room = [&] {
    return OutOfMemory(
        fmt::format("{} bytes do not fit the arena at {:#x}: {} of {} bytes are used, the "
                    "longest free span has {}; release tensors or give it more",
                    bytes, base_, stats().used, size_, stats().largest_free));
  };
  if (bytes > size_) throw no_room();
  const std::uint64_t units = std::max<std::uint64_t>(1, (bytes + alignment_ - 1) / alignment_);
  const std::uint64_t wanted = units * alignment_;
  auto best = free_.end();
  for (auto span = free_.begin(); span != free_.end(); ++span)
    if (span->second >= wanted && (best == free_.end() || span->second < best->second)) best = span;
  std::uint64_t at = top_;
  if (best != free_.end()) {
    at = best->first;
    if (best->second > wanted) free_.emplace(at + wanted, best->second - wanted);
    free_.erase(best);
  } else {
    if (wanted > end - top_) throw no_room();
    top_ += wanted;
    peak_ = std::max(peak_, top_ - base_);
  }
  live_.emplace(at, wanted);
  return {at, epoch_};
}

void Arena::release(Address address) {
  const auto found = live_.find(address.value_);
  if (address.epoch_ != epoch_ || found == live_.end())
    throw arch::UserError::make("{:#x} is not allocated: it was released, or the arena was reset since",
                                address.value_);
  const auto span = free_.emplace(found->first, found->second).first;
  live_.erase(found);
  if (const auto next = std::next(span); next != free_.end() && span->first + span->second == next->first) {
    span->second += next->second;
    free_.erase(next);
  }
  if (span == free_.begin()) return;
  if (const auto before = std::prev(span); before->first + before->second == span->first) {
    before->second += span->second;
    free_.erase(span);
  }
}

std::uint64_t Arena::trim() {
  if (free_.empty()) return 0;
  const auto last = std::prev(free_.end());
  if (last->first + last->second != top_) return 0;
  const std::uint64_t bytes = last->second;
  top_ = last->first;
  free_.erase(last);
  return bytes;
}

void Arena::reset() {
  live_.clear();
  free_.clear();
  top_ = base_;
  ++epoch_;
}

std::uint64_t Arena::footprint(std::span<const std::uint64_t> sizes) const {
  Arena tried = *this;
  for (const std::uint64_t bytes : sizes) tried.allocate(bytes);
  return tried.peak_;
}

ArenaStats Arena::stats() const {
  ArenaStats s;
  s.live = live_.size();
  for (const auto& [at, bytes] : live_) s.used += bytes;
  s.peak = peak_;
  s.free_spans = free_.size();
  const std::uint64_t untouched = base_ + size_ - top_;
  std::uint64_t all = untouched;
  s.largest_free = untouched;
  for (const auto& [at, bytes] : free_) {
    all += bytes;
    s.largest_free = std::max(s.largest_free, bytes);
  }
  if (all != 0) s.fragmentation = 1 - static_cast<double>(s.largest_free) / static_cast<double>(all);
  return s;
}

std::string Arena::print() const {
  std::map<std::uint64_t, std::pair<std::uint64_t, const char*>> all;
  for (const auto& [at, bytes] : live_) all.emplace(at, std::pair(bytes, "live"));
  for (const auto& [at, bytes] : free_) all.emplace(at, std::pair(bytes, "free"));
  if (top_ != base_ + size_) all.emplace(top_, std::pair(base_ + size_ - top_, "untouched"));
  std::string text;
  for (const auto& [at, span] : all) text += fmt::format("{:#x} {} {}\n", at, span.first, span.second);
  return text;
}

std::string Arena::verify() const {
  Spans all = live_;
  all.insert(free_.begin(), free_.end());
  if (all.size() != live_.size() + free_.size()) return "a span is both live and free";
  std::uint64_t at = base_;
  for (const auto& [begin, bytes] : all) {
    if (begin != at) return fmt::format("{} {:#x}", begin < at ? "two spans share" : "no span holds", at);
    if (bytes == 0 || bytes % alignment_ != 0)
      return fmt::format("the span at {:#x} has {} bytes, no whole units of {}", begin, bytes, alignment_);
    at += bytes;
  }
  if (at != top_ || top_ > base_ + size_)
    return fmt::format("the spans end at {:#x}, not at {:#x}", at, top_);
  for (const auto& [begin, bytes] : free_)
    if (free_.contains(begin + bytes)) return fmt::format("two free spans meet at {:#x}", begin + bytes);
  return {};
}

}  // namespace ktpu::schedule
