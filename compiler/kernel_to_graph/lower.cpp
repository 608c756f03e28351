// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernel_to_graph/lower.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "arch/error.h"
#include "compiler/base/refusal.h"

namespace ktpu::kernel_to_graph {
namespace {

using base::Index;
namespace l4 = kernel;
namespace l3 = graph;

constexpr const char* kFormedAxis = "_e";

// The sweep of one accumulator: which products of its body, and the counter they turn with.
struct Sweep {
  Index counter;               // of the innermost loop; 0 outside of any
  std::uint32_t products = 0;  // of one turn
};
// What names a window of L1: an explicit region, or the buffer and order it is filled in.
struct Window {
  std::optional<l4::RegionId> region;
  l3::BufferId buffer = 0;
  l3::FillOrder order;
  bool operator==(const Window&) const = default;
};

class Lowering {
 public:
  explicit Lowering(const l4::Kernel& kernel) : kernel_(kernel) {}

  l3::Graph run() {
    graph_.name = kernel_.name;
    graph_.batch = kernel_.batch;
    graph_.part = kernel_.part;
    graph_.fuse = kernel_.fuse;
    for (const l4::Buffer& buffer : kernel_.buffers) {
      graph_.buffers.push_back(
          {buffer.name, static_cast<l3::Role>(buffer.role), buffer.shape, buffer.batched, buffer.values});
      graph_.batched = graph_.batched || buffer.batched;
    }
    // The axes of one flat block are no batch.
    if (graph_.batched) graph_.lead = kernel_.lead;
    lower(kernel_.body, graph_.body, 0, 0);
    return std::move(graph_);
  }

 private:
  // `counter`: of the innermost loop inside the tiling. `depth`: tilings around.
  void lower(const l4::Body& from, l3::Body& to, const Index& counter, unsigned depth) {
    std::map<l4::TileId, Sweep> sweeps;
    for (const l4::Node& node : from)
      if (const auto* product = std::get_if<l4::Contraction>(&node.it)) {
        Sweep& sweep = sweeps[product->tile];
        sweep.counter = counter;
        ++sweep.products;
      }
    std::map<l4::TileId, std::uint32_t> done;
    // A product's turn: the loop's counter, told apart when a turn has several.
    const auto step = [&](l4::TileId tile, std::uint32_t product) {
      return sweeps[tile].counter * Index(sweeps[tile].products) + Index(product);
    };
    for (std::size_t i = 0; i < from.size(); ++i) {
      const l4::Node& node = from[i];
      if (const auto* tiling = std::get_if<l4::Tiling>(&node.it)) {
        lower(*tiling, to, counter, depth);
      } else if (const auto* loop = std::get_if<l4::Loop>(&node.it)) {
        l3::Loop made{{loop->axis.name, loop->axis.extent}, std::make_shared<l3::Body>()};
        lower(*loop->body, *made.body, depth == 0 ? Index(0) : Index::axis(loop->axis.name), depth);
        to.push_back({std::move(made)});
      } else if (const auto* tile = std::get_if<l4::OpenTile>(&node.it)) {
        tiles_[tile->tile] = *tile;
        to.push_back({l3::OpenTile{tile->tile, tile->gm, tile->gn, tile->land}});
      } else if (const auto* region = std::get_if<l4::OpenRegion>(&node.it)) {
        regions_[region->region] = *region;
      } else if (const auto* fill = std::get_if<l4::FillRegion>(&node.it)) {
        lower_fill(*fill, from, i, to,
                   [&](l4::TileId id, std::uint32_t ahead) { return step(id, done[id] + ahead); });
      } else if (const auto* product = std::get_if<l4::Contraction>(&node.it)) {
        lower(*product, to, step(product->tile, done[product->tile]++));
      } else {
        lower(std::get<l4::Store>(node.it), to);
      }
    }
  }

  void lower(const l4::Tiling& tiling, l3::Body& to, const Index& counter, unsigned depth) {
    // Windows belong to the instance: each tiling of the top lays its own out.
    if (depth == 0) windows_[0].clear(), windows_[1].clear();
    l3::Tiling made;
    for (const l4::Axis& axis : tiling.axes) made.axes.push_back({axis.name, axis.extent});
    made.barrier = tiling.barrier;
    made.body = std::make_shared<l3::Body>();
    lower(*tiling.body, *made.body, counter, depth + 1);
    to.push_back({std::move(made)});
  }

