// SPDX-License-Identifier: Apache-2.0
// How the vector core's address generators walk memory to put a flat image into entry order, in words of 32
// bytes (compiler.md section 9).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ktpu::schedule {

struct WalkDim {
  std::uint64_t stride = 1;
  std::uint64_t bound = 1;
  bool operator==(const WalkDim&) const = default;
};

// A flat image of rows x k, and the entries that it becomes.
struct EntryShape {
  std::uint64_t rows = 0, k = 0;
  std::uint64_t groups = 1, blocks = 1;
  std::uint64_t lanes = 4, k_block = 32;
};

// Innermost dimension first. Nothing when the image is no whole number of chunks, when the walk has more
// dimensions than a descriptor or more words than it can count: then the host reorders.
using EntryWalk = std::vector<WalkDim>;
std::optional<EntryWalk> entry_walk(const EntryShape& shape);

// Empty, or what a descriptor cannot do about it.
std::string verify(const EntryWalk& walk);
std::string print(const EntryWalk& walk);

}  // namespace ktpu::schedule
