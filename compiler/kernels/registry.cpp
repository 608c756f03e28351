// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/kernels/kernels.h"
#include "compiler/kernels/library.h"

namespace ktpu::kernels {
namespace {

// Made once, when first asked for.
const std::vector<kernel::Definition>& registry() {
  static const std::vector<kernel::Definition> kAll = [] {
    std::vector<kernel::Definition> made;
    add_elementwise(made);
    add_rows(made);
    add_wide_rows(made);
    add_matmul(made);
    add_gated(made);
    add_attention(made);
    add_conv(made);
    add_custom(made);
    // Parts of whole vectors, where a kernel has no needs of its own.
    constexpr std::int64_t kVector = 128;
    for (kernel::Definition& each : made)
      if (!each.settle && each.knobs.contains("part"))
        each.settle = [](const kernel::Kernel&, kernel::Knobs& knobs) { settle_part(knobs, kVector); };
    std::sort(made.begin(), made.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return made;
  }();
  return kAll;
}

}  // namespace

const kernel::Definition* find(std::string_view name) {
  for (const kernel::Definition& one : registry())
    if (one.name == name) return &one;
  return nullptr;
}

std::vector<const kernel::Definition*> all() {
  std::vector<const kernel::Definition*> list;
  for (const kernel::Definition& one : registry()) list.push_back(&one);
  return list;
}

}  // namespace ktpu::kernels
