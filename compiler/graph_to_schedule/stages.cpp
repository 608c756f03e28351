// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph_to_schedule/stages.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/base/refusal.h"
#include "compiler/graph_to_schedule/joining.h"

namespace ktpu::graph_to_schedule {
namespace {

using base::Bindings;
using base::CannotFuse;
using base::Index;
using base::Phase;
using base::Refusal;
using graph::Apply;
using graph::Body;
using graph::Loop;
using graph::Node;
using graph::OpenTile;
using graph::Tiling;
using schedule::UnitType;

constexpr std::uint64_t kMostPlaces = 1u << 20;

// Every index of the statement a number.
Node bound(const Node& node, const Bindings& at) {
  Node out = node;
  if (auto* fill = std::get_if<graph::Fill>(&out.it)) {
    for (Index* index : {&fill->tile, &fill->chunk, &fill->lane, &fill->step}) *index = index->at(at);
  } else if (auto* gemm = std::get_if<graph::Gemm>(&out.it)) {
    gemm->acc = gemm->acc.at(at);
  } else if (auto* drain = std::get_if<graph::Drain>(&out.it)) {
    drain->row = drain->row.at(at);
    drain->column = drain->column.at(at);
  } else if (auto* apply = std::get_if<Apply>(&out.it)) {
    for (Index* index : {&apply->target.part, &apply->target.row, &apply->target.column})
      *index = index->at(at);
    for (graph::Leaf& leaf : apply->leaves)
      for (Index* index : {&leaf.part, &leaf.row, &leaf.column}) *index = index->at(at);
  }
  return out;
}

std::uint32_t extent_of(const graph::Axis& axis, const Bindings& at) {
  const std::int64_t extent = axis.extent.at(at);
  if (extent < 0 || extent > std::int64_t{kMostPlaces})
    throw Refusal(Phase::kStages, "EXTENT_OUT_OF_RANGE",
                  fmt::format("axis %{} has {} places", axis.name, extent),
                  "an axis has 0 to 2^20 places: use larger tiles or parts");
  return static_cast<std::uint32_t>(extent);
}

// Calls visit(bindings) for each place of the axes, the last axis fastest.
template <typename Visit>
void each_place(const std::vector<graph::Axis>& axes, Bindings at, std::size_t axis, const Visit& visit) {
  if (axis == axes.size()) return visit(at);
  const std::uint32_t extent = extent_of(axes[axis], at);
  for (std::uint32_t i = 0; i < extent; ++i) {
    at[axes[axis].name] = i;
    each_place(axes, at, axis + 1, visit);
  }
}

// The statements of one place, in order, with OpenTile still among them.
void unroll(const Body& body, const Bindings& at, std::vector<Node>& out) {
  for (const Node& node : body) {
    if (const Tiling* view = std::get_if<Tiling>(&node.it)) {
      each_place(view->axes, at, 0, [&](const Bindings& inner) { unroll(*view->body, inner, out); });
    } else if (const Loop* loop = std::get_if<Loop>(&node.it)) {
      each_place({loop->axis}, at, 0, [&](const Bindings& inner) { unroll(*loop->body, inner, out); });
    } else {
      out.push_back(bound(node, at));
    }
    if (out.size() > kMostPlaces)
      throw Refusal(Phase::kStages, "TOO_MANY_STATEMENTS", "one instance has over 2^20 statements",
                    "use larger tiles, or split the work over more instances");
  }
}

bool has_resident(const Node& node) {
  const Apply* apply = std::get_if<Apply>(&node.it);
  return apply != nullptr && apply->has_resident();
}

// Gives every epilogue its tiles: a drain to the vector core just before the next tile is begun, the last one
// just before the epilogue. Tile declarations go.
Place deliver(const std::vector<Node>& nodes) {
  std::map<graph::TileId, std::uint32_t> slot;  // in the order in which the tiles are opened
  std::vector<graph::TileId> wanted;
  for (const Node& node : nodes)
    if (has_resident(node))
      for (const graph::Leaf& leaf : std::get<Apply>(node.it).leaves)
        if (leaf.kind == graph::Leaf::Kind::kResident) wanted.push_back(leaf.tile);
  Place place;
  const OpenTile* open = nullptr;
  std::uint32_t next_slot = 0;
  const auto close = [&] {
    if (open != nullptr && std::find(wanted.begin(), wanted.end(), open->tile) != wanted.end()) {
      slot[open->tile] = next_slot;
      place.push_back(NodeDrain{open->tile, open->gm, open->gn, next_slot++});
    }
    open = nullptr;
  };
  for (const Node& node : nodes) {
    if (const OpenTile* opens = std::get_if<OpenTile>(&node.it)) {
      close();
      open = opens;
      continue;
    }
    if (const graph::Gemm* gemm = std::get_if<graph::Gemm>(&node.it);
        gemm != nullptr && (open == nullptr || open->tile != gemm->tile))
      throw Refusal(Phase::kStages, "TILES_INTERLEAVED",
                    "an accumulator is added to after another one was opened: a cluster has one",
                    "finish a tile's sweep before the next tile");
    if (has_resident(node)) {
      close();
      next_slot = 0;
    }
    if (const auto* fill = std::get_if<graph::Fill>(&node.it)) place.push_back(*fill);
    if (const auto* gemm = std::get_if<graph::Gemm>(&node.it)) place.push_back(*gemm);
    if (const auto* drain = std::get_if<graph::Drain>(&node.it)) place.push_back(*drain);
    if (const auto* apply = std::get_if<Apply>(&node.it)) place.push_back(*apply);
  }
  return place;
}

UnitType unit_of(const Statement& statement) {
  return std::holds_alternative<Apply>(statement) ? UnitType::kVector : UnitType::kCluster;
}
bool resident(const Statement& statement) {
  const Apply* apply = std::get_if<Apply>(&statement);
  return apply != nullptr && apply->has_resident();
}

class Forming {
 public:
  Forming(const graph::Graph& graph, const Options& options, std::uint32_t units)
      : graph_(graph), options_(options), units_(units) {
    walk(graph.body, {});
    flush();
  }
  std::vector<ProtoStage> take() { return std::move(stages_); }

