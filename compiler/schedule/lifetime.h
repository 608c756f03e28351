// SPDX-License-Identifier: Apache-2.0
// When each temporary is needed, and one block of memory that holds them all (compiler.md section 24).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace ktpu::schedule {

// What a stage reads before it writes, by name.
struct StageAccess {
  std::vector<std::string> reads;
  std::vector<std::string> writes;
};

struct ScratchBuffer {
  std::string name;
  std::uint64_t bytes = 0;
};

// First and last stage in which the bytes belong to the buffer.
struct Lifetime {
  std::size_t first = 0;
  std::size_t last = 0;
  bool operator==(const Lifetime&) const = default;
};

// From the first write to the last access. The whole run when the buffer is never written, never read, or
// read no later than it is first written: then it holds something from outside the run.
std::map<std::string, Lifetime> lifetimes(std::span<const StageAccess> stages,
                                          std::span<const ScratchBuffer> buffers);

struct Placement {
  std::string name;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  // in whole units of the alignment
  Lifetime life;
};

struct ScratchBlock {
  std::uint64_t alignment = 1;
  std::uint64_t bytes = 0;
  std::vector<Placement> placements;  // in the order of the buffers

  const Placement* find(std::string_view name) const;
  std::string print() const;
  // Empty, or the first stage in which two buffers share a byte, or a buffer that lies outside.
  std::string verify() const;
};

// At each stage first room for what begins, in the order of the buffers, at the lowest free span that is
// long enough; then what ends gives its room back.
ScratchBlock pack(std::span<const StageAccess> stages, std::span<const ScratchBuffer> buffers,
                  std::uint64_t alignment);

}  // namespace ktpu::schedule
