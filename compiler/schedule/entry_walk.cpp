// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/entry_walk.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/error.h"

namespace ktpu::schedule {
namespace {

constexpr std::size_t kMaxDims = 4;       // AGU_DIMS
constexpr std::uint64_t kMaxWords = 256;  // AGU_WALK
constexpr std::uint64_t kWordValues = 16;

}  // namespace

std::optional<EntryWalk> entry_walk(const EntryShape& s) {
  if (s.rows == 0 || s.k == 0 || s.groups == 0 || s.blocks == 0 || s.lanes == 0 || s.k_block == 0 ||
      s.k_block % kWordValues != 0)
    throw arch::UserError::make("an entry walk of {}x{} in {}x{} entries of {}x{} values is none", s.rows,
                                s.k, s.groups, s.blocks, s.lanes, s.k_block);
  if (s.rows % (s.groups * s.lanes) != 0 || s.k % (s.blocks * s.k_block) != 0) return std::nullopt;
  const std::uint64_t width = s.k_block / kWordValues;  // words of one lane of an entry
  const std::uint64_t entry = s.lanes * width, chunk = s.groups * s.blocks * entry;
  const std::uint64_t tiles = s.rows / (s.groups * s.lanes), chunks = s.k / (s.blocks * s.k_block);
  // Along the flat image, from the inside: words of a lane, blocks, chunks, lanes, groups, tiles.
  const WalkDim flat[] = {{1, width},
                          {entry, s.blocks},
                          {chunk, chunks},
                          {width, s.lanes},
                          {s.blocks * entry, s.groups},
                          {chunks * chunk, tiles}};
  EntryWalk walk;
  for (const WalkDim& dim : flat) {
    if (dim.bound == 1) continue;
    if (!walk.empty() && dim.stride == walk.back().stride * walk.back().bound)
      walk.back().bound *= dim.bound;
    else
      walk.push_back(dim);
  }
  if (!verify(walk).empty()) return std::nullopt;
  return walk;
}

std::string verify(const EntryWalk& walk) {
  if (walk.size() > kMaxDims) return fmt::format("{} dimensions, a descriptor has {}", walk.size(), kMaxDims);
  std::uint64_t words = 1;
  for (const WalkDim& dim : walk) words *= dim.bound;
  if (words > kMaxWords) return fmt::format("{} words, a walk has at most {}", words, kMaxWords);
  return {};
}

std::string print(const EntryWalk& walk) {
  std::string text;
  for (const WalkDim& dim : walk)
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", dim.bound, dim.stride);
  return text.empty() ? "one word" : text;
}

}  // namespace ktpu::schedule
