// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph_to_schedule/orders.h"

#include <algorithm>

#include "compiler/base/refusal.h"

namespace ktpu::graph_to_schedule {
namespace {

using base::CannotFuse;
using base::Phase;
using base::Refusal;
using graph::Apply;
using graph::BufferId;
using graph::Leaf;
using schedule::Layout;
using schedule::Policy;

constexpr std::uint64_t kGrain = 2048;  // bytes between batch elements, BATCH_BYTES of section 2

std::uint64_t up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

class Choosing {
 public:
  Choosing(const graph::Graph& graph, const std::vector<ProtoStage>& stages, Policy policy)
      : graph_(graph), policy_(policy) {
    for (stage_ = 0; stage_ < stages.size(); ++stage_)
      if (!stages[stage_].places.empty())
        for (const Statement& statement : stages[stage_].places.front()) require(stages[stage_], statement);
    check_ports();
    for (auto& [id, orders] : orders_.of) measure(graph_.buffers[id], orders);
  }
  Orders take() { return std::move(orders_); }

 private:
  void need(BufferId buffer, const Layout& order) {
    if (!orders_.of.contains(buffer)) orders_.touched.push_back(buffer);
    std::vector<Change>& changes = orders_.of[buffer].changes;
    if (changes.empty() || !(changes.back().order == order)) changes.push_back({stage_, order, 0});
  }
  const Layout* latest(BufferId buffer) const {
    const auto found = orders_.of.find(buffer);
    return found == orders_.of.end() ? nullptr : &found->second.changes.back().order;
  }

  // Where the drains of a stage's grid put a buffer. Rows that no instance produces come behind all others.
  Layout tiles(const ProtoStage& stage, BufferId buffer, std::uint32_t gm, std::uint32_t gn) const {
    std::uint32_t rows = stage.grid.empty() ? 1 : stage.grid[0], columns = 1;
    for (std::size_t i = 1; i < stage.grid.size(); ++i) columns *= stage.grid[i];
    const std::vector<std::uint32_t>& shape = graph_.buffers[buffer].shape;
    if (policy_ == Policy::kBest && shape.size() == 2)
      rows = std::max(rows, static_cast<std::uint32_t>((shape[0] + 4ull * gm - 1) / (4ull * gm)));
    return Layout::tile(rows, columns, gm, gn);
  }

  void require(const ProtoStage& stage, const Statement& statement) {
    if (const auto* fill = std::get_if<graph::Fill>(&statement)) {
      need(fill->buffer, fill->order.kind == graph::FillOrder::Kind::kConv
                             ? Layout::conv_entry(fill->order.groups)
                             : Layout::entry(fill->order.groups, fill->order.blocks));
    } else if (const auto* drain = std::get_if<graph::Drain>(&statement)) {
      need(drain->buffer, tiles(stage, drain->buffer, drain->gm, drain->gn));
    } else if (const auto* node_drain = std::get_if<NodeDrain>(&statement)) {
      delivered_[node_drain->tile] = *node_drain;
    } else if (const auto* apply = std::get_if<Apply>(&statement)) {
      require(stage, *apply);
    }
  }

  void require(const ProtoStage& stage, const Apply& apply) {
    if (apply.has_resident()) return resident(stage, apply);
    const bool fold = apply.expr.has_fold();
    Layout order = Layout::flat();
    if (!fold && !apply.reduce) {
      const Layout* found = nullptr;
      for (const Leaf& leaf : apply.leaves)
        if (found == nullptr && leaf.kind == Leaf::Kind::kPart) found = latest(leaf.buffer);
      if (found == nullptr) found = latest(apply.target.buffer);
      if (found != nullptr) order = *found;
    }
    if (!apply.reduce) need(apply.target.buffer, order);
    for (const Leaf& leaf : apply.leaves)
      if (leaf.kind == Leaf::Kind::kPart) need(leaf.buffer, leaf.spread ? Layout::flat() : order);
    if (apply.reduce) need(apply.target.buffer, order);
  }

