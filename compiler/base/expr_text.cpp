// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/expr_text.h"

#include <algorithm>
#include <map>

namespace ktpu::base {
namespace {

// Far more than any unit's registers hold; keeps a hostile text from taking all day.
constexpr std::size_t kMostNodes = 4096;

std::string row_text(const Expr::Node& node) {
  return node.row ? fmt::format(" row {}x{}", node.row->rows, node.row->columns) : std::string();
}

class ExprReader {
 public:
  ExprReader(TextReader& in, const std::function<bool(std::string_view)>& leaf) : in_(in), leaf_(leaf) {}

  ReadExpr run() {
    in_.open_block();
    while (!in_.take_word("store")) {
      if (named_.size() == kMostNodes) in_.fail(fmt::format("more than {} operations", kMostNodes));
      line();
    }
    read_.expr.set_root(argument());
    in_.end_of_line();
    in_.expect("}");
    std::vector<std::uint32_t> sorted = read_.numbers;
    std::sort(sorted.begin(), sorted.end());
    for (std::uint32_t i = 0; i < sorted.size(); ++i)
      if (sorted[i] != i) in_.fail(fmt::format("leaf {} is missing, or stands twice", i));
    return std::move(read_);
  }

 private:
  Expr::Id argument() {
    const std::size_t place = in_.place();
    const std::string name = in_.name('%', "an operand");
    const auto found = named_.find(name);
    if (found == named_.end()) in_.fail_at(place, fmt::format("%{} is not defined before this line", name));
    return found->second;
  }

  void line() {
    const std::size_t place = in_.place();
    const std::string name = in_.name('%', "a result, or store,");
    if (named_.contains(name)) in_.fail_at(place, fmt::format("%{} is already defined", name));
    in_.expect("=");
    const std::size_t operation_place = in_.place();
    const std::string kind = in_.word("an operation");
    const std::optional<LaneOp> op = lane_op(kind);
    named_[name] = op ? operation(*op) : leaf(kind, operation_place);
    in_.end_of_line();
  }

  Expr::Id operation(LaneOp op) {
    std::array<Expr::Id, 3> args{};
    for (unsigned i = 0; i < info(op).arguments; ++i) {
      if (i > 0) in_.expect(",");
      args[i] = argument();
    }
    std::optional<RowShape> row;
    if (in_.take_word("row")) {
      const std::vector<std::uint32_t> extents = in_.extents("a row shape", 2);
      row = RowShape{extents[0], extents[1]};
    }
    return read_.expr.op(op, args, row);
  }

  Expr::Id leaf(const std::string& kind, std::size_t place) {
    if (!leaf_(kind)) in_.fail_at(place, fmt::format("\"{}\" is no operation and no operand", kind));
    auto number = static_cast<std::uint32_t>(read_.numbers.size());
    if (in_.take_word("leaf")) number = in_.number32("the number of a leaf");
    read_.numbers.push_back(number);
    return read_.expr.leaf(number);
  }

  TextReader& in_;
  const std::function<bool(std::string_view)>& leaf_;
  std::map<std::string, Expr::Id, std::less<>> named_;
  ReadExpr read_;
};

}  // namespace

std::string print(const Expr& expr, const std::vector<std::string>& leaves, std::string_view indent) {
  std::string out = "{\n";
  std::uint32_t next_leaf = 0;
  for (Expr::Id id = 0; id < expr.nodes().size(); ++id) {
    const Expr::Node& node = expr[id];
    out += fmt::format("{}  %{} = ", indent, id);
    if (node.op == LaneOp::kLeaf) {
      out += node.leaf < leaves.size() ? leaves[node.leaf] : std::string("unknown");
      if (node.leaf != next_leaf) out += fmt::format(" leaf {}", node.leaf);
      ++next_leaf;
    } else {
      out += info(node.op).name;
      for (unsigned i = 0; i < info(node.op).arguments; ++i)
        out += fmt::format("{} %{}", i > 0 ? "," : "", node.args[i]);
      out += row_text(node);
    }
    out += '\n';
  }
  return out + fmt::format("{0}  store %{1}\n{0}}}", indent, expr.root());
}

ReadExpr read_expr(TextReader& in, const std::function<bool(std::string_view)>& leaf) {
  return ExprReader(in, leaf).run();
}

}  // namespace ktpu::base
