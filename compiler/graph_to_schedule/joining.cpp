// SPDX-License-Identifier: Apache-2.0
// Which whole-buffer statements share a pass: those one vector program can run, each result handed on in a
// register.
#include "compiler/graph_to_schedule/joining.h"

#include <algorithm>

#include "compiler/graph_to_schedule/stages.h"

namespace ktpu::graph_to_schedule {

using graph::Apply;
using graph::Leaf;

namespace {

constexpr std::uint32_t kDescriptors = 8;
constexpr std::uint64_t kLanes = 16, kVlMax = 128;

bool is_result(const Leaf& leaf, const Apply& writer) {
  return leaf.kind == Leaf::Kind::kPart && !leaf.spread && leaf.buffer == writer.target.buffer &&
         leaf.part == writer.target.part && leaf.offset == writer.target.offset;
}
bool in_memory(const Leaf& leaf) {
  return leaf.kind == Leaf::Kind::kPart || leaf.kind == Leaf::Kind::kTile ||
         leaf.kind == Leaf::Kind::kChannel;
}

// All folds along rows of one known shape that fits the lanes.
bool folds_agree(const std::vector<const Apply*>& statements) {
  std::optional<base::RowShape> shape;
  for (const Apply* apply : statements)
    for (const base::Expr::Node& node : apply->expr.nodes()) {
      if (!base::is_fold(node.op)) continue;
      if (!node.row || node.row->columns % kLanes != 0 || node.row->columns > kVlMax) return false;
      if (shape && *shape != *node.row) return false;
      shape = node.row;
    }
  return true;
}

}  // namespace

std::uint32_t descriptor_budget(const std::vector<const Apply*>& statements) {
  std::vector<const Leaf*> slots;
  std::uint32_t regions = 0;
  for (std::size_t s = 0; s < statements.size(); ++s) {
    const Apply& apply = *statements[s];
    for (const Leaf& leaf : apply.leaves) {
      const bool made = std::any_of(statements.begin(), statements.begin() + static_cast<std::ptrdiff_t>(s),
                                    [&](const Apply* writer) { return is_result(leaf, *writer); });
      const bool known =
          std::any_of(slots.begin(), slots.end(), [&](const Leaf* other) { return *other == leaf; });
      if (!made && !known) slots.push_back(&leaf);
    }
    regions += s == 0 || statements[s - 1]->target.buffer != apply.target.buffer;
  }
  return 2 * static_cast<std::uint32_t>(slots.size()) + 1 + regions;
}

bool depends(const Apply& apply, const Apply& writer, bool* exactly) {
  bool any = false;
  *exactly = true;
  for (const Leaf& leaf : apply.leaves) {
    if (!in_memory(leaf) || leaf.buffer != writer.target.buffer) continue;
    any = true;
    *exactly = *exactly && is_result(leaf, writer);
  }
  return any;
}

bool joins(const std::vector<const Apply*>& held, const Apply& next, bool guard_overwrites) {
  bool dependent = false;
  for (const Apply* writer : held) {
    bool exactly = true;
    if (!depends(next, *writer, &exactly)) continue;
    if (!exactly) return false;
    dependent = true;
  }
  // An instance must not overwrite what another one has yet to read.
  if (guard_overwrites)
    for (const Apply* reader : held) {
      bool exactly = true;
      if (depends(*reader, next, &exactly) && !exactly) return false;
    }
  if (!dependent) return true;
  std::vector<const Apply*> all = held;
  all.push_back(&next);
  return descriptor_budget(all) <= kDescriptors && folds_agree(all);
}

}  // namespace ktpu::graph_to_schedule
