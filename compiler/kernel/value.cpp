// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernel/value.h"

#include "arch/error.h"
#include "compiler/base/refusal.h"
#include "compiler/kernel/trace_state.h"

namespace ktpu::kernel {

using base::LaneOp;
using base::Phase;
using base::Refusal;

void require_open(const std::shared_ptr<TraceState>& trace) {
  if (trace && !trace->open)
    throw Refusal(Phase::kTrace, "TRACE_CLOSED", "a value of a kernel whose trace is over",
                  "use it inside the body that made it");
}

void require_same(const std::shared_ptr<TraceState>& a, const std::shared_ptr<TraceState>& b) {
  require_open(a);
  require_open(b);
  if (a && b && a != b)
    throw Refusal(Phase::kTrace, "FOREIGN_VALUE", "a value of another kernel's trace",
                  "make both in the same body");
}

namespace {

// Rows of the elements a view brings, in their order; unknown for a block of any rank, a vector, a spread.
std::optional<base::RowShape> rows_of(const TraceState& trace, const View& view) {
  if (view.kind != View::Kind::kPlain || view.shape.size() < 2 || trace.kernel.buffers.at(view.buffer).flat)
    return {};
  const std::uint64_t columns = view.shape.back();
  return base::RowShape{elements(view.shape) / columns, columns};
}

std::shared_ptr<const Value::Node> access_node(const std::shared_ptr<TraceState>& trace, Access access) {
  auto node = std::make_shared<Value::Node>();
  node->row = rows_of(*trace, access.view);
  node->leaf.access = std::move(access);
  node->trace = trace;
  return node;
}

}  // namespace

Value::Value(double constant) {
  auto node = std::make_shared<Node>();
  node->leaf.kind = Leaf::Kind::kConstant;
  node->leaf.value = constant;
  node_ = std::move(node);
}
Value::Value(const Ref& whole) {
  require_open(whole.trace());
  node_ = access_node(whole.trace(), {whole.view(), {}});
}
Value::Value(const At& part) {
  require_open(part.trace());
  node_ = access_node(part.trace(), part.access());
}
Value::Value(const Accumulator& acc) {
  require_open(acc.trace());
  auto node = std::make_shared<Node>();
  node->leaf.kind = Leaf::Kind::kTile;
  node->leaf.tile = acc.tile();
  node->trace = acc.trace();
  node_ = std::move(node);
}

Value Value::op(LaneOp op, std::initializer_list<Value> args) {
  KTPU_CHECK(args.size() == info(op).arguments, "{} takes {} values", info(op).name, info(op).arguments);
  auto node = std::make_shared<Node>();
  node->op = op;
  std::size_t i = 0;
  for (const Value& arg : args) {
    require_same(node->trace, arg.node_->trace);
    if (!node->trace) node->trace = arg.node_->trace;
    if (!node->row) node->row = arg.node_->row;
    node->args[i++] = arg.node_;
  }
  return Value(std::shared_ptr<const Node>(std::move(node)));
}

void Value::refuse_add() {
  throw Refusal(Phase::kTrace, "ADD_TO_EXPRESSION", "`+=` on an expression",
                "only an accumulator of tile() takes `+= matmul(a, b)`; write y <<= y + x for the rest");
}

Value operator+(const Value& a, const Value& b) { return Value::op(LaneOp::kAdd, {a, b}); }
Value operator-(const Value& a, const Value& b) { return Value::op(LaneOp::kSub, {a, b}); }
Value operator*(const Value& a, const Value& b) { return Value::op(LaneOp::kMul, {a, b}); }
Value operator/(const Value& a, const Value& b) { return Value::op(LaneOp::kDiv, {a, b}); }
Value operator-(const Value& a) { return Value::op(LaneOp::kNeg, {a}); }
Value operator<(const Value& a, const Value& b) { return Value::op(LaneOp::kLess, {a, b}); }
Value operator>(const Value& a, const Value& b) { return Value::op(LaneOp::kGreater, {a, b}); }
Value equal(const Value& a, const Value& b) { return Value::op(LaneOp::kEqual, {a, b}); }
Value exp2(const Value& a) { return Value::op(LaneOp::kExp2, {a}); }
Value log2(const Value& a) { return Value::op(LaneOp::kLog2, {a}); }
Value recip(const Value& a) { return Value::op(LaneOp::kRecip, {a}); }
Value rsqrt(const Value& a) { return Value::op(LaneOp::kRsqrt, {a}); }
Value absolute(const Value& a) { return Value::op(LaneOp::kAbs, {a}); }
Value maximum(const Value& a, const Value& b) { return Value::op(LaneOp::kMax, {a, b}); }
Value minimum(const Value& a, const Value& b) { return Value::op(LaneOp::kMin, {a, b}); }
Value where(const Value& condition, const Value& if_not_zero, const Value& if_zero) {
  return Value::op(LaneOp::kSelect, {condition, if_not_zero, if_zero});
}
Value fma(const Value& a, const Value& b, const Value& c) { return Value::op(LaneOp::kFma, {a, b, c}); }
Value row_sum(const Value& a) { return Value::op(LaneOp::kRowSum, {a}); }
Value row_max(const Value& a) { return Value::op(LaneOp::kRowMax, {a}); }

// There is no square root among the lane instructions (section 14).
Value sqrt_approx(const Value& a) { return recip(rsqrt(a)); }
Value sqrt_newton(const Value& a) {
  const Value y = rsqrt(a);
  const Value s = a * y;
  return s * (1.5 - s * y * 0.5);
}

}  // namespace ktpu::kernel
