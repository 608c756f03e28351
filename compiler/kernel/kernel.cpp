// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernel/kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ktpu::kernel {

std::uint64_t elements(const Shape& shape) {
  std::uint64_t n = 1;
  for (const std::uint32_t axis : shape) n *= axis;
  return n;
}

std::string print(const Shape& shape) { return fmt::format("{}", fmt::join(shape, "x")); }

}  // namespace ktpu::kernel
