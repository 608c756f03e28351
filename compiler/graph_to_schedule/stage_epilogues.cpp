// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "compiler/base/refusal.h"
#include "compiler/graph_to_schedule/lower.h"

namespace ktpu::graph_to_schedule {
namespace {

using base::Index;
using base::Phase;
using base::Refusal;
using graph::Apply;
using graph::Body;
using graph::BufferId;
using graph::Drain;
using graph::Leaf;
using graph::Loop;
using graph::Node;
using graph::OpenTile;
using graph::Tiling;

class Staging {
 public:
  explicit Staging(const graph::Graph& graph) : graph_(graph) { graph_.body = walk(graph.body); }
  graph::Graph take() { return std::move(graph_); }

 private:
  // At top level: a tiling may be followed by the passes its epilogues become.
  Body walk(const Body& body) {
    Body out;
    for (const Node& node : body) {
      if (const Loop* loop = std::get_if<Loop>(&node.it)) {
        out.push_back({Loop{loop->axis, std::make_shared<Body>(walk(*loop->body))}});
      } else if (const Tiling* tiling = std::get_if<Tiling>(&node.it)) {
        Body passes;
        out.push_back({stage(*tiling, passes)});
        out.insert(out.end(), passes.begin(), passes.end());
      } else {
        out.push_back(node);
      }
    }
    return out;
  }

  Tiling stage(const Tiling& tiling, Body& passes) {
    const auto resident = [](const Node& n) {
      const Apply* apply = std::get_if<Apply>(&n.it);
      return apply != nullptr && apply->has_resident();
    };
    if (std::none_of(tiling.body->begin(), tiling.body->end(), resident)) return tiling;
    Tiling staged = tiling;
    staged.body = std::make_shared<Body>();
    std::map<graph::TileId, OpenTile> open;  // delivered by an epilogue, not drained yet
    std::map<graph::TileId, const Apply*> wanted;
    for (const Node& node : *tiling.body)
      if (resident(node))
        for (const Leaf& leaf : std::get<Apply>(node.it).leaves)
          if (leaf.kind == Leaf::Kind::kResident) wanted[leaf.tile] = &std::get<Apply>(node.it);
    const auto drain_open = [&] {
      for (const auto& [tile, opened] : open) staged.body->push_back(land(staged, opened, *wanted.at(tile)));
      open.clear();
    };
    for (const Node& node : *tiling.body) {
      if (const OpenTile* opens = std::get_if<OpenTile>(&node.it)) {
        drain_open();
        if (wanted.contains(opens->tile)) open[opens->tile] = *opens;
        staged.body->push_back(node);
      } else if (resident(node)) {
        drain_open();
        passes.push_back(pass(std::get<Apply>(node.it)));
      } else {
        staged.body->push_back(node);
      }
    }
    return staged;
  }

  // The drain of a tile into its landing buffer, which is made here.
  Node land(const Tiling& tiling, const OpenTile& tile, const Apply& reader) {
    const auto extent = [&](std::size_t axis) -> std::uint32_t {
      return axis < tiling.axes.size() ? static_cast<std::uint32_t>(tiling.axes[axis].extent.at({})) : 1;
    };
    graph::Buffer buffer;
    buffer.name = tile.land;
    buffer.role = graph::Role::kTemp;
    buffer.shape = {extent(0) * tile.gm * 4, extent(1) * tile.gn * 4};
    buffer.batched = graph_.batched;
    const auto id = static_cast<BufferId>(graph_.buffers.size());
    graph_.buffers.push_back(buffer);
    landed_[tile.tile] = id;
    Drain drain;
    drain.tile = tile.tile;
    drain.gm = tile.gm;
    drain.gn = tile.gn;
    drain.buffer = id;
    drain.row = reader.target.row;
    drain.column = reader.target.column;
    return {drain};
  }

  Node pass(const Apply& epilogue) {
    Apply staged = epilogue;
    const Index e = Index::axis("_e");
    for (Leaf& leaf : staged.leaves) {
      if (leaf.kind == Leaf::Kind::kChannel)
        throw Refusal(
            Phase::kLayout, "SIDE_OPERAND_CANNOT_STAGE",
            fmt::format("%{} is read by tile column beside a resident accumulator, and this epilogue "
                        "cannot run fused",
                        graph_.buffers[leaf.buffer].name),
            "give it the full shape of the result, or tile so that there are no more instances than "
            "vector cores");
      if (leaf.kind == Leaf::Kind::kResident) leaf.buffer = landed_.at(leaf.tile);
      if (leaf.kind == Leaf::Kind::kResident || leaf.kind == Leaf::Kind::kTile) {
        leaf.kind = Leaf::Kind::kPart;
        leaf.part = e;
        leaf.row = leaf.column = Index(0);
        leaf.tile = 0;
      }
    }
    staged.target.kind = graph::Target::Kind::kPart;
    staged.target.part = e;
    staged.target.row = staged.target.column = Index(0);
    staged.part = graph_.part;
    const std::uint64_t elements = graph_.buffers[staged.target.buffer].elements();
    Tiling formed;
    formed.axes = {{"_e", Index(static_cast<std::int64_t>((elements + staged.part - 1) / staged.part))}};
    formed.formed = true;
    formed.body = std::make_shared<Body>(Body{{staged}});
    return {formed};
  }

  graph::Graph graph_;
  std::map<graph::TileId, BufferId> landed_;
};

}  // namespace

graph::Graph stage_epilogues(const graph::Graph& graph) { return Staging(graph).take(); }

}  // namespace ktpu::graph_to_schedule