  void resident(const ProtoStage& stage, const Apply& apply) {
    const NodeDrain* tile = nullptr;
    std::uint32_t side_operands = 0;
    for (const Leaf& leaf : apply.leaves) {
      side_operands += leaf.kind == Leaf::Kind::kChannel;
      if (leaf.kind == Leaf::Kind::kPart || leaf.kind == Leaf::Kind::kTile)
        throw CannotFuse(Phase::kLayout, "SIDE_OPERAND_OF_FULL_SHAPE",
                         fmt::format("%{} is read element by element beside a resident accumulator",
                                     graph_.buffers[leaf.buffer].name),
                         "stage the epilogue (knob fuse = false)");
      if (leaf.kind != Leaf::Kind::kResident) continue;
      const NodeDrain& other = delivered_.at(leaf.tile);
      if (tile != nullptr && (tile->gm != other.gm || tile->gn != other.gn))
        throw Refusal(Phase::kLayout, "TILES_DIFFER", "an epilogue combines accumulators of different shapes",
                      "give all tiles of one epilogue the same gm and gn");
      tile = &other;
    }
    KTPU_CHECK(tile != nullptr, "a resident epilogue without a tile");
    if (side_operands > 1)
      throw Refusal(Phase::kLayout, "TWO_SIDE_OPERANDS",
                    "a resident epilogue reads two operands beside its accumulators",
                    "an epilogue on the vector core has room for one: add them up beforehand");
    need(apply.target.buffer, tiles(stage, apply.target.buffer, tile->gm, tile->gn));
    for (const Leaf& leaf : apply.leaves)
      if (leaf.kind == Leaf::Kind::kChannel) need(leaf.buffer, Layout::channel_bias(tile->gn));
  }

  void check_ports() const {
    for (BufferId id = 0; id < graph_.buffers.size(); ++id) {
      const graph::Buffer& buffer = graph_.buffers[id];
      if (buffer.role != graph::Role::kIn && buffer.role != graph::Role::kOut) continue;
      const auto found = orders_.of.find(id);
      if (found == orders_.of.end())
        throw Refusal(Phase::kLayout, "PORT_UNTOUCHED",
                      fmt::format("port %{} is neither read nor written", buffer.name),
                      "use it, or take it out of the kernel");
      if (policy_ == Policy::kCompat && found->second.changes.size() > 1)
        throw Refusal(Phase::kLayout, "PORT_TWO_ORDERS",
                      fmt::format("port %{} is needed as {} and as {}", buffer.name,
                                  found->second.changes[0].order.key(), found->second.changes[1].order.key()),
                      "tile both uses alike, or copy it to a temporary");
    }
  }

  void measure(const graph::Buffer& buffer, BufferOrders& orders) const {
    const auto bytes = [&](const Layout& order) {
      // Rows of a result that no instance sweeps have no place in memory; an operand needs one for all.
      if (buffer.role != graph::Role::kIn)
        if (const auto tiles = order.tile_bytes()) return *tiles;
      try {
        return order.nbytes(buffer.shape);
      } catch (const arch::UserError& error) {
        throw Refusal(Phase::kPack, "LAYOUT_SHAPE", fmt::format("%{}: {}", buffer.name, error.what()),
                      "choose a tiling that covers the tensor");
      }
    };
    for (Change& change : orders.changes) {
      orders.widest_bytes = std::max(orders.widest_bytes, bytes(change.order));
      change.held = bytes(change.order) / 2;
    }
    const std::uint64_t first = bytes(orders.changes.front().order);
    orders.held = first / 2;
    orders.held_widest = orders.widest_bytes / 2;
    orders.nbytes = orders.widest_bytes;
    if (buffer.batched && graph_.batch > 1) {
      orders.batch_stride = up(orders.widest_bytes, kGrain);
      orders.nbytes = orders.batch_stride * graph_.batch;
      orders.held = orders.held_widest = orders.batch_stride / 2;
    }
  }