 private:
  void walk(const Body& body, const Bindings& at) {
    for (const Node& node : body) {
      if (const Loop* loop = std::get_if<Loop>(&node.it)) {
        each_place({loop->axis}, at, 0, [&](const Bindings& inner) { walk(*loop->body, inner); });
      } else if (const Tiling* tiling = std::get_if<Tiling>(&node.it)) {
        if (tiling->formed) {
          hold(*tiling, at);
        } else {
          flush();
          explicit_stage(*tiling, at);
        }
      } else {
        throw Refusal(Phase::kTrace, "NO_TILING", "a statement stands outside of any tiling",
                      "open a tiling (grid or units) around it");
      }
    }
  }

  // A whole-buffer statement: joins the pass that is being formed, or begins the next one.
  void hold(const Tiling& tiling, const Bindings& at) {
    std::vector<std::uint32_t> grid;
    for (const graph::Axis& axis : tiling.axes) grid.push_back(extent_of(axis, at));
    std::vector<Apply> statements;
    for (const Node& node : *tiling.body) {
      const Apply* apply = std::get_if<Apply>(&node.it);
      KTPU_CHECK(apply != nullptr, "a formed pass of graph {} holds something else than a chain",
                 graph_.name);
      // Outer loops are numbers from here on, the pass's own axes stay; every pass names them alike.
      Bindings outer = at;
      Apply kept = *apply;
      const auto rename = [&](Index& index) {
        index = index.bind(outer);
        for (std::size_t i = 0; i < tiling.axes.size(); ++i)
          index = renamed(index, tiling.axes[i].name, fmt::format("_e{}", i));
      };
      for (Index* index : {&kept.target.part, &kept.target.row, &kept.target.column}) rename(*index);
      for (graph::Leaf& leaf : kept.leaves)
        for (Index* index : {&leaf.part, &leaf.row, &leaf.column}) rename(*index);
      statements.push_back(std::move(kept));
    }
    std::vector<const Apply*> held;
    for (const Apply& apply : held_) held.push_back(&apply);
    bool together = !held_.empty() && grid == held_grid_;
    for (const Apply& apply : statements) {
      together = together && joins(held, apply, options_.policy == schedule::Policy::kBest);
      held.push_back(&apply);
    }
    if (!together) flush();
    held_grid_ = grid;
    held_.insert(held_.end(), statements.begin(), statements.end());
  }

