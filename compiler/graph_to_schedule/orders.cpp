// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph_to_schedule/orders.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

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

constexpr std::uint64_t kGrain = 2048;       // bytes between batch elements, BATCH_BYTES of section 2
constexpr std::uint64_t kWordElements = 16;  // FP16, of a memory word

std::uint64_t up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

class Choosing {
 public:
  Choosing(const graph::Graph& graph, const std::vector<ProtoStage>& stages, Policy policy)
      : graph_(graph), policy_(policy) {
    orders_.policy = policy;
    orders_.row_columns.assign(stages.size(), 0);
    if (policy == Policy::kBest) find_rows(stages);
    for (stage_ = 0; stage_ < stages.size(); ++stage_)
      if (!stages[stage_].places.empty())
        for (const Statement& statement : stages[stage_].places.front()) require(stages[stage_], statement);
    check_ports();
    for (auto& [id, orders] : orders_.of) measure(graph_.buffers[id], orders);
  }
  Orders take() { return std::move(orders_); }

 private:
  // What every stage folds along; and which buffers will have to lie in padded rows.
  void find_rows(const std::vector<ProtoStage>& stages) {
    for (std::size_t s = 0; s < stages.size(); ++s) {
      std::set<std::uint64_t> columns;
      if (stages[s].places.empty()) continue;
      for (const Statement& statement : stages[s].places.front()) {
        const Apply* apply = std::get_if<Apply>(&statement);
        if (apply == nullptr) continue;
        for (const base::Expr::Node& node : apply->expr.nodes())
          if (base::is_fold(node.op) && node.row) columns.insert(node.row->columns);
      }
      if (columns.size() == 1) orders_.row_columns[s] = *columns.begin();
      for (const Statement& statement : stages[s].places.front())
        if (const Apply* apply = std::get_if<Apply>(&statement); apply != nullptr && in_rows(*apply, s)) {
          const Layout rows = padded_rows(columns_of(*apply, s));
          wanted_.try_emplace(apply->target.buffer, rows);
          for (const Leaf& leaf : apply->leaves)
            if (leaf.kind == Leaf::Kind::kPart && !leaf.spread) wanted_.try_emplace(leaf.buffer, rows);
        }
    }
  }
  static Layout padded_rows(std::uint64_t columns) { return Layout::rows(static_cast<unsigned>(columns)); }
  bool whole_rows(BufferId buffer, std::uint64_t columns, std::uint64_t offset) const {
    return graph_.buffers[buffer].elements() % columns == 0 && offset % columns == 0;
  }
  // Of the rows a chain folds along, or else its stage; 0: none, or several.
  std::uint64_t columns_of(const Apply& apply, std::size_t stage) const {
    std::set<std::uint64_t> own;
    for (const base::Expr::Node& node : apply.expr.nodes())
      if (base::is_fold(node.op) && node.row) own.insert(node.row->columns);
    if (own.empty()) return orders_.row_columns[stage];
    return own.size() == 1 ? *own.begin() : 0;
  }
  // Whether a chain of a stage that folds goes along padded rows, too.
  bool in_rows(const Apply& apply, std::size_t stage) const {
    const std::uint64_t columns = columns_of(apply, stage);
    if (columns % kWordElements == 0 || apply.has_resident()) return false;
    return whole_rows(apply.target.buffer, columns, apply.target.offset) &&
           std::all_of(apply.leaves.begin(), apply.leaves.end(), [&](const Leaf& leaf) {
             return leaf.kind != Leaf::Kind::kPart || leaf.spread ||
                    whole_rows(leaf.buffer, columns, leaf.offset);
           });
  }
  // What is read again and again lies flat, unless it is whole rows beside padded ones.
  Layout spread_order(const Leaf& leaf, const Layout& order) const {
    const std::uint64_t columns = order.row_columns();
    const bool rows = columns != 0 && leaf.spread->take % columns == 0 &&
                      leaf.spread->period % columns == 0 && whole_rows(leaf.buffer, columns, leaf.offset);
    return rows ? order : Layout::flat();
  }

  void need(BufferId buffer, const Layout& order) {
    if (!orders_.of.contains(buffer)) orders_.touched.push_back(buffer);
    std::vector<Change>& changes = orders_.of[buffer].changes;
    if (changes.empty() || !(changes.back().order == order)) changes.push_back({stage_, order, 0});
  }
  const Layout* latest(BufferId buffer) const {
    const auto found = orders_.of.find(buffer);
    if (found != orders_.of.end()) return &found->second.changes.back().order;
    const auto wanted = wanted_.find(buffer);
    return wanted == wanted_.end() ? nullptr : &wanted->second;
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
    if (in_rows(apply, stage_)) {
      order = padded_rows(columns_of(apply, stage_));
    } else if (policy_ == Policy::kBest && fold && columns_of(apply, stage_) % kWordElements != 0) {
      throw Refusal(Phase::kLayout, "ROW_SHAPES",
                    fmt::format("a fold along rows of {} beside operands that are no such rows",
                                columns_of(apply, stage_)),
                    "give all operands of the statement whole rows");
    } else if (!fold && !apply.reduce) {
      const Layout* found = nullptr;
      for (const Leaf& leaf : apply.leaves)
        if (found == nullptr && leaf.kind == Leaf::Kind::kPart) found = latest(leaf.buffer);
      if (found == nullptr) found = latest(apply.target.buffer);
      if (found != nullptr) order = *found;
    }
    if (!apply.reduce) need(apply.target.buffer, order);
    for (const Leaf& leaf : apply.leaves)
      if (leaf.kind == Leaf::Kind::kPart) need(leaf.buffer, leaf.spread ? spread_order(leaf, order) : order);
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
        const std::string what = error.what();
        throw Refusal(Phase::kPack, "LAYOUT_SHAPE",
                      fmt::format("%{} <{}> can't stand in memory in the order {}: {}", buffer.name,
                                  fmt::join(buffer.shape, "x"), order.key(),
                                  what.starts_with("unknown") ? "its numbers are 1 to 65535" : what),
                      "choose smaller tiles or parts (knobs gm, gn, nk, part), or split the call where the "
                      "operand is too large");
      }
    };
    for (Change& change : orders.changes) {
      change.bytes = bytes(change.order);
      orders.widest_bytes = std::max(orders.widest_bytes, change.bytes);
    }
    const std::uint64_t first = orders.changes.front().bytes;
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
  // The order that a fold will ask of a buffer: what touches it before had better use it already.
  std::map<BufferId, Layout> wanted_;
};

}  // namespace

const Change& Orders::in(BufferId buffer, std::size_t stage) const {
  const std::vector<Change>& changes = of.at(buffer).changes;
  const Change* found = &changes.front();
  for (const Change& change : changes)
    if (change.stage <= stage) found = &change;
  return *found;
}

Orders choose_orders(const graph::Graph& graph, const std::vector<ProtoStage>& stages, Policy policy) {
  return Choosing(graph, stages, policy).take();
}

}  // namespace ktpu::graph_to_schedule
