// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph_to_schedule/sizes.h"

#include <algorithm>

#include "compiler/base/refusal.h"

namespace ktpu::graph_to_schedule {
namespace {

using base::Phase;
using base::Refusal;
using graph::Apply;
using graph::BufferId;
using graph::Leaf;
using schedule::Policy;

constexpr std::uint64_t kEverything = ~0ull >> 1;
constexpr std::uint64_t kWordElements = 16;  // FP16, of a memory word

std::uint64_t up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }
std::uint64_t less(std::uint64_t a, std::uint64_t b) { return a - std::min(a, b); }

// Padded rows: their columns; 0: the buffer lies in another order.
std::uint64_t padded_columns(const ChainPlace& chain, BufferId buffer) {
  return chain.orders.in(buffer, chain.stage).order.row_columns();
}
std::uint64_t in_memory(std::uint64_t elements, std::uint64_t columns) {
  if (columns == 0) return elements;
  return elements / columns * up(columns, kWordElements) + elements % columns;
}

// Elements a leaf has from its offset on.
std::uint64_t reach(const ChainPlace& chain, const Leaf& leaf) {
  if (leaf.kind != Leaf::Kind::kPart || (leaf.spread && leaf.spread->whole)) return kEverything;
  const std::uint64_t left = less(held_in(chain, leaf.buffer), offset_of(chain, leaf.buffer, leaf.offset));
  return leaf.spread ? up(left, spread_of(chain, leaf).period) : left;
}

// Elements from row to row, for a chain whose parts have to be whole rows; 0: they need not.
std::uint64_t row_pitch(const ChainPlace& chain) {
  if (chain.orders.policy == Policy::kCompat) return 0;
  if (const std::uint64_t columns = padded_columns(chain, chain.apply.target.buffer); columns != 0)
    return up(columns, kWordElements);
  const std::uint64_t columns = chain.orders.row_columns[chain.stage];
  if (columns != 0) return columns % kWordElements == 0 ? columns : 0;
  for (const base::Expr::Node& node : chain.apply.expr.nodes())
    if (base::is_fold(node.op) && node.row && node.row->columns % kWordElements == 0)
      return node.row->columns;
  return 0;
}

}  // namespace

std::uint64_t held_in(const ChainPlace& chain, BufferId buffer) {
  const BufferOrders& orders = chain.orders.of.at(buffer);
  if (chain.orders.policy == Policy::kCompat)
    return chain.before_padding ? orders.changes.front().bytes / 2 : orders.held;
  return chain.orders.in(buffer, chain.stage).bytes / 2;
}

std::uint64_t offset_of(const ChainPlace& chain, BufferId buffer, std::uint64_t offset) {
  return in_memory(offset, padded_columns(chain, buffer));
}

graph::Spread spread_of(const ChainPlace& chain, const Leaf& leaf) {
  const std::uint64_t columns = padded_columns(chain, leaf.buffer);
  graph::Spread spread = *leaf.spread;
  spread.period = in_memory(spread.period, columns);
  spread.take = in_memory(spread.take, columns);
  return spread;
}

ChainSize chain_size(const ChainPlace& chain, const std::vector<std::uint32_t>& grid) {
  const Apply& apply = chain.apply;
  ChainSize size;
  size.room =
      less(held_in(chain, apply.target.buffer), offset_of(chain, apply.target.buffer, apply.target.offset));
  for (const Leaf& leaf : apply.leaves) size.room = std::min(size.room, reach(chain, leaf));
  size.stride = size.asked_stride = apply.part;
  const bool counted = grid.size() == 1 && grid[0] > 0;
  if (counted && grid[0] * apply.part < size.room)
    size.stride = up((size.room + grid[0] - 1) / grid[0], 1024);
  const std::uint64_t pitch = row_pitch(chain);
  if (pitch == 0) {
    // Parts begin at memory words.
    if (chain.orders.policy == Policy::kBest) {
      size.stride = up(size.stride, kWordElements);
      size.asked_stride = up(size.asked_stride, kWordElements);
    }
    return size;
  }
  const std::uint64_t padded = padded_columns(chain, apply.target.buffer);
  if (padded == 0 && size.stride % pitch == 0 && apply.part % pitch == 0) return size;
  const std::uint64_t columns = padded == 0 ? pitch : padded;
  size.stride = counted ? std::max(pitch, up((size.room + grid[0] - 1) / grid[0], pitch))
                        : up(apply.part, columns) / columns * pitch;
  size.asked_stride = size.stride;
  return size;
}

std::uint64_t chain_span(const ChainPlace& chain, std::uint64_t stride) {
  const auto part = [](const base::Index& index) { return static_cast<std::uint64_t>(index.at({})); };
  const graph::Target& target = chain.apply.target;
  std::uint64_t span =
      std::min(stride, less(held_in(chain, target.buffer),
                            part(target.part) * stride + offset_of(chain, target.buffer, target.offset)));
  for (const Leaf& leaf : chain.apply.leaves)
    if (leaf.kind == Leaf::Kind::kPart && !(leaf.spread && leaf.spread->whole))
      span = std::min(span, less(reach(chain, leaf), part(leaf.part) * stride));
  return span;
}

void validate_chain(const graph::Graph& graph, const ChainPlace& chain) {
  const Leaf* first = nullptr;
  for (const Leaf& leaf : chain.apply.leaves) {
    if (leaf.kind == Leaf::Kind::kChannel && chain.orders.policy == Policy::kCompat) {
      // The reference counts elements here, although the read is by words.
      const graph::Buffer& bias = graph.buffers[leaf.buffer];
      if (held_in(chain, leaf.buffer) % bias.elements() != 0)
        throw Refusal(Phase::kLayout, "SPREAD_OF_PADDED",
                      fmt::format("%{} has {} values, and its padded copies hold {}", bias.name,
                                  bias.elements(), held_in(chain, leaf.buffer)),
                      "choose gn so that the columns divide them");
    }
    if (leaf.kind != Leaf::Kind::kPart) continue;
    if (leaf.spread) {
      if (held_in(chain, leaf.buffer) % spread_of(chain, leaf).take != 0)
        throw Refusal(
            Phase::kLayout, "SPREAD_OF_PADDED",
            fmt::format("%{} is read {} elements at a time, and holds {}", graph.buffers[leaf.buffer].name,
                        spread_of(chain, leaf).take, held_in(chain, leaf.buffer)),
            "a buffer that is spread holds a whole number of takes, without padding");
      continue;
    }
    if (leaf.buffer == chain.apply.target.buffer || leaf.offset != 0) continue;
    if (first != nullptr && reach(chain, *first) != reach(chain, leaf))
      throw Refusal(Phase::kLayout, "REACH_DIFFERS",
                    fmt::format("%{} holds {} elements and %{} {}", graph.buffers[first->buffer].name,
                                reach(chain, *first), graph.buffers[leaf.buffer].name, reach(chain, leaf)),
                    "operands of one expression have the same shape and order");
    if (first == nullptr) first = &leaf;
  }
}

}  // namespace ktpu::graph_to_schedule