  static Index renamed(const Index& index, const std::string& from, const std::string& to) {
    return index.axes().contains(from) ? index.substitute(from, Index::axis(to)) : index;
  }

  void flush() {
    if (held_.empty()) return;
    ProtoStage stage;
    stage.unit = UnitType::kVector;
    stage.barrier = stage.formed = true;
    stage.pattern = std::move(held_);
    held_.clear();
    regrid(stage, held_grid_);
    stages_.push_back(std::move(stage));
  }

  void explicit_stage(const Tiling& tiling, const Bindings& at) {
    ProtoStage whole;
    whole.barrier = tiling.barrier;
    std::uint64_t count = 1;
    for (const graph::Axis& axis : tiling.axes) {
      if (!axis.extent.bind(at).is_constant())
        throw Refusal(
            Phase::kStages, "EXTENT_UNSOLVED",
            fmt::format("the extent of axis %{} is not known when the kernel is compiled", axis.name),
            "let it follow from the shapes and the outer loops");
      whole.grid.push_back(extent_of(axis, at));
      count *= whole.grid.back();
      if (count > kMostPlaces)
        throw Refusal(Phase::kStages, "EXTENT_OUT_OF_RANGE", "a tiling has over 2^20 instances",
                      "use larger tiles or parts");
    }
    each_place(tiling.axes, at, 0, [&](const Bindings& inner) {
      std::vector<Node> nodes;
      unroll(*tiling.body, inner, nodes);
      whole.places.push_back(deliver(nodes));
    });
    if (whole.places.empty()) return;
    const std::vector<Place> complete = whole.places;
    for (Place& place : whole.places) prune(place);
    const std::size_t before = stages_.size();
    split(whole);
    const bool alone = whole.places.size() * graph_.batch <= units_;
    if (options_.policy == schedule::Policy::kCompat || stages_.size() - before == 1 ||
        (alone && relies_on_regions_of_its_own(before)))
      return;
    stages_.resize(before);
    whole.places = complete;
    split(whole);
    for (std::size_t s = before; s < stages_.size(); ++s)
      for (Place& place : stages_[s].places) prune(place);
  }

  // Each cluster stage hands out its L1 regions anew: what an earlier one left is found again only by the
  // first operand of a side, and only if nothing else was brought to that side since.
  bool relies_on_regions_of_its_own(std::size_t from) const {
    for (std::size_t s = from; s < stages_.size(); ++s)
      for (const Place& place : stages_[s].places) {
        std::set<std::pair<graph::Side, std::uint32_t>> brought;
        for (const Statement& statement : place) {
          if (const auto* fill = std::get_if<graph::Fill>(&statement))
            brought.insert({fill->side, fill->operand});
          const auto* gemm = std::get_if<graph::Gemm>(&statement);
          if (gemm == nullptr) continue;
          for (const auto& [side, operand] :
               {std::pair{graph::Side::kA, gemm->a_operand}, std::pair{graph::Side::kB, gemm->b_operand}}) {
            const bool here = brought.contains({side, operand});
            const bool others = std::any_of(brought.begin(), brought.end(),
                                            [side = side](const auto& b) { return b.first == side; });
            if (!here && (operand != 0 || others)) return false;
          }
        }
      }
    return true;
  }

