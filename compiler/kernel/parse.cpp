// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>

#include "compiler/base/expr_text.h"
#include "compiler/kernel/kernel.h"

namespace ktpu::kernel {
namespace {

constexpr int kDeepest = 32;  // tilings and loops inside one another

class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : in_(text, file) {}

  Kernel run() {
    in_.skip_lines();
    in_.expect_word("kernel");
    kernel_.name = in_.name('@', "the kernel");
    in_.expect_word("batch");
    kernel_.batch = in_.number("the batch");
    if (in_.take_word("lead")) kernel_.lead = in_.extents("the leading axes");
    if (in_.take_word("flat")) kernel_.flat = in_.number("the elements of a block");
    if (in_.take_word("part")) kernel_.part = in_.number("the part");
    kernel_.fuse = !in_.take_word("unfused");
    in_.open_block();
    while (in_.take_word("knob")) knob();
    while (in_.take_word("extent")) {
      const std::string name = in_.word("an extent");
      kernel_.extents[name] = in_.signed_number("its value");
      in_.end_of_line();
    }
    while (in_.take_word("buffer")) declare();
    kernel_.body = body(0);
    in_.end_of_text();
    return std::move(kernel_);
  }

 private:
  void knob() {
    const std::string name = in_.word("a knob");
    if (in_.at('"')) {
      kernel_.knobs[name] = in_.string("a word");
    } else {
      const std::size_t place = in_.place();
      const std::string value = in_.word("its value");
      kernel_.knobs[name] = in_.placed(place, [&] { return parse_knob(value); });
    }
    in_.end_of_line();
  }

  void declare() {
    static const std::map<std::string, Role, std::less<>> kRoles{
        {"in", Role::kIn}, {"out", Role::kOut}, {"temp", Role::kTemp}, {"table", Role::kTable}};
    const std::size_t place = in_.place();
    Buffer buffer;
    buffer.name = in_.name('%', "a buffer");
    if (!ids_.emplace(buffer.name, static_cast<BufferId>(kernel_.buffers.size())).second)
      in_.fail_at(place, fmt::format("buffer %{} is already declared", buffer.name));
    const std::size_t role_place = in_.place();
    const auto role = kRoles.find(in_.word("a role"));
    if (role == kRoles.end()) in_.fail_at(role_place, "a role is in, out, temp or table");
    buffer.role = role->second;
    buffer.shape = in_.tensor_type();
    buffer.batched = in_.take_word("batched");
    buffer.flat = in_.take_word("flat");
    if (in_.at('{')) buffer.values = in_.words16();
    in_.end_of_line();
    kernel_.buffers.push_back(std::move(buffer));
  }

  // %t3, %r0: a letter and a number.
  std::uint32_t numbered(char letter, const char* what) {
    const std::size_t place = in_.place();
    const std::string name = in_.name('%', what);
    if (name.size() < 2 || name[0] != letter || name.size() > 10 ||
        name.find_first_not_of("0123456789", 1) != std::string::npos)
      in_.fail_at(place,
                  fmt::format("{} is named %{}0, %{}1 and so on, not %{}", what, letter, letter, name));
    std::uint32_t id = 0;
    for (const char digit : name.substr(1)) id = id * 10 + static_cast<std::uint32_t>(digit - '0');
    return id;
  }
  TileId tile() { return numbered('t', "a tile"); }
  RegionId region() { return numbered('r', "a region"); }

  Access access() {
    const std::size_t place = in_.place();
    const std::string name = in_.name('%', "a buffer");
    const auto found = ids_.find(name);
    if (found == ids_.end()) in_.fail_at(place, fmt::format("buffer %{} is not declared", name));
    Access made;
    View& view = made.view;
    view.buffer = found->second;
    view.shape = kernel_.buffers[view.buffer].shape;
    if (in_.take("[")) {
      do made.index.push_back(in_.index("an index"));
      while (in_.take(","));
      in_.expect("]");
    }
    if (in_.take_word("as")) view.shape = in_.extents("the shape of a view");
    if (in_.take_word("offset")) view.offset = in_.number("an offset");
    if (in_.take_word("spread")) {
      view.kind = View::Kind::kSpread;
      view.spread.take = in_.number("elements");
      in_.expect_word("of");
      view.spread.period = in_.number("a period");
    } else if (in_.take_word("taps")) {
      view.kind = View::Kind::kTaps;
    }
    return made;
  }
  Factor factor() {
    if (in_.take_word("region")) return region();
    return access();
  }

