// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "compiler/base/refusal.h"
#include "compiler/graph/graph.h"

namespace ktpu::graph {
namespace {

constexpr std::uint64_t kMostElements = std::uint64_t{1} << 39;  // of 2 bytes: all that 40 address bits name

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph) {}

  void run() {
    where_ = "graph @" + graph_.name;
    std::uint64_t lead = 1;
    for (const std::uint32_t axis : graph_.lead) lead = std::min(kMostElements, lead * axis);
    need(graph_.batch >= 1 && (graph_.batch == 1 || lead == graph_.batch), "BATCH_AXES",
         fmt::format("the batch axes hold {} elements, the batch is {}", lead, graph_.batch),
         "give the product of the axes");
    need(graph_.part >= 1, "KNOB_NOT_POSITIVE", "the part is 0", "give it at least 1");
    std::set<std::string> names;
    for (const Buffer& b : graph_.buffers) {
      where_ = "buffer %" + b.name;
      need(!b.name.empty() && names.insert(b.name).second, "BUFFER_NAME",
           "the name is empty or taken by another buffer", "give it a name of its own");
      buffer(b);
    }
    body(graph_.body);
  }

 private:
  struct Tile {
    std::uint32_t gm, gn;
    std::size_t loops;  // open around it
  };
  struct Filled {
    FillOrder order;
    bool used = false;
  };
  using Operand = std::pair<Side, std::uint32_t>;

  void need(bool holds, std::string_view code, const std::string& what, const std::string& fix) const {
    if (!holds)
      throw base::Refusal(base::Phase::kTrace, std::string(code), fmt::format("{}: {}", where_, what), fix);
  }

  void buffer(const Buffer& b) const {
    std::uint64_t elements = 1;
    for (const std::uint32_t extent : b.shape) elements = std::min(kMostElements, elements * extent);
    need(elements >= 1 && elements < kMostElements, "BUFFER_EMPTY",
         "the shape holds no element, or more than memory does", "give every extent at least 1");
    need(!b.batched || graph_.batched, "BATCH_AXES", "batched in a graph that has no batch",
         "give the graph its batch axes");
    if (b.role == Role::kTable)
      need(b.values.size() == elements, "TABLE_VALUES",
           fmt::format("{} values for {} elements", b.values.size(), elements),
           "give each element its value");
    else
      need(b.values.empty(), "TABLE_VALUES", "only a table has values", "make it a table");
  }

  void index(const base::Index& index) const {
    for (const std::string& axis : index.axes())
      need(open_axes_.contains(axis), "AXIS_NOT_OPEN", fmt::format("axis %{} is not open here", axis),
           "index by the axes of the tilings and loops around the statement");
  }
  // `formed`: tilings of the compiler's making share one name, so that neighbours can be put together.
  void extent(const Axis& axis, bool formed) {
    need(!axis.name.empty() && std::all_of(axis.name.begin(), axis.name.end(),
                                           [](unsigned char c) { return std::isalnum(c) || c == '_'; }),
         "AXIS_NAME", fmt::format("an axis cannot be named \"{}\"", axis.name),
         "use letters, digits and underlines");
    const bool fresh = all_axes_.insert(axis.name).second;
    const bool shared = formed && formed_axes_.contains(axis.name) && !open_axes_.contains(axis.name);
    if (formed && fresh) formed_axes_.insert(axis.name);
    need(fresh || shared, "AXIS_NAME", fmt::format("axis %{} exists twice", axis.name),
         "give each axis of the graph its own name");
    index(axis.extent);
    if (axis.extent.is_constant())
      need(axis.extent.at({}) >= 0, "EXTENT_NEGATIVE",
           fmt::format("axis %{} counts to less than 0", axis.name), "give an extent of at least 0");
  }
  void known(BufferId id) const {
    need(id < graph_.buffers.size(), "BUFFER_UNKNOWN", fmt::format("there is no buffer {}", id),
         "declare the buffer");
  }
  void written(BufferId id) const {
    known(id);
    need(graph_.buffers[id].role != Role::kTable, "TABLE_WRITTEN",
         fmt::format("%{} is a table: its contents are fixed", graph_.buffers[id].name), "write to a temp");
  }
  const Tile& opened(TileId id) const {
    const auto found = tiles_.find(id);
    need(found != tiles_.end(), "TILE_NOT_OPEN", fmt::format("no tile %t{} is open here", id),
         "open the tile before its first use, in the same tiling");
    return found->second;
  }

