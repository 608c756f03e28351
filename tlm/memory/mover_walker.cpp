// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/mover_walker.h"

#include <fmt/format.h>

#include <algorithm>

namespace ktpu::memory {

void MoverWalker::set_base(std::uint64_t base, unsigned ndim) {
  base_ = base & arch::address::kMask;
  ndim_ = std::min(ndim, arch::mover::kDimensions);
}

void MoverWalker::set_dimension(unsigned dimension, std::uint16_t count, std::int32_t stride, unsigned axis,
                                std::int16_t axis_step) {
  if (dimension >= dimensions_.size()) return;
  Dimension& d = dimensions_[dimension];
  d.count = count;
  d.stride = stride;
  d.axis = static_cast<std::uint8_t>(axis);
  d.axis_step = axis_step;
}

void MoverWalker::set_extent(unsigned axis, std::int16_t base, std::uint16_t extent) {
  axes_[axis] = {base, extent};
}

void MoverWalker::restart() {
  for (Dimension& d : dimensions_) {
    d.index = 0;
    d.sum = d.axis_sum = 0;
  }
}

std::uint64_t MoverWalker::address() const {
  std::uint64_t address = base_;
  for (unsigned i = 0; i < ndim_; ++i) address += static_cast<std::uint64_t>(dimensions_[i].sum);
  return address & arch::address::kMask;
}

bool MoverWalker::valid() const {
  for (unsigned a = 0; a < axes_.size(); ++a) {
    if (axes_[a].extent == 0) continue;
    std::int64_t position = axes_[a].base;
    for (unsigned i = 0; i < ndim_; ++i)
      if (dimensions_[i].axis == a + 1) position += dimensions_[i].axis_sum;
    if (position < 0 || position >= axes_[a].extent) return false;
  }
  return true;
}

bool MoverWalker::at_last() const {
  for (unsigned i = 0; i < ndim_; ++i)
    if (!dimensions_[i].at_last()) return false;
  return true;
}

void MoverWalker::step() {
  if (at_last()) return;
  for (unsigned i = ndim_; i-- > 0;) {
    Dimension& d = dimensions_[i];
    if (!d.at_last()) {
      ++d.index;
      d.sum += d.stride;
      d.axis_sum += d.axis_step;
      return;
    }
    d.index = 0;
    d.sum = d.axis_sum = 0;
  }
}

void MoverWalker::visit(sim::Archive& archive) {
  archive.state("base", base_, arch::address::kBits);
  archive.state("ndim", ndim_, 3);
  for (unsigned i = 0; i < dimensions_.size(); ++i) {
    Dimension& d = dimensions_[i];
    archive.scope(fmt::format("dimension{}", i), [&] {
      archive.state("count", d.count);
      archive.state("index", d.index);
      archive.state("stride", d.stride);
      archive.state("axis", d.axis, 2);
      archive.state("axis_step", d.axis_step);
      archive.state("sum", d.sum);
      archive.state("axis_sum", d.axis_sum);
    });
  }
  for (unsigned a = 0; a < axes_.size(); ++a) {
    archive.scope(fmt::format("axis{}", a + 1), [&] {
      archive.state("base", axes_[a].base);
      archive.state("extent", axes_[a].extent);
    });
  }
}

}  // namespace ktpu::memory