  Body body(int depth) {
    if (depth > kDeepest) in_.fail(fmt::format("more than {} tilings and loops in one another", kDeepest));
    Body nodes;
    while (!in_.close_block()) statement(nodes.emplace_back(), depth);
    return nodes;
  }
  std::shared_ptr<Body> block(int depth) {
    in_.open_block();
    return std::make_shared<Body>(body(depth + 1));
  }

  void statement(Node& node, int depth) {
    const std::size_t place = in_.place();
    const std::string kind = in_.word("a statement or '}'");
    if (kind == "units" || kind == "grid") {
      node.it = tiling(kind == "units", depth);
      return;
    }
    if (kind == "loop") {
      Loop loop;
      loop.axis = axis();
      loop.body = block(depth);
      node.it = std::move(loop);
      return;
    }
    if (kind == "tile")
      node.it = open_tile();
    else if (kind == "region")
      node.it = open_region();
    else if (kind == "fill")
      node.it = fill();
    else if (kind == "multiply")
      node.it = multiply();
    else if (kind == "store" || kind == "reduce")
      node.it = store(kind == "reduce");
    else
      in_.fail_at(place, fmt::format("units, grid, loop, tile, region, fill, multiply, store or reduce "
                                     "expected, not \"{}\"",
                                     kind));
    in_.end_of_line();
  }

  Axis axis() {
    Axis made;
    made.name = in_.name('%', "an axis");
    in_.expect_word("in");
    made.extent = in_.index_operand("an extent");
    return made;
  }
  Tiling tiling(bool barrier, int depth) {
    Tiling made;
    made.barrier = barrier;
    in_.expect("(");
    do made.axes.push_back(axis());
    while (in_.take(","));
    in_.expect(")");
    made.body = block(depth);
    return made;
  }
  OpenTile open_tile() {
    OpenTile made;
    made.tile = tile();
    const std::vector<std::uint32_t> shape = in_.extents("gm x gn x nk", 3);
    made.gm = shape[0];
    made.gn = shape[1];
    made.nk = shape[2];
    if (in_.take_word("land")) made.land = in_.name('%', "a landed buffer");
    return made;
  }
  OpenRegion open_region() {
    OpenRegion made;
    made.region = region();
    const std::vector<std::uint32_t> shape = in_.extents("groups x blocks", 2);
    made.groups = shape[0];
    made.blocks = shape[1];
    return made;
  }
  FillRegion fill() {
    FillRegion made;
    made.region = region();
    in_.expect_word("from");
    made.source = access();
    return made;
  }
  Contraction multiply() {
    Contraction made;
    made.tile = tile();
    made.a = factor();
    in_.expect(",");
    made.b = factor();
    return made;
  }

  std::optional<Leaf> leaf(std::string_view kind) {
    Leaf made;
    if (kind == "load") {
      made.access = access();
    } else if (kind == "const") {
      made.kind = Leaf::Kind::kConstant;
      made.value = in_.real("a constant");
    } else if (kind == "tile") {
      made.kind = Leaf::Kind::kTile;
      made.tile = tile();
    } else {
      return std::nullopt;
    }
    return made;
  }
  Store store(bool reduce) {
    Store made;
    made.reduce = reduce;
    made.target = access();
    if (in_.take_word("part")) made.part = in_.number("the part");
    std::vector<Leaf> read;
    const base::ReadExpr expr = base::read_expr(in_, [&](std::string_view kind) {
      const std::optional<Leaf> one = leaf(kind);
      if (one) read.push_back(*one);
      return one.has_value();
    });
    made.expr = expr.expr;
    made.leaves = expr.sorted(read);
    return made;
  }

  base::TextReader in_;
  Kernel kernel_;
  std::map<std::string, BufferId, std::less<>> ids_;
};

}  // namespace

Kernel parse(std::string_view text, std::string_view file_name) { return Parser(text, file_name).run(); }

}  // namespace ktpu::kernel