  std::uint32_t operand(l3::Side side, const Window& window) {
    std::vector<Window>& known = windows_[static_cast<std::size_t>(side)];
    const auto found = std::find(known.begin(), known.end(), window);
    const auto number = static_cast<std::uint32_t>(found - known.begin());
    if (found == known.end()) known.push_back(window);
    return number;
  }

  Window window(const l4::Access& access, std::uint32_t groups, std::uint32_t blocks) const {
    const bool taps = access.view.kind == l4::View::Kind::kTaps;
    return {{},
            access.view.buffer,
            {taps ? l3::FillOrder::Kind::kConv : l3::FillOrder::Kind::kEntry, groups, blocks}};
  }

  void fill(l3::Side side, const Window& window, const l4::Access& access, const Index& step, l3::Body& to) {
    l3::Fill made;
    made.buffer = access.view.buffer;
    made.side = side;
    made.order = this->window(access, window.order.groups, window.order.blocks).order;
    made.operand = operand(side, window);
    made.tile = access.index[0];
    made.step = step;
    const l4::Shape& shape = access.view.shape;
    if (access.view.kind == l4::View::Kind::kTaps) {
      // Column chunk s is (tap, channel block); the tap shifts the rows, the block picks a plane (section
      // 20).
      const std::int64_t wide = shape[1] + 2, blocks = shape[2] / 32;
      const std::int64_t plane = ((shape[0] + 2) * wide + 3) / 4 * 4;  // whole entries
      const Index s = access.index[1], tap = floordiv(s, blocks);
      made.chunk = 0;
      made.chunks = 1;
      made.lane = mod(s, blocks) * plane + floordiv(tap, 3) * wide + mod(tap, 3);
    } else {
      made.chunk = access.index[1];
      const std::uint32_t columns = (shape[1] + 31) / 32;
      made.chunks = (columns + window.order.blocks - 1) / window.order.blocks;
      made.lane = 0;
    }
    to.push_back({std::move(made)});
  }

  template <class Step>
  void lower_fill(const l4::FillRegion& fill_region, const l4::Body& body, std::size_t at, l3::Body& to,
                  Step step) {
    const l4::OpenRegion& region = regions_.at(fill_region.region);
    // The first product that takes it says which side and which turn.
    std::map<l4::TileId, std::uint32_t> ahead;
    std::optional<Index> turn;
    l3::Side side = l3::Side::kA;
    for (std::size_t i = at + 1; i < body.size(); ++i) {
      if (const auto* again = std::get_if<l4::FillRegion>(&body[i].it))
        if (again->region == fill_region.region) break;
      const auto* product = std::get_if<l4::Contraction>(&body[i].it);
      if (!product) continue;
      const Index here = step(product->tile, ahead[product->tile]++);
      const auto takes = [&](const l4::Factor& factor) {
        const auto* id = std::get_if<l4::RegionId>(&factor);
        return id && *id == fill_region.region;
      };
      if (!takes(product->a) && !takes(product->b)) continue;
      if (turn && !(*turn == here))
        throw base::Refusal(base::Phase::kTrace, "REGION_REUSED",
                            fmt::format("region {} serves two products of one sweep", fill_region.region),
                            "fill it again before the second: each product turns to the other bank");
      side = takes(product->a) ? l3::Side::kA : l3::Side::kB;
      turn = here;
    }
    if (!turn)
      throw base::Refusal(base::Phase::kTrace, "FILL_UNUSED",
                          fmt::format("a fill of region {} is never multiplied", fill_region.region),
                          "use it in a product, or leave the fill out");
    Window named = window(fill_region.source, region.groups, region.blocks);
    named.region = fill_region.region;
    filled_[fill_region.region] = named;
    fill(side, named, fill_region.source, *turn, to);
  }

  void lower(const l4::Contraction& product, l3::Body& to, const Index& step) {
    const l4::OpenTile& tile = tiles_.at(product.tile);
    const auto factor = [&](const l4::Factor& f, l3::Side side, std::uint32_t groups) {
      if (const auto* region = std::get_if<l4::RegionId>(&f)) return operand(side, filled_.at(*region));
      const auto& access = std::get<l4::Access>(f);
      const Window named = window(access, groups, tile.nk);
      fill(side, named, access, step, to);
      return operand(side, named);
    };
    l3::Gemm made;
    made.tile = product.tile;
    made.gm = tile.gm;
    made.gn = tile.gn;
    made.nk = tile.nk;
    made.a_operand = factor(product.a, l3::Side::kA, tile.gm);
    made.b_operand = factor(product.b, l3::Side::kB, tile.gn);
    made.acc = step;
    to.push_back({std::move(made)});
  }

