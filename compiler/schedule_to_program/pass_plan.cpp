// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule_to_program/pass_plan.h"

#include <algorithm>

#include "compiler/base/refusal.h"
#include "compiler/schedule_to_program/limits.h"

namespace ktpu::schedule_to_program {
namespace {

using base::Expr;
using base::LaneOp;
using base::Phase;
using base::Refusal;
using schedule::Chain;
using schedule::Leaf;

Refusal refusal(std::string code, const std::string& what, const std::string& fix) {
  return {Phase::kBuild, std::move(code), what, fix};
}

void require_aligned(std::uint64_t at) {
  if (at % kLanes != 0)
    throw refusal("PART_UNALIGNED", fmt::format("element {} is not the first of a memory word", at),
                  fmt::format("make part and offsets multiples of {}", kLanes));
}

}  // namespace

PassPlan::PassPlan(const schedule::Schedule& schedule, std::span<const Chain* const> statements)
    : schedule_(schedule), statements_(statements) {
  for (std::size_t s = 0; s < statements.size(); ++s) add_statement(*statements[s], s);
  for (const BandOperand& operand : operands_) require_aligned(operand.at);
  for (const PassResult& result : results_) require_aligned(result.to.at);
  measure();
}

void PassPlan::add_statement(const Chain& statement, std::size_t number) {
  std::vector<Id> leaves;
  for (const Leaf& leaf : statement.leaves) {
    if (leaf.kind == Leaf::Kind::kConstant) {
      leaves.push_back(constant(leaf.value));
      continue;
    }
    KTPU_CHECK(leaf.kind == Leaf::Kind::kMemory, "a delivered tile outside an epilogue");
    BandOperand from{leaf.stretch.buffer, leaf.stretch.at, leaf.period, leaf.take, leaf.whole};
    // Read once only: instances begin where the buffer begins.
    if (from.whole && statement.span <= from.take) from = {from.buffer, from.at, 0, 0, false};
    // What the latest earlier statement made is at hand.
    std::optional<Id> made;
    for (std::size_t s = number; s-- > 0 && !made && from.period == 0;)
      if (results_[s].to == leaf.stretch) made = results_[s].value;
    if (!made) require_apart(statement, leaf, number);
    leaves.push_back(made ? *made : operand(from));
  }
  std::vector<Id> moved;
  for (const Expr::Node& node : statement.expr.nodes()) {
    if (node.op == LaneOp::kLeaf) {
      moved.push_back(node.leaf < leaves.size() ? leaves[node.leaf] : 0);
      continue;
    }
    std::array<Id, 3> args{};
    for (unsigned i = 0; i < base::info(node.op).arguments; ++i) args[i] = moved[node.args[i]];
    if (base::is_fold(node.op)) {
      if (!node.row || node.row->columns == 0)
        throw refusal("ROW_UNKNOWN", "a fold along rows of unknown width",
                      "fold a buffer whose last axis is the row");
      if (columns_ != 0 && columns_ != node.row->columns)
        throw refusal(
            "ROW_SHAPES",
            fmt::format("folds along rows of {} and of {} in one program", columns_, node.row->columns),
            "fold them in stages of their own");
      columns_ = node.row->columns;
    }
    // Which rows there are does not matter to the value: the same fold is one node.
    moved.push_back(node.op == LaneOp::kDiv    ? divide(args[0], args[1])
                    : node.op == LaneOp::kSqrt ? expr_.op(LaneOp::kRecip, {expr_.op(LaneOp::kRsqrt, args)})
                    : node.op == LaneOp::kRelu ? expr_.op(LaneOp::kMax, {args[0], constant(0.0)})
                                               : expr_.op(node.op, args));
  }
  results_.push_back({statement.result, moved[statement.expr.root()]});
}

// What is filled is what stood in memory before the program began.
void PassPlan::require_apart(const Chain& statement, const Leaf& leaf, std::size_t number) const {
  for (std::size_t s = 0; s < number; ++s) {
    const schedule::Stretch& made = results_[s].to;
    const bool apart = leaf.period == 0 && (leaf.stretch.at >= made.at + statements_[s]->span ||
                                            made.at >= leaf.stretch.at + statement.span);
    if (made.buffer == leaf.stretch.buffer && !apart)
      throw refusal("RUN_CUT_READS_RESULT",
                    fmt::format("a statement reads another part of '{}' than one before it writes",
                                schedule_.buffers.at(made.buffer).name),
                    "write them in stages of their own");
  }
}

PassPlan::Id PassPlan::constant(double value) {
  const auto known = std::find_if(leaves_.begin(), leaves_.end(),
                                  [&](const PassLeaf& leaf) { return leaf.constant == value; });
  const auto number = static_cast<std::uint32_t>(known - leaves_.begin());
  if (known == leaves_.end()) leaves_.push_back({value, 0});
  return expr_.leaf(number);
}

PassPlan::Id PassPlan::operand(const BandOperand& operand) {
  const auto index =
      static_cast<std::uint32_t>(std::find(operands_.begin(), operands_.end(), operand) - operands_.begin());
  if (index == operands_.size()) {
    if (operand.period != 0) require_whole_takes(operand);
    operands_.push_back(operand);
  }
  const auto known = std::find_if(leaves_.begin(), leaves_.end(), [&](const PassLeaf& leaf) {
    return !leaf.constant && leaf.operand == index;
  });
  const auto number = static_cast<std::uint32_t>(known - leaves_.begin());
  if (known == leaves_.end()) leaves_.push_back({std::nullopt, index});
  return expr_.leaf(number);
}

// The inverse is the same in a whole row more often than the quotient.
PassPlan::Id PassPlan::divide(Id dividend, Id divisor) {
  const Expr::Node& node = expr_[divisor];
  if (node.op == LaneOp::kLeaf && leaves_[node.leaf].constant)
    return expr_.op(LaneOp::kMul, {dividend, constant(1 / *leaves_[node.leaf].constant)});
  return expr_.op(LaneOp::kMul, {dividend, expr_.op(LaneOp::kRecip, {divisor})});
}

void PassPlan::measure() {
  std::uint64_t rows = ~0ull;
  for (const Chain* statement : statements_)
    for (const Expr::Node& node : statement->expr.nodes())
      if (base::is_fold(node.op)) rows = std::min(rows, node.row->rows);
  const std::uint64_t pitch = ceil_div(columns_, kLanes) * kLanes;
  for (std::size_t s = 0; s < statements_.size(); ++s) {
    std::uint64_t span = statements_[s]->span;
    if (columns_ != 0) span = std::min(span, rows * pitch);
    if (s != 0 && span != span_)
      throw refusal("RUN_SPANS", "statements over different lengths in one program",
                    "write them in stages of their own");
    span_ = span;
  }
  for (const Chain* statement : statements_)
    if (span_ % kLanes != 0 && !statement->last &&
        statement->result.at + span_ < schedule_.buffers.at(statement->result.buffer).held_widest)
      throw refusal(
          "RUN_PAST_END",
          fmt::format("results of {} elements can't be stored without writing what lies behind them", span_),
          fmt::format("make part a multiple of {}", kLanes));
  if (columns_ != 0 && span_ % pitch != 0)
    throw refusal("PART_CUTS_ROW", fmt::format("a part of {} elements cuts rows of {}", span_, columns_),
                  "make part a multiple of the row");
  for (const Expr::Node& node : expr_.nodes()) {
    unsigned pass = 0;
    bool along = node.op != LaneOp::kLeaf || leaves_[node.leaf].constant.has_value();
    for (unsigned i = 0; i < base::info(node.op).arguments; ++i) {
      pass = std::max(pass, pass_[node.args[i]]);
      along = along && along_row_[node.args[i]];
    }
    const bool fold = base::is_fold(node.op);
    pass_.push_back(pass + (fold ? 1 : 0));
    along_row_.push_back(along || fold);
    passes_ = std::max(passes_, pass_.back());
  }
  std::vector<ValueRange> ranges;
  for (const PassLeaf& leaf : leaves_)
    ranges.push_back(leaf.constant ? constant_range(*leaf.constant) : kHalfRange);
  clamps_ = exponent_clamps(expr_, ranges);
}

}  // namespace ktpu::schedule_to_program
