// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>

#include "compiler/base/expr_text.h"
#include "compiler/graph/graph.h"

namespace ktpu::graph {
namespace {

constexpr int kDeepest = 32;  // tilings and loops inside one another

class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : in_(text, file) {}

  Graph run() {
    in_.skip_lines();
    in_.expect_word("graph");
    graph_.name = in_.name('@', "the graph");
    in_.expect_word("batch");
    graph_.batch = in_.number("the batch");
    graph_.batched = in_.take_word("batched");
    if (in_.take_word("lead")) graph_.lead = in_.extents("the batch axes");
    if (in_.take_word("part")) graph_.part = in_.number("the part");
    graph_.fuse = !in_.take_word("unfused");
    in_.open_block();
    while (in_.take_word("buffer")) declare();
    graph_.body = body(0);
    in_.end_of_text();
    return std::move(graph_);
  }

 private:
  void declare() {
    static const std::map<std::string, Role, std::less<>> kRoles{
        {"in", Role::kIn}, {"out", Role::kOut}, {"temp", Role::kTemp}, {"table", Role::kTable}};
    const std::size_t place = in_.place();
    Buffer buffer;
    buffer.name = in_.name('%', "a buffer");
    if (!ids_.emplace(buffer.name, static_cast<BufferId>(graph_.buffers.size())).second)
      in_.fail_at(place, fmt::format("buffer %{} is already declared", buffer.name));
    const std::size_t role_place = in_.place();
    const auto role = kRoles.find(in_.word("a role"));
    if (role == kRoles.end()) in_.fail_at(role_place, "a role is in, out, temp or table");
    buffer.role = role->second;
    buffer.shape = in_.tensor_type();
    buffer.batched = in_.take_word("batched");
    if (in_.at('{')) buffer.values = in_.words16();
    in_.end_of_line();
    graph_.buffers.push_back(std::move(buffer));
  }

  BufferId buffer() {
    const std::size_t place = in_.place();
    const std::string name = in_.name('%', "a buffer");
    const auto found = ids_.find(name);
    if (found == ids_.end()) in_.fail_at(place, fmt::format("buffer %{} is not declared", name));
    return found->second;
  }
  TileId tile() {
    const std::size_t place = in_.place();
    const std::string name = in_.name('%', "a tile");
    std::uint64_t id = 0;
    if (name.size() < 2 || name[0] != 't' || name.size() > 10 ||
        name.find_first_not_of("0123456789", 1) != std::string::npos)
      in_.fail_at(place, fmt::format("a tile is named %t0, %t1 and so on, not %{}", name));
    for (const char digit : name.substr(1)) id = id * 10 + static_cast<std::uint64_t>(digit - '0');
    return static_cast<TileId>(id);
  }
  void tile_shape(std::uint32_t& gm, std::uint32_t& gn) {
    const std::vector<std::uint32_t> shape = in_.extents("the sub-tiles of a tile", 2);
    gm = shape[0];
    gn = shape[1];
  }

  Body body(int depth) {
    if (depth > kDeepest) in_.fail(fmt::format("more than {} tilings and loops in one another", kDeepest));
    Body nodes;
    while (!in_.close_block()) {
      nodes.push_back(statement(depth));
    }
    return nodes;
  }
  std::shared_ptr<Body> block(int depth) {
    in_.open_block();
    return std::make_shared<Body>(body(depth + 1));
  }

  Node statement(int depth) {
    const std::size_t place = in_.place();
    const std::string kind = in_.word("a statement or '}'");
    if (kind == "grid") return {tiling(depth)};
    if (kind == "loop") {
      Loop loop;
      loop.axis = axis();
      loop.body = block(depth);
      return {std::move(loop)};
    }
    Node node;
    if (kind == "tile")
      node.it = open_tile();
    else if (kind == "fill")
      node.it = fill();
    else if (kind == "gemm")
      node.it = gemm();
    else if (kind == "drain")
      node.it = drain();
    else if (kind == "apply" || kind == "reduce")
      node.it = apply(kind == "reduce");
    else
      in_.fail_at(
          place,
          fmt::format("grid, loop, tile, fill, gemm, drain, apply or reduce expected, not \"{}\"", kind));
    in_.end_of_line();
    return node;
  }