  void lower(const l4::Store& store, l3::Body& to) {
    const bool resident = std::any_of(store.leaves.begin(), store.leaves.end(),
                                      [](const l4::Leaf& l) { return l.kind == l4::Leaf::Kind::kTile; });
    if (resident && store.expr[store.expr.root()].op == base::LaneOp::kLeaf) {
      const l4::OpenTile& tile = tiles_.at(store.leaves[0].tile);
      to.push_back({l3::Drain{tile.tile, tile.gm, tile.gn, store.target.view.buffer, store.target.index[0],
                              store.target.index[1]}});
      return;
    }
    l3::Apply made;
    made.expr = store.expr;
    made.part = store.part;
    made.reduce = store.reduce;
    made.target.buffer = store.target.view.buffer;
    made.target.offset = store.target.view.offset;
    const bool whole = store.target.index.empty();
    const Index formed = Index::axis(kFormedAxis);
    if (resident) {
      made.target.kind = l3::Target::Kind::kTile;
      made.target.row = store.target.index[0];
      made.target.column = store.target.index[1];
    } else {
      made.target.part = whole ? formed : store.target.index[0];
    }
    for (const l4::Leaf& leaf : store.leaves) made.leaves.push_back(lower(leaf, formed, resident));
    if (!whole) {
      to.push_back({std::move(made)});
      return;
    }
    const std::uint64_t size = l4::elements(store.target.view.shape);
    l3::Tiling around;
    around.axes = {{kFormedAxis, static_cast<std::int64_t>((size + made.part - 1) / made.part)}};
    around.formed = true;
    around.body = std::make_shared<l3::Body>();
    around.body->push_back({std::move(made)});
    to.push_back({std::move(around)});
  }

  l3::Leaf lower(const l4::Leaf& leaf, const Index& formed, bool resident) const {
    l3::Leaf made;
    if (leaf.kind == l4::Leaf::Kind::kConstant) {
      made.kind = l3::Leaf::Kind::kConstant;
      made.value = leaf.value;
      return made;
    }
    if (leaf.kind == l4::Leaf::Kind::kTile) {
      made.kind = l3::Leaf::Kind::kResident;
      made.tile = leaf.tile;
      return made;
    }
    const l4::View& view = leaf.access.view;
    const std::vector<Index>& index = leaf.access.index;
    made.buffer = view.buffer;
    if (index.size() == 2) {
      made.kind = l3::Leaf::Kind::kTile;
      made.row = index[0];
      made.column = index[1];
      return made;
    }
    if (resident) {
      made.kind = l3::Leaf::Kind::kChannel;
      made.column = index[0];
      return made;
    }
    made.kind = l3::Leaf::Kind::kPart;
    made.part = index.empty() ? formed : index[0];
    made.offset = view.offset;
    const l4::Buffer& buffer = kernel_.buffers[view.buffer];
    const std::uint64_t size = l4::elements(buffer.shape);
    if (view.kind == l4::View::Kind::kSpread) {
      made.spread = l3::Spread{view.spread.period, view.spread.take,
                               view.offset == 0 && view.spread.period == size && view.spread.take == size};
    } else if (!index.empty() && buffer.shape.size() == 1 && !buffer.flat && view.shape == buffer.shape) {
      // A vector under an index stands for channels: the same for every row (section 14).
      made.spread = l3::Spread{size, size, true};
    }
    return made;
  }

  const l4::Kernel& kernel_;
  l3::Graph graph_;
  std::map<l4::TileId, l4::OpenTile> tiles_;
  std::map<l4::RegionId, l4::OpenRegion> regions_;
  std::map<l4::RegionId, Window> filled_;
  std::array<std::vector<Window>, 2> windows_;
};

}  // namespace

graph::Graph lower(const kernel::Kernel& kernel) {
  kernel::verify(kernel);
  return Lowering(kernel).run();
}

}  // namespace ktpu::kernel_to_graph
