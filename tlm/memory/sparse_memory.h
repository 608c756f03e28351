// SPDX-License-Identifier: Apache-2.0
// The bytes behind a DRAM: zero at the start, pages made when first written.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tlm/sim/archive.h"

namespace ktpu::memory {

struct SparseMemoryConfig {
  std::uint64_t base = 0;           // first byte address
  std::uint64_t size = 1ull << 30;  // bytes, > 0
  bool wrap = false;                // the byte address is taken modulo `size`; nothing is outside
};

class SparseMemory {
 public:
  static constexpr std::uint64_t kPageBytes = 1u << 16;

  explicit SparseMemory(const SparseMemoryConfig& config);

  const SparseMemoryConfig& config() const { return config_; }
  // Whether all of [addr, addr + bytes) is populated. Only address bits [35:0] count (memory.md section 3).
  bool contains(std::uint64_t addr, std::uint64_t bytes) const;

  // Bytes outside read as zero and are not written; whoever may not go there asks contains() first.
  void read(std::uint64_t addr, std::span<std::uint8_t> out) const;
  void write(std::uint64_t addr, std::span<const std::uint8_t> in);
  void clear();

  // For checkpoints: the pages ever written.
  void visit(sim::Archive& archive);
  // Equal for equal bytes, whatever was written on the way.
  std::uint64_t digest() const;

  // Calls f(byte address, span of kPageBytes or less) for each page ever written, in ascending order.
  template <typename F>
  void for_each_page(F&& f) const {
    for (std::uint64_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g] == nullptr) continue;
      for (std::uint64_t p = 0; p < kGroupPages; ++p) {
        const std::uint8_t* page = (*groups_[g])[p].get();
        if (page == nullptr) continue;
        const std::uint64_t offset = (g * kGroupPages + p) * kPageBytes;
        f((config_.wrap ? 0 : config_.base) + offset,
          std::span<const std::uint8_t>(page, std::min(kPageBytes, config_.size - offset)));
      }
    }
  }

 private:
  static constexpr std::uint64_t kGroupPages = 1024;
  static constexpr std::uint64_t kOutside = ~0ull;
  using Group = std::array<std::unique_ptr<std::uint8_t[]>, kGroupPages>;

  // Offset into the store, kOutside when not populated.
  std::uint64_t offset_of(std::uint64_t addr) const;
  const std::uint8_t* find(std::uint64_t page) const;
  std::uint8_t* make(std::uint64_t page);

  SparseMemoryConfig config_;
  std::vector<std::unique_ptr<Group>> groups_;
};

}  // namespace ktpu::memory