  // Maximal runs of statements on one type of unit; all places have the same ones.
  void split(ProtoStage& whole) {
    const Place& first = whole.places.front();
    std::vector<UnitType> units;
    for (const Statement& statement : first)
      if (units.empty() || units.back() != unit_of(statement)) units.push_back(unit_of(statement));
    const std::size_t before = stages_.size();
    for (const UnitType unit : units) {
      ProtoStage part;
      part.unit = unit;
      part.grid = whole.grid;
      part.barrier = whole.barrier || units.size() > 1;
      stages_.push_back(std::move(part));
    }
    for (Place& place : whole.places) {
      std::size_t at = before;
      bool any = false;
      for (std::size_t s = before; s < stages_.size(); ++s) stages_[s].places.emplace_back();
      for (Statement& statement : place) {
        if (any && unit_of(statement) != stages_[at].unit) ++at;
        KTPU_CHECK(at < stages_.size() && stages_[at].unit == unit_of(statement),
                   "instances of one tiling alternate differently between the units");
        any = true;
        ProtoStage& stage = stages_[at];
        stage.resident = stage.resident || resident(statement);
        stage.feeds_next = stage.feeds_next || std::holds_alternative<NodeDrain>(statement);
        stage.places.back().push_back(std::move(statement));
      }
    }
  }

  const graph::Graph& graph_;
  const Options& options_;
  std::uint32_t units_;  // instances beyond these share a unit, or run in waves
  std::vector<ProtoStage> stages_;
  std::vector<Apply> held_;  // of the pass that is being formed
  std::vector<std::uint32_t> held_grid_;
};

// Neighbours that demand no barrier and lie over the same grid of the same units are one stage.
std::vector<ProtoStage> merged(std::vector<ProtoStage> stages) {
  std::vector<ProtoStage> out;
  for (ProtoStage& stage : stages) {
    ProtoStage* last = out.empty() ? nullptr : &out.back();
    if (last != nullptr && !last->barrier && !stage.barrier && last->grid == stage.grid &&
        last->unit == stage.unit) {
      for (std::size_t p = 0; p < stage.places.size(); ++p)
        std::move(stage.places[p].begin(), stage.places[p].end(), std::back_inserter(last->places[p]));
      continue;
    }
    out.push_back(std::move(stage));
  }
  return out;
}

// A stage for each statement, in their order.
std::vector<ProtoStage> split(std::vector<ProtoStage> stages) {
  std::vector<ProtoStage> out;
  for (ProtoStage& stage : stages) {
    const std::size_t statements = stage.places.empty() ? 0 : stage.places.front().size();
    const bool alike = std::all_of(stage.places.begin(), stage.places.end(),
                                   [&](const Place& place) { return place.size() == statements; });
    if (stage.unit != UnitType::kVector || stage.resident || statements < 2 || !alike) {
      out.push_back(std::move(stage));
      continue;
    }
    for (std::size_t s = 0; s < statements; ++s) {
      ProtoStage one = stage;
      one.barrier = true;
      if (stage.formed) one.pattern = {stage.pattern.at(s)};
      for (Place& place : one.places) place = {place[s]};
      out.push_back(std::move(one));
    }
  }
  return out;
}

}  // namespace

void regrid(ProtoStage& stage, std::vector<std::uint32_t> grid) {
  std::vector<graph::Axis> axes;
  for (std::size_t i = 0; i < grid.size(); ++i) axes.push_back({fmt::format("_e{}", i), Index(grid[i])});
  stage.grid = std::move(grid);
  stage.places.clear();
  each_place(axes, {}, 0, [&](const Bindings& at) {
    Place place;
    for (const Apply& apply : stage.pattern) place.push_back(std::get<Apply>(bound({apply}, at).it));
    stage.places.push_back(std::move(place));
  });
}

std::vector<ProtoStage> form_stages(const graph::Graph& graph, const schedule::Resources& resources,
                                    const Options& options) {
  std::vector<ProtoStage> stages =
      merged(Forming(graph, options, std::min(resources.clusters, resources.vector_cores)).take());
  if (options.split) stages = split(std::move(stages));
  for (const ProtoStage& stage : stages)
    if ((stage.unit == UnitType::kCluster ? resources.clusters : resources.vector_cores) == 0)
      throw Refusal(Phase::kLayout, "UNIT_ABSENT",
                    fmt::format("the kernel needs a {}, and the machine has none",
                                stage.unit == UnitType::kCluster ? "matmul cluster" : "vector core"),
                    "choose a machine that has one");
  return stages;
}

}  // namespace ktpu::graph_to_schedule