  void body(const Body& nodes) {
    const std::map<TileId, Tile> outside = tiles_;
    for (const Node& node : nodes) std::visit([&](const auto& it) { scope(node, it); }, node.it);
    tiles_ = outside;
  }
  void block(const std::shared_ptr<Body>& nodes, const std::vector<Axis>& axes, bool formed = false) {
    for (const Axis& axis : axes) extent(axis, formed);
    for (const Axis& axis : axes) open_axes_.insert(axis.name);
    if (nodes != nullptr) body(*nodes);
    for (const Axis& axis : axes) open_axes_.erase(axis.name);
  }
  void scope(const Node&, const Tiling& tiling) {
    where_ = "grid";
    if (tilings_++ == 0) filled_.clear();
    block(tiling.body, tiling.axes, tiling.formed);
    if (--tilings_ != 0) return;
    for (const auto& [operand, fill] : filled_)
      need(fill.used, "FILL_UNUSED",
           fmt::format("operand {} of side {} is filled but never multiplied", operand.second,
                       operand.first == Side::kA ? 'A' : 'B'),
           "multiply it, or leave the fill out");
  }
  void scope(const Node&, const Loop& loop) {
    where_ = "loop %" + loop.axis.name;
    ++loops_;
    block(loop.body, {loop.axis});
    --loops_;
  }
  template <typename Statement>
  void scope(const Node& node, const Statement& statement) {
    where_ = print_statement(graph_, node);
    need(tilings_ > 0, "NO_TILING", "stands in no tiling", "open a grid around it");
    one(statement);
  }

  void one(const OpenTile& open) {
    need(open.gm >= 1 && open.gn >= 1, "KNOB_NOT_POSITIVE", "a tile without sub-tiles",
         "give it at least 1x1");
    need(!tiles_.contains(open.tile), "TILE_OPEN", "this tile is open already", "give it another number");
    tiles_[open.tile] = {open.gm, open.gn, loops_};
  }
  void one(const Fill& fill) {
    known(fill.buffer);
    for (const base::Index& i : {fill.tile, fill.chunk, fill.lane, fill.step}) index(i);
    need(fill.order.groups >= 1 && fill.order.blocks >= 1 && fill.chunks >= 1, "KNOB_NOT_POSITIVE",
         "a fill of nothing", "give groups, blocks and chunks at least 1");
    if (fill.chunk.is_constant())
      need(fill.chunk.at({}) >= 0 && fill.chunk.at({}) < fill.chunks, "CHUNK_PAST_END",
           fmt::format("a tile has {} chunks", fill.chunks), "name one of them");
    Filled& filled = filled_[{fill.side, fill.operand}];
    filled.order = fill.order;
  }
  void multiplied(Side side, std::uint32_t operand, std::uint32_t groups, std::uint32_t blocks) {
    const auto found = filled_.find({side, operand});
    const char name = side == Side::kA ? 'A' : 'B';
    need(found != filled_.end(), "OPERAND_NOT_FILLED", fmt::format("side {} was not filled", name),
         "fill the operand first");
    Filled& filled = found->second;
    need(filled.order.blocks == blocks && filled.order.groups >= groups, "K_BLOCKS_DIFFER",
         fmt::format("side {} was filled with {}x{} groups and blocks, {}x{} are multiplied", name,
                     filled.order.groups, filled.order.blocks, groups, blocks),
         "fill what is multiplied");
    filled.used = true;
  }
  void one(const Gemm& gemm) {
    const Tile& tile = opened(gemm.tile);
    index(gemm.acc);
    need(gemm.gm == tile.gm && gemm.gn == tile.gn && gemm.nk >= 1, "TILE_SHAPE",
         fmt::format("the tile has {}x{} sub-tiles", tile.gm, tile.gn), "sweep the tile as it was opened");
    need(loops_ - tile.loops < 2, "TILE_SWEPT_IN_TWO_LOOPS",
         "the tile is swept in two loops inside one another, and cleared by the counter of the inner one",
         "open the tile inside the outer loop");
    multiplied(Side::kA, gemm.a_operand, gemm.gm, gemm.nk);
    multiplied(Side::kB, gemm.b_operand, gemm.gn, gemm.nk);
  }
  void one(const Drain& drain) {
    const Tile& tile = opened(drain.tile);
    written(drain.buffer);
    index(drain.row);
    index(drain.column);
    need(drain.gm == tile.gm && drain.gn == tile.gn, "TILE_SHAPE",
         fmt::format("the tile has {}x{} sub-tiles", tile.gm, tile.gn), "drain the tile as it was opened");
  }