  const graph::Graph& graph_;
  Policy policy_;
  Orders orders_;
  std::size_t stage_ = 0;
  std::map<graph::TileId, NodeDrain> delivered_;
};

constexpr std::uint64_t kEverything = ~0ull >> 1;

// Elements a leaf has from its offset on.
std::uint64_t reach(const Leaf& leaf, const Orders& orders) {
  if (leaf.kind != Leaf::Kind::kPart || (leaf.spread && leaf.spread->whole)) return kEverything;
  const std::uint64_t held = orders.of.at(leaf.buffer).held;
  const std::uint64_t left = held - std::min(held, leaf.offset);
  return leaf.spread ? up(left, leaf.spread->period) : left;
}

std::uint64_t less(std::uint64_t a, std::uint64_t b) { return a - std::min(a, b); }

}  // namespace

Orders choose_orders(const graph::Graph& graph, const std::vector<ProtoStage>& stages, Policy policy) {
  return Choosing(graph, stages, policy).take();
}

Orders orders_at(const Orders& orders, std::size_t stage) {
  Orders now = orders;
  for (auto& [id, buffer] : now.of) {
    buffer.held = buffer.changes.front().held;
    for (const Change& change : buffer.changes)
      if (change.stage <= stage) buffer.held = change.held;
  }
  return now;
}

Orders first_orders(const Orders& orders) {
  Orders first = orders;
  for (auto& [id, buffer] : first.of) buffer.held = buffer.changes.front().held;
  return first;
}

ChainSize chain_size(const Apply& apply, const Orders& orders, const std::vector<std::uint32_t>& grid) {
  ChainSize size;
  size.room = less(orders.of.at(apply.target.buffer).held, apply.target.offset);
  for (const Leaf& leaf : apply.leaves) size.room = std::min(size.room, reach(leaf, orders));
  size.stride = apply.part;
  if (grid.size() == 1 && grid[0] > 0 && grid[0] * apply.part < size.room)
    size.stride = up((size.room + grid[0] - 1) / grid[0], 1024);
  return size;
}

std::uint64_t chain_span(const Apply& apply, const Orders& orders, std::uint64_t stride) {
  const auto part = [](const base::Index& index) { return static_cast<std::uint64_t>(index.at({})); };
  std::uint64_t span = std::min(stride, less(orders.of.at(apply.target.buffer).held,
                                             part(apply.target.part) * stride + apply.target.offset));
  for (const Leaf& leaf : apply.leaves)
    if (leaf.kind == Leaf::Kind::kPart && !(leaf.spread && leaf.spread->whole))
      span = std::min(span, less(reach(leaf, orders), part(leaf.part) * stride));
  return span;
}

void validate_chain(const graph::Graph& graph, const Apply& apply, const Orders& orders, Policy policy) {
  const Leaf* first = nullptr;
  for (const Leaf& leaf : apply.leaves) {
    if (leaf.kind == Leaf::Kind::kChannel && policy == Policy::kCompat) {
      // The reference counts elements here, although the read is by words.
      const graph::Buffer& bias = graph.buffers[leaf.buffer];
      if (orders.of.at(leaf.buffer).held % bias.elements() != 0)
        throw Refusal(Phase::kLayout, "SPREAD_OF_PADDED",
                      fmt::format("%{} has {} values, and its padded copies hold {}", bias.name,
                                  bias.elements(), orders.of.at(leaf.buffer).held),
                      "choose gn so that the columns divide them");
    }
    if (leaf.kind != Leaf::Kind::kPart) continue;
    if (leaf.spread) {
      if (orders.of.at(leaf.buffer).held % leaf.spread->take != 0)
        throw Refusal(
            Phase::kLayout, "SPREAD_OF_PADDED",
            fmt::format("%{} is read {} elements at a time, and holds {}", graph.buffers[leaf.buffer].name,
                        leaf.spread->take, orders.of.at(leaf.buffer).held),
            "a buffer that is spread holds a whole number of takes, without padding");
      continue;
    }
    if (leaf.buffer == apply.target.buffer || leaf.offset != 0) continue;
    if (first != nullptr && reach(*first, orders) != reach(leaf, orders))
      throw Refusal(Phase::kLayout, "REACH_DIFFERS",
                    fmt::format("%{} holds {} elements and %{} {}", graph.buffers[first->buffer].name,
                                reach(*first, orders), graph.buffers[leaf.buffer].name, reach(leaf, orders)),
                    "operands of one expression have the same shape and order");
    if (first == nullptr) first = &leaf;
  }
}

}  // namespace ktpu::graph_to_schedule
