// SPDX-License-Identifier: Apache-2.0
// One of the mover's two six-dimensional affine descriptors and its position (memory.md sections 10.1, 10.2).
#pragma once

#include <array>
#include <cstdint>

#include "arch/encoding/address_map.h"
#include "arch/encoding/mover.h"
#include "tlm/sim/archive.h"

namespace ktpu::memory {

class MoverWalker {
 public:
  // Registers. None is buffered: each acts on the running walk.
  void set_base(std::uint64_t base, unsigned ndim);  // ndim above 6 acts as 6
  // `stride` in bytes; `axis` 0 none, 1, 2; other dimensions than 0..5 and axis 3 do not exist.
  void set_dimension(unsigned dimension, std::uint16_t count, std::int32_t stride, unsigned axis,
                     std::int16_t axis_step);
  void set_extent(unsigned axis, std::int16_t base, std::uint16_t extent);  // axis 0, 1; extent 0: unbounded

  // Back to the first element.
  void restart();
  // Of the present element.
  std::uint64_t address() const;  // 40 bits
  bool valid() const;             // inside every bounded axis
  bool at_last() const;
  std::uint64_t base() const { return base_; }
  // To the next element; stays on the last one.
  void step();

  void reset() { *this = {}; }
  void visit(sim::Archive& archive);

 private:
  // Sums of index times stride run along, so that a stride changed on the way counts for later steps only.
  struct Dimension {
    std::uint16_t count = 0;  // 0 acts as 1
    std::uint16_t index = 0;
    std::int32_t stride = 0;
    std::uint8_t axis = 0;
    std::int16_t axis_step = 0;
    std::int64_t sum = 0;
    std::int64_t axis_sum = 0;
    bool at_last() const { return index + 1 >= count; }
  };
  struct Axis {
    std::int16_t base = 0;
    std::uint16_t extent = 0;
  };

  std::uint64_t base_ = 0;
  unsigned ndim_ = 1;
  std::array<Dimension, arch::mover::kDimensions> dimensions_{};
  std::array<Axis, arch::mover::kAxes> axes_{};
};

}  // namespace ktpu::memory