  void leaf(const Leaf& leaf, bool resident) const {
    if (leaf.kind == Leaf::Kind::kConstant) return;
    if (leaf.kind == Leaf::Kind::kResident) {
      opened(leaf.tile);
      return;
    }
    known(leaf.buffer);
    for (const base::Index& i : {leaf.part, leaf.row, leaf.column}) index(i);
    need(leaf.kind == Leaf::Kind::kPart || resident, "NO_RESIDENT",
         "a tile or channel is read, but no accumulator stands beside it", "read a part");
    if (leaf.spread)
      need(leaf.spread->take >= 1 && leaf.spread->take <= leaf.spread->period, "SPREAD_SHAPE",
           fmt::format("{} elements out of every {}", leaf.spread->take, leaf.spread->period),
           "take at least 1 and at most the period");
  }
  void one(const Apply& apply) {
    const Target& to = apply.target;
    written(to.buffer);
    for (const base::Index& i : {to.part, to.row, to.column}) index(i);
    need(apply.part >= 1, "KNOB_NOT_POSITIVE", "the part is 0", "give it at least 1");
    const auto& nodes = apply.expr.nodes();
    need(apply.expr.root() < nodes.size(), "EXPRESSION_EMPTY", "nothing is stored", "store a value");
    for (const base::Expr::Node& node : nodes)
      need(node.op != base::LaneOp::kLeaf || node.leaf < apply.leaves.size(), "LEAF_UNKNOWN",
           fmt::format("leaf {} is not described", node.leaf), "describe it");
    const std::vector<std::uint32_t> order = apply.expr.leaves();
    for (std::uint32_t i = 0; i < order.size(); ++i)
      need(order[i] == i, "LEAF_ORDER", "the leaves are not numbered in the order the expression meets them",
           "number them so");
    need(order.size() == apply.leaves.size(), "LEAF_UNUSED", "a leaf is described but not used",
         "leave it out");
    if (apply.reduce) {
      const base::Expr::Node& root = nodes[apply.expr.root()];
      need(base::is_fold(root.op) && nodes[root.args[0]].op == base::LaneOp::kLeaf, "REDUCE_SHAPE",
           "a reduce is one row fold of one operand", "write it as an apply");
    }
    const bool resident = apply.has_resident();
    for (const Leaf& l : apply.leaves) leaf(l, resident);
    need(to.kind == Target::Kind::kPart || resident, "NO_RESIDENT",
         "a tile is written, but from no accumulator", "write a part");
  }

  const Graph& graph_;
  std::string where_;
  std::set<std::string> open_axes_, all_axes_, formed_axes_;
  std::map<TileId, Tile> tiles_;
  std::map<Operand, Filled> filled_;  // in the tiling at top level
  std::size_t loops_ = 0, tilings_ = 0;
};

}  // namespace

void verify(const Graph& graph) { Verifier(graph).run(); }

}  // namespace ktpu::graph
