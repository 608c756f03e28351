// SPDX-License-Identifier: Apache-2.0
// Address descriptors and the walk over one (vector.md section 5.1).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "tlm/sim/archive.h"

namespace ktpu::vector {

inline constexpr unsigned kDimensions = 4;

struct Descriptor {
  static constexpr std::uint64_t kAddressMask = (1ull << 40) - 1;

  std::uint64_t base = 0;                          // 40 bits: a byte address, an L1 word, or a peer record
  std::array<std::int32_t, kDimensions> stride{};  // 18 bits, signed
  std::array<std::uint32_t, kDimensions> bound{1, 1, 1, 1};  // 16 bits, 0 acts as 1

  std::uint32_t steps(unsigned d) const { return std::max(bound[d], 1u); }
  // Words of the whole walk; each half saturates at 16 bits.
  std::uint64_t total() const {
    const auto half = [this](unsigned d) {
      return std::min<std::uint64_t>(std::uint64_t{steps(d)} * steps(d + 1), 0xFFFF);
    };
    return half(0) * half(2);
  }
};

// Dimension 0 is innermost. At its last index the walk stays.
class AddressWalk {
 public:
  void start(const Descriptor& descriptor, std::int64_t offset) {
    descriptor_ = &descriptor;
    index_ = {};
    address_ = (descriptor.base + static_cast<std::uint64_t>(offset)) & Descriptor::kAddressMask;
  }
  std::uint64_t address() const { return address_; }

  void step() {
    std::uint64_t next = address_;
    for (unsigned d = 0; d < kDimensions; ++d) {
      const auto stride = static_cast<std::uint64_t>(std::int64_t{descriptor_->stride[d]});
      if (index_[d] + 1 < descriptor_->steps(d)) {
        ++index_[d];
        address_ = (next + stride) & Descriptor::kAddressMask;
        return;
      }
      next -= index_[d] * stride;
      carried_[d] = index_[d];
      index_[d] = 0;
    }
    index_ = carried_;  // past the last index
  }

  // `descriptors`: where the walked one is kept, so that a checkpoint can name it.
  void visit(sim::Archive& a, const std::array<Descriptor, 8>& descriptors) {
    auto which = static_cast<std::uint8_t>(descriptor_ - descriptors.data());
    a.state("descriptor", which, 3);
    if (a.restores()) descriptor_ = &descriptors[which % 8];
    a.state("address", address_, 40);
    a.memory("index", index_.data(), index_.size());
  }
  void bind(const Descriptor& descriptor) { descriptor_ = &descriptor; }

 private:
  const Descriptor* descriptor_ = nullptr;
  std::uint64_t address_ = 0;
  std::array<std::uint32_t, kDimensions> index_{}, carried_{};
};

}  // namespace ktpu::vector
