// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/graph.h"

#include <algorithm>

#include "arch/error.h"

namespace ktpu::graph {

std::uint64_t Buffer::elements() const {
  std::uint64_t count = 1;
  for (const std::uint32_t extent : shape) count *= extent;
  return count;
}

bool Apply::has_resident() const {
  return std::any_of(leaves.begin(), leaves.end(),
                     [](const Leaf& leaf) { return leaf.kind == Leaf::Kind::kResident; });
}

BufferId Graph::find(std::string_view buffer) const {
  const auto found =
      std::find_if(buffers.begin(), buffers.end(), [&](const Buffer& b) { return b.name == buffer; });
  if (found == buffers.end()) throw arch::UserError::make("graph @{} has no buffer %{}", name, buffer);
  return static_cast<BufferId>(found - buffers.begin());
}

namespace {

bool in_memory(const Leaf& leaf) {
  return leaf.kind == Leaf::Kind::kPart || leaf.kind == Leaf::Kind::kTile ||
         leaf.kind == Leaf::Kind::kChannel;
}

}  // namespace

std::vector<BufferId> reads(const Node& node) {
  if (const Fill* fill = std::get_if<Fill>(&node.it)) return {fill->buffer};
  std::vector<BufferId> buffers;
  if (const Apply* apply = std::get_if<Apply>(&node.it))
    for (const Leaf& leaf : apply->leaves)
      if (in_memory(leaf) && std::find(buffers.begin(), buffers.end(), leaf.buffer) == buffers.end())
        buffers.push_back(leaf.buffer);
  return buffers;
}

std::vector<BufferId> writes(const Node& node) {
  if (const Drain* drain = std::get_if<Drain>(&node.it)) return {drain->buffer};
  if (const Apply* apply = std::get_if<Apply>(&node.it)) return {apply->target.buffer};
  return {};
}

}  // namespace ktpu::graph
