// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/expr.h"

#include <algorithm>

#include "arch/error.h"

namespace ktpu::base {
namespace {

constexpr std::array<LaneOpInfo, 25> kOps{{
    {"leaf", 0},    {"neg", 1},       {"abs", 1},    {"exp2", 1},    {"log2", 1},
    {"recip", 1},   {"rsqrt", 1},     {"add", 2},    {"sub", 2},     {"mul", 2},
    {"div", 2},     {"max", 2},       {"min", 2},    {"less", 2},    {"greater", 2},
    {"equal", 2},   {"fma", 3},       {"select", 3}, {"row_sum", 1}, {"row_max", 1},
    {"row_min", 1}, {"row_sumsq", 1}, {"sqrt", 1},   {"relu", 1},    {"cast", 1},
}};

}  // namespace

const LaneOpInfo& info(LaneOp op) { return kOps[static_cast<std::size_t>(op)]; }

std::optional<LaneOp> lane_op(std::string_view name) {
  for (std::size_t i = 1; i < kOps.size(); ++i)
    if (kOps[i].name == name) return static_cast<LaneOp>(i);
  return std::nullopt;
}

Expr::Id Expr::intern(const Node& node) {
  const auto found = std::find(nodes_.begin(), nodes_.end(), node);
  if (found != nodes_.end()) return static_cast<Id>(found - nodes_.begin());
  nodes_.push_back(node);
  return static_cast<Id>(nodes_.size() - 1);
}

Expr::Id Expr::leaf(std::uint32_t number) {
  Node node;
  node.leaf = number;
  return intern(node);
}

Expr::Id Expr::op(LaneOp op, std::array<Id, 3> args, std::optional<RowShape> row) {
  Node node;
  node.op = op;
  node.row = row;
  for (unsigned i = 0; i < info(op).arguments; ++i) {
    KTPU_CHECK(args[i] < nodes_.size(), "an argument of {} stands behind it", info(op).name);
    node.args[i] = args[i];
  }
  return intern(node);
}

std::vector<std::uint32_t> Expr::leaves() const {
  std::vector<std::uint32_t> order;
  std::vector<bool> seen(nodes_.size());
  std::vector<Id> open;
  if (!nodes_.empty()) open.push_back(root_);
  while (!open.empty()) {
    const Id id = open.back();
    open.pop_back();
    if (seen[id]) continue;
    seen[id] = true;
    const Node& node = nodes_[id];
    if (node.op == LaneOp::kLeaf) order.push_back(node.leaf);
    for (unsigned i = info(node.op).arguments; i-- > 0;) open.push_back(node.args[i]);
  }
  return order;
}

bool Expr::has_fold() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [](const Node& n) { return is_fold(n.op); });
}

}  // namespace ktpu::base
