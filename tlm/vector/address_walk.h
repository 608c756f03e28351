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
  using Descriptors = std::array<Descriptor, 8>;

  // `descriptors` outlive the walk.
  explicit AddressWalk(const Descriptors& descriptors) : descriptors_(&descriptors) {}

  void start(unsigned descriptor, std::int64_t offset) {
    which_ = static_cast<std::uint8_t>(descriptor % descriptors_->size());
    index_ = {};
    address_ = (walked().base + static_cast<std::uint64_t>(offset)) & Descriptor::kAddressMask;
  }
  void reset() { which_ = 0; }
  std::uint64_t address() const { return address_; }

  void step() {
    const Descriptor& descriptor = walked();
    std::uint64_t next = address_;
    for (unsigned d = 0; d < kDimensions; ++d) {
      const auto stride = static_cast<std::uint64_t>(std::int64_t{descriptor.stride[d]});
      if (index_[d] + 1 < descriptor.steps(d)) {
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

  void visit(sim::Archive& a) {
    a.state("descriptor", which_, 3);
    a.state("address", address_, 40);
    a.memory("index", index_.data(), index_.size());
  }

 private:
  const Descriptor& walked() const { return (*descriptors_)[which_]; }

  const Descriptors* descriptors_;
  std::uint8_t which_ = 0;
  std::uint64_t address_ = 0;
  std::array<std::uint32_t, kDimensions> index_{}, carried_{};
};

}  // namespace ktpu::vector
