// SPDX-License-Identifier: Apache-2.0
// The parts of verify(Schedule). Each throws UserError. Internal to the level.
#pragma once

#include <algorithm>
#include <limits>
#include <string>

#include "compiler/schedule/schedule.h"

namespace ktpu::schedule {

// Sums and products of numbers that a text may have made up: too large stays too large.
inline constexpr std::uint64_t kTooLarge = std::numeric_limits<std::uint64_t>::max() / 2;
inline std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t r = 0;
  return __builtin_mul_overflow(a, b, &r) || r > kTooLarge ? kTooLarge : r;
}
inline std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  std::uint64_t r = 0;
  return __builtin_add_overflow(a, b, &r) || r > kTooLarge ? kTooLarge : r;
}

inline constexpr std::uint64_t kTileElements = 16;    // a sub-tile of 4 x 4
inline constexpr std::uint64_t kEntryElements = 128;  // 4 lanes of 32
inline constexpr std::uint64_t kLaneElements = 32;    // one lane of an entry, 64 bytes

// Elements of one batch element, in its widest order.
inline std::uint64_t reach(const Buffer& buffer) { return std::max(buffer.held, buffer.held_widest); }
inline std::uint64_t first_element(const Fill& fill) {
  const std::uint64_t entries = product(fill.groups, fill.blocks);
  return sum(product(product(sum(product(fill.tile, fill.chunks), fill.chunk), entries), kEntryElements),
             product(fill.lane, kLaneElements));
}
inline std::uint64_t elements(const Fill& fill) {
  return product(product(fill.groups, fill.blocks), kEntryElements);
}

std::string place(std::size_t stage);
std::string place(std::size_t stage, const Instance& instance);
std::string place(std::size_t stage, const Instance& instance, std::size_t statement);

// Buffers: shapes, sizes, addresses, and who shares memory with whom.
void check_memory(const Schedule& schedule);
// Stages: keys, units, what a cluster holds when it multiplies, who feeds whom. Needs ids that check_ids has
// seen.
void check_ids(const Schedule& schedule);
void check_stages(const Schedule& schedule);
// Every result element is written exactly once by a stage, and before it is read (section 7).
void check_results(const Schedule& schedule);

}  // namespace ktpu::schedule
