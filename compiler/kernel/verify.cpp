// SPDX-License-Identifier: Apache-2.0
// What a kernel may not do (compiler.md sections 14 and 25), as far as this level can see it.
#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>

#include "arch/error.h"
#include "compiler/base/refusal.h"
#include "compiler/kernel/kernel.h"

namespace ktpu::kernel {

using base::Phase;
using base::Refusal;

namespace {

constexpr std::uint32_t kMostAxis = 1U << 31;  // whole tiles of it are still counted in 32 bits
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 39;  // of 2 bytes: all that 40 address bits name

[[noreturn]] void refuse(const char* code, const std::string& what, const std::string& fix) {
  throw Refusal(Phase::kTrace, code, what, fix);
}

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel) : kernel_(kernel) {}

  void run() {
    check_buffers();
    check_counts({kernel_.part}, "the part");
    std::uint64_t batch = 1;
    for (const std::uint32_t axis : kernel_.lead) batch = std::min(kMostElements, batch * axis);
    const bool batched = std::any_of(kernel_.buffers.begin(), kernel_.buffers.end(),
                                     [](const Buffer& b) { return b.batched; });
    if (batched ? kernel_.batch != batch || batch < 1 : kernel_.batch != 1)
      refuse("BATCH_AXES", fmt::format("a batch of {} over axes of {}", kernel_.batch, print(kernel_.lead)),
             "give the product of the leading axes");
    walk(kernel_.body);
    if (!statements_)
      refuse("BODY_OPENS_NO_TILING", fmt::format("{} computes nothing", kernel_.name),
             "open units(...) or store to a whole buffer: y <<= ...");
    for (const auto& [id, region] : regions_)
      if (region.filled && !region.side)
        refuse("FILL_UNUSED", fmt::format("region {} is filled and never multiplied", id),
               "use it in a product, or leave the fill out");
    for (const auto& [id, tile] : tiles_)
      if (tile.stored && !tile.swept)
        refuse("TILE_NEVER_SWEPT", fmt::format("accumulator {} is stored and nothing was added to it", id),
               "add a product first: acc += matmul(a(i, k), b(j, k))");
    for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
      const Buffer& buffer = kernel_.buffers[i];
      if (buffer.role <= Role::kOut && !touched_.contains(static_cast<BufferId>(i)))
        throw Refusal(Phase::kLayout, "PORT_UNTOUCHED",
                      fmt::format("{} never touches its port {}", kernel_.name, buffer.name),
                      "use it in a statement, or drop the port");
    }
  }

 private:
  enum class Scope : std::uint8_t { kTiling, kLoop };
  struct TileUse {
    OpenTile open;
    std::size_t depth = 0;        // scopes around it
    const Body* swept = nullptr;  // the body its products stand in
    bool stored = false;
  };
  struct RegionUse {
    OpenRegion open;
    const Body* filled = nullptr;
    std::optional<int> side;  // 0: a, 1: b
  };

  void walk(const Body& body) {
    std::vector<TileId> opened_tiles;
    std::vector<RegionId> opened_regions;
    for (const Node& node : body) {
      if (const auto* tiling = std::get_if<Tiling>(&node.it)) {
        enter(tiling->axes, *tiling->body, Scope::kTiling);
      } else if (const auto* loop = std::get_if<Loop>(&node.it)) {
        enter({loop->axis}, *loop->body, Scope::kLoop);
      } else if (const auto* tile = std::get_if<OpenTile>(&node.it)) {
        open(*tile);
        opened_tiles.push_back(tile->tile);
      } else if (const auto* region = std::get_if<OpenRegion>(&node.it)) {
        check_counts({region->groups, region->blocks}, "a region");
        if (!regions_.try_emplace(region->region, RegionUse{*region, nullptr, {}}).second)
          refuse("NAME_TWICE", fmt::format("region {} is opened twice", region->region), "name it anew");
        open_regions_.insert(region->region);
        opened_regions.push_back(region->region);
      } else if (const auto* fill = std::get_if<FillRegion>(&node.it)) {
        check(*fill, body);
      } else if (const auto* product = std::get_if<Contraction>(&node.it)) {
        check(*product, body);
      } else {
        check(std::get<Store>(node.it));
      }
    }
    for (const TileId tile : opened_tiles) open_tiles_.erase(tile);
    for (const RegionId region : opened_regions) open_regions_.erase(region);
  }

  void enter(const std::vector<Axis>& axes, const Body& body, Scope scope) {
    if (axes.empty()) refuse("NO_AXES", "a tiling without axes", "give it at least one");
    for (const Axis& axis : axes) {
      check_scope(axis.extent);
      if (axis.extent.is_constant() && axis.extent.at({}) < (scope == Scope::kTiling ? 1 : 0))
        refuse("KNOB_NOT_POSITIVE", fmt::format("axis {} has the extent {}", axis.name, axis.extent.print()),
               "give it 1 or more");
      if (!names_.insert(axis.name).second)
        refuse("NAME_TWICE", fmt::format("two axes are called {}", axis.name), "name one anew");
    }
    for (const Axis& axis : axes) axes_.insert(axis.name);
    scopes_.push_back(scope);
    walk(body);
    scopes_.pop_back();
    for (const Axis& axis : axes) axes_.erase(axis.name);
  }

  bool in_tiling() const {
    return std::find(scopes_.begin(), scopes_.end(), Scope::kTiling) != scopes_.end();
  }

  void check_scope(const base::Index& index) const {
    for (const std::string& axis : index.axes())
      if (!axes_.contains(axis))
        refuse("INDEX_OUT_OF_SCOPE", fmt::format("index {} is used outside its tiling or loop", axis),
               "use it inside");
  }

  const Buffer& buffer(BufferId id) const {
    if (id >= kernel_.buffers.size()) throw arch::UserError::make("the kernel has no buffer {}", id);
    return kernel_.buffers[id];
  }

  static void check_counts(std::initializer_list<std::uint64_t> counts, const char* what) {
    for (const std::uint64_t n : counts)
      if (n < 1) refuse("KNOB_NOT_POSITIVE", fmt::format("{} of 0", what), "give it 1 or more");
  }

  void open(const OpenTile& tile) {
    check_counts({tile.gm, tile.gn, tile.nk}, "a tile");
    if (!in_tiling())
      refuse("TILE_OUTSIDE_TILING", "an accumulator outside of a tiling", "open units(...) around it");
    if (!tiles_.try_emplace(tile.tile, TileUse{tile, scopes_.size(), nullptr, false}).second)
      refuse("NAME_TWICE", fmt::format("accumulator {} is opened twice", tile.tile), "name it anew");
    open_tiles_.insert(tile.tile);
  }

  TileUse& use(TileId id) {
    if (!open_tiles_.contains(id))
      refuse("TILE_OUTSIDE_TILING", fmt::format("accumulator {} is used outside of its tiling", id),
             "store it where it was summed");
    return tiles_.at(id);
  }
  RegionUse& use_region(RegionId id) {
    if (!open_regions_.contains(id))
      refuse("REGION_OUTSIDE_TILING", fmt::format("region {} is used outside of its tiling", id),
             "open one in each tiling");
    return regions_.at(id);
  }

  void check_buffers() const {
    std::set<std::string> names;
    for (const Buffer& b : kernel_.buffers) {
      if (!names.insert(b.name).second)
        refuse("NAME_TWICE", fmt::format("two buffers are called {}", b.name), "name one anew");
      std::uint64_t size = 1;
      for (const std::uint32_t axis : b.shape) size = std::min(kMostElements, size * axis);
      if (size == 0)
        refuse("EMPTY_BUFFER", fmt::format("{} is {}: no elements", b.name, print(b.shape)),
               "give every axis 1 or more");
      const bool long_axis =
          std::any_of(b.shape.begin(), b.shape.end(), [](auto n) { return n > kMostAxis; });
      if (size == kMostElements || long_axis)
        refuse("EMPTY_BUFFER", fmt::format("{} is {}: more than memory can hold", b.name, print(b.shape)),
               "give it fewer elements: split the call");
      if (b.role == Role::kTable ? b.values.size() != size : !b.values.empty())
        refuse("TABLE_VALUES", fmt::format("{} values for {}, {}", b.values.size(), b.name, print(b.shape)),
               "give a table one value an element, and others none");
    }
  }

  void check_view(const View& view) const {
    const Buffer& of = buffer(view.buffer);
    std::uint64_t size = 1;
    for (const std::uint32_t axis : view.shape) size = std::min(kMostElements, size * axis);
    const std::uint64_t all = elements(of.shape);
    if (size == 0 || size > all || view.offset > all - size)
      refuse("VIEW_OUT_OF_BUFFER",
             fmt::format("{} elements from {} of {}, which has {}", size, view.offset, of.name, all),
             "keep the view inside its buffer");
    if (view.kind == View::Kind::kSpread && (view.spread.take == 0 || view.spread.take > view.spread.period))
      refuse("SPREAD_SHAPE", fmt::format("{} of every {} elements", view.spread.take, view.spread.period),
             "take at least 1 and at most the period");
    if (view.kind == View::Kind::kTaps && (view.shape.size() != 3 || view.shape[2] % 32 != 0))
      refuse("CONV_RANK", fmt::format("taps of {}", print(view.shape)),
             "take them of height x width x channels, blocks of 32 channels");
  }

  // What a cluster reads or writes: entries or tiles of a whole matrix.
  void check_cluster(const Access& access, bool read) {
    check_view(access.view);
    const Buffer& of = buffer(access.view.buffer);
    touched_.insert(access.view.buffer);
    const bool taps = access.view.kind == View::Kind::kTaps;
    if (taps && !read)
      refuse("WRITE_TO_SPREAD", fmt::format("a store to the taps of {}", of.name), "store to a buffer");
    if (access.view.kind == View::Kind::kSpread || access.view.offset != 0 || access.view.shape != of.shape ||
        of.flat)
      refuse("CLUSTER_INDEX_ON_VIEW", fmt::format("a tile of a view of {}", of.name),
             "index the buffer itself; copy the view to a temp() first when it has to be one");
    if (access.index.size() != 2)
      refuse("TILE_INDEX_COUNT", fmt::format("a tile of {} with {} indices", of.name, access.index.size()),
             "give it two: a(i, k)");
    if (!taps && of.shape.size() != 2)
      refuse("NOT_A_MATRIX", fmt::format("{} is {}", of.name, print(of.shape)), "give it two axes");
    for (const base::Index& index : access.index) check_scope(index);
  }

  void check_window(const Access& access, std::uint32_t blocks) {
    check_cluster(access, true);
    if (access.view.kind == View::Kind::kTaps && blocks != 1)
      refuse("TAPS_BLOCKS", fmt::format("taps in chunks of {} blocks", blocks),
             "give the tile nk = 1: the blocks of two taps do not lie side by side");
  }

  void check(const FillRegion& fill, const Body& body) {
    RegionUse& region = use_region(fill.region);
    check_window(fill.source, region.open.blocks);
    region.filled = &body;
    statements_ = true;
  }

  void check_factor(const Factor& factor, const TileUse& tile, int side, const Body& body) {
    if (const auto* access = std::get_if<Access>(&factor)) {
      check_window(*access, tile.open.nk);
      return;
    }
    const RegionId id = std::get<RegionId>(factor);
    RegionUse& region = use_region(id);
    if (region.filled != &body)
      refuse("REGION_NOT_FILLED", fmt::format("region {} is multiplied where nothing fills it", id),
             "fill it in the same loop as the product, just before");
    if (region.side && *region.side != side)
      refuse("REGION_BOTH_SIDES", fmt::format("region {} is used on both sides of a product", id),
             "open a region for each side: the two lie in different memories");
    region.side = side;
    const std::uint32_t groups = side == 0 ? tile.open.gm : tile.open.gn;
    if (region.open.groups != groups)
      refuse("REGION_SHAPE",
             fmt::format("region {} has {} row groups, the accumulator {}", id, region.open.groups, groups),
             "give both the same");
  }

  void check(const Contraction& product, const Body& body) {
    TileUse& tile = use(product.tile);
    const auto* a = std::get_if<RegionId>(&product.a);
    const auto* b = std::get_if<RegionId>(&product.b);
    if (a && b && *a == *b)
      refuse("REGION_BOTH_SIDES", fmt::format("region {} times itself", *a),
             "open a region for each side: the two lie in different memories");
    const auto blocks = [&](const RegionId* id) { return id ? use_region(*id).open.blocks : tile.open.nk; };
    if (blocks(a) != blocks(b) || blocks(a) != tile.open.nk)
      refuse("K_BLOCKS_DIFFER",
             fmt::format("a product of {} by {} blocks of K into an accumulator of {}", blocks(a), blocks(b),
                         tile.open.nk),
             "give both regions and the tile() the same nk");
    check_factor(product.a, tile, 0, body);
    check_factor(product.b, tile, 1, body);
    std::size_t loops = 0, tilings = 0;
    for (std::size_t i = tile.depth; i < scopes_.size(); ++i)
      ++(scopes_[i] == Scope::kLoop ? loops : tilings);
    if (loops > 1 || tilings != 0)
      refuse("TILE_SWEPT_IN_TWO_LOOPS",
             fmt::format("accumulator {} is swept under nested loops", product.tile),
             "open tile() inside the outer one, or make one loop of both");
    if (tile.swept && tile.swept != &body)
      refuse("TILE_SWEPT_IN_TWO_LOOPS", fmt::format("accumulator {} is swept in two places", product.tile),
             "put the products into one loop, or use two accumulators");
    // The cluster has one accumulator: sweeps follow each other, they do not alternate.
    const auto [last, fresh] = last_tile_.try_emplace(&body, product.tile);
    if (last->second != product.tile && (loops != 0 || tile.swept))
      refuse("SWEEPS_INTERLEAVED",
             fmt::format("accumulators {} and {} are swept in turns", last->second, product.tile),
             "give each its own loop, one after the other");
    if (!fresh) last->second = product.tile;
    if (tile.stored)
      refuse("SWEEP_AFTER_STORE", fmt::format("accumulator {} goes on after it was stored", product.tile),
             "open a new tile()");
    tile.swept = &body;
    statements_ = true;
  }

  void check_target(const Access& target) {
    check_view(target.view);
    const Buffer& of = buffer(target.view.buffer);
    touched_.insert(target.view.buffer);
    if (target.view.kind != View::Kind::kPlain)
      refuse("WRITE_TO_SPREAD", fmt::format("a store to a spread of {}", of.name), "store to the buffer");
    if (of.role == Role::kIn || of.role == Role::kTable)
      refuse("WRITE_TO_INPUT", fmt::format("a store to {}", of.name), "store to a result or a temp()");
    for (const base::Index& index : target.index) check_scope(index);
  }

  void check(const Store& store) {
    statements_ = true;
    check_counts({store.part}, "a part");
    const std::vector<std::uint32_t> order = store.expr.leaves();
    for (std::uint32_t i = 0; i < order.size(); ++i)
      if (order[i] != i)
        refuse("LEAF_ORDER", "leaves that are not numbered as the expression first meets them",
               "number them so");
    if (order.size() != store.leaves.size())
      refuse("LEAF_UNUSED", "a leaf that the expression does not use", "leave it out");
    check_target(store.target);
    const bool resident = std::any_of(store.leaves.begin(), store.leaves.end(),
                                      [](const Leaf& l) { return l.kind == Leaf::Kind::kTile; });
    if (resident)
      check_epilogue(store);
    else
      check_chain(store);
    if (store.reduce && (store.leaves.size() != 1 || store.leaves[0].kind != Leaf::Kind::kAccess ||
                         !is_fold(store.expr[store.expr.root()].op)))
      refuse("REDUCE_SHAPE", "a reduce that is not one row fold of one view", "store the expression instead");
  }

  void check_epilogue(const Store& store) {
    check_cluster(store.target, false);
    for (const Leaf& leaf : store.leaves) {
      if (leaf.kind == Leaf::Kind::kTile) {
        TileUse& tile = use(leaf.tile);
        if (tile.depth != scopes_.size() && tile.swept == nullptr)
          refuse("TILE_NEVER_SWEPT",
                 fmt::format("accumulator {} is stored before anything was added", leaf.tile),
                 "sweep it first");
        tile.stored = true;
      } else if (leaf.kind == Leaf::Kind::kAccess) {
        check_view(leaf.access.view);
        const Buffer& of = buffer(leaf.access.view.buffer);
        const bool channel = leaf.access.index.size() == 1 && of.shape.size() == 1 && !of.flat &&
                             leaf.access.view.kind == View::Kind::kPlain && leaf.access.view.offset == 0;
        if (!channel) {
          check_cluster(leaf.access, true);
          continue;
        }
        touched_.insert(leaf.access.view.buffer);
        check_scope(leaf.access.index[0]);
      }
    }
  }

  void check_chain(const Store& store) {
    const std::size_t count = store.target.index.size();
    const std::string& name = buffer(store.target.view.buffer).name;
    if (count > 1)
      refuse("TILE_INDEX_COUNT", fmt::format("a tile of {} without an accumulator", name),
             "index a part: y(e) <<= ..., under units(y.parts(part), ...)");
    if (count == 0 && in_tiling())
      refuse("WHOLE_STORE_IN_TILING", fmt::format("a store to the whole of {} inside a tiling", name),
             "index its part, or store after the tiling");
    if (count == 1 && !in_tiling())
      refuse("INDEX_OUT_OF_SCOPE", fmt::format("a store to a part of {} outside of a tiling", name),
             "open units(y.parts(part), ...) around it, or store to the whole buffer");
    for (const Leaf& leaf : store.leaves) {
      if (leaf.kind != Leaf::Kind::kAccess) continue;
      check_view(leaf.access.view);
      const Buffer& of = buffer(leaf.access.view.buffer);
      touched_.insert(leaf.access.view.buffer);
      if (leaf.access.view.kind == View::Kind::kTaps)
        refuse("TAPS_OUTSIDE_PRODUCT", fmt::format("lanes read the taps of {}", of.name), "multiply them");
      if (leaf.access.index.size() != count)
        refuse("TILE_INDEX_COUNT",
               fmt::format("{} is read with {} indices, {} is stored with {}", of.name,
                           leaf.access.index.size(), name, count),
               "index both sides alike");
      for (const base::Index& index : leaf.access.index) check_scope(index);
    }
  }

  const Kernel& kernel_;
  std::vector<Scope> scopes_;
  std::set<std::string> axes_, names_;
  std::map<TileId, TileUse> tiles_;
  std::map<RegionId, RegionUse> regions_;
  std::set<TileId> open_tiles_;
  std::set<RegionId> open_regions_;
  std::set<BufferId> touched_;
  std::map<const Body*, TileId> last_tile_;
  bool statements_ = false;
};

}  // namespace

void verify(const Kernel& kernel) { Verifier(kernel).run(); }

}  // namespace ktpu::kernel