  Axis axis() {
    Axis axis;
    axis.name = in_.name('%', "an axis");
    in_.expect_word("in");
    axis.extent = in_.index_operand("an extent");
    return axis;
  }
  Tiling tiling(int depth) {
    Tiling tiling;
    in_.expect("(");
    if (!in_.take(")")) {
      do tiling.axes.push_back(axis());
      while (in_.take(","));
      in_.expect(")");
    }
    tiling.barrier = in_.take_word("barrier");
    tiling.formed = in_.take_word("formed");
    tiling.body = block(depth);
    return tiling;
  }
  OpenTile open_tile() {
    OpenTile open;
    open.tile = tile();
    tile_shape(open.gm, open.gn);
    if (in_.take_word("land")) open.land = in_.name('%', "a landed buffer");
    return open;
  }
  Fill fill() {
    Fill fill;
    const std::size_t place = in_.place();
    const std::string side = in_.word("a side");
    if (side != "A" && side != "B") in_.fail_at(place, "a side is A or B");
    fill.side = side == "A" ? Side::kA : Side::kB;
    fill.buffer = buffer();
    in_.expect("[");
    fill.tile = in_.index("a tile");
    in_.expect(",");
    fill.chunk = in_.index("a chunk");
    in_.expect_word("of");
    fill.chunks = in_.number32("the number of chunks");
    in_.expect("]");
    if (in_.take_word("conv"))
      fill.order.kind = FillOrder::Kind::kConv;
    else
      in_.expect_word("entry");
    tile_shape(fill.order.groups, fill.order.blocks);
    in_.expect_word("step");
    fill.step = in_.index_operand("the step");
    if (in_.take_word("lane")) fill.lane = in_.index_operand("the lane");
    if (in_.take_word("operand")) fill.operand = in_.number32("the operand");
    return fill;
  }
  Gemm gemm() {
    Gemm gemm;
    gemm.tile = tile();
    const std::vector<std::uint32_t> shape = in_.extents("gm x gn x nk", 3);
    gemm.gm = shape[0];
    gemm.gn = shape[1];
    gemm.nk = shape[2];
    in_.expect_word("acc");
    gemm.acc = in_.index_operand("the counter");
    if (in_.take_word("a")) gemm.a_operand = in_.number32("an operand");
    if (in_.take_word("b")) gemm.b_operand = in_.number32("an operand");
    return gemm;
  }
  Drain drain() {
    Drain drain;
    drain.tile = tile();
    tile_shape(drain.gm, drain.gn);
    in_.expect_word("to");
    drain.buffer = buffer();
    in_.expect("[");
    drain.row = in_.index("a row");
    in_.expect(",");
    drain.column = in_.index("a column");
    in_.expect("]");
    return drain;
  }

  std::uint64_t offset() { return in_.take_word("offset") ? in_.number("an offset") : 0; }

  std::optional<Leaf> leaf(std::string_view kind) {
    Leaf leaf;
    if (kind == "load") {
      leaf.buffer = buffer();
      in_.expect("[");
      leaf.part = in_.index("a part");
      in_.expect("]");
      leaf.offset = offset();
      if (in_.take_word("spread")) {
        leaf.spread.emplace();
        leaf.spread->take = in_.number("elements");
        in_.expect_word("of");
        leaf.spread->period = in_.number("a period");
        leaf.spread->whole = in_.take_word("whole");
      }
    } else if (kind == "tile") {
      leaf.kind = Leaf::Kind::kTile;
      leaf.buffer = buffer();
      in_.expect("[");
      leaf.row = in_.index("a row");
      in_.expect(",");
      leaf.column = in_.index("a column");
      in_.expect("]");
    } else if (kind == "channel") {
      leaf.kind = Leaf::Kind::kChannel;
      leaf.buffer = buffer();
      in_.expect("[");
      leaf.column = in_.index("a column");
      in_.expect("]");
    } else if (kind == "const") {
      leaf.kind = Leaf::Kind::kConstant;
      leaf.value = in_.real("a constant");
    } else if (kind == "resident") {
      leaf.kind = Leaf::Kind::kResident;
      leaf.tile = tile();
    } else {
      return std::nullopt;
    }
    return leaf;
  }
  Apply apply(bool reduce) {
    Apply apply;
    apply.reduce = reduce;
    Target& to = apply.target;
    to.buffer = buffer();
    in_.expect("[");
    to.part = in_.index("a part, or a row");
    if (in_.take(",")) {
      to.kind = Target::Kind::kTile;
      std::swap(to.row, to.part);
      to.column = in_.index("a column");
    }
    in_.expect("]");
    if (to.kind == Target::Kind::kPart) to.offset = offset();
    if (in_.take_word("part")) apply.part = in_.number("the part");
    std::vector<Leaf> read;
    const base::ReadExpr expr = base::read_expr(in_, [&](std::string_view kind) {
      const std::optional<Leaf> one = leaf(kind);
      if (one) read.push_back(*one);
      return one.has_value();
    });
    apply.expr = expr.expr;
    apply.leaves = expr.sorted(read);
    return apply;
  }

  base::TextReader in_;
  Graph graph_;
  std::map<std::string, BufferId, std::less<>> ids_;
};

}  // namespace

Graph parse(std::string_view text, std::string_view file_name) { return Parser(text, file_name).run(); }

}  // namespace ktpu::graph
