// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule_to_program/exp2_range.h"

#include <algorithm>
#include <cmath>

namespace ktpu::schedule_to_program {
namespace {

using base::Expr;
using base::LaneOp;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double or_else(double value, double otherwise) { return std::isnan(value) ? otherwise : value; }
ValueRange sum(const ValueRange& a, const ValueRange& b) {
  return {or_else(a.least + b.least, -kInfinity), or_else(a.greatest + b.greatest, kInfinity)};
}
ValueRange negated(const ValueRange& a) { return {-a.greatest, -a.least}; }
ValueRange product(const ValueRange& a, const ValueRange& b) {
  const double corners[] = {or_else(a.least * b.least, 0), or_else(a.least * b.greatest, 0),
                            or_else(a.greatest * b.least, 0), or_else(a.greatest * b.greatest, 0)};
  return {*std::min_element(std::begin(corners), std::end(corners)),
          *std::max_element(std::begin(corners), std::end(corners))};
}
ValueRange inverse(const ValueRange& a) {
  if (a.least <= 0 && a.greatest >= 0) return {};
  return {1 / a.greatest, 1 / a.least};
}
ValueRange either(const ValueRange& a, const ValueRange& b) {
  return {std::min(a.least, b.least), std::max(a.greatest, b.greatest)};
}
ValueRange not_negative(double least, double greatest) {
  return {or_else(std::max(0.0, least), 0), or_else(greatest, kInfinity)};
}

class Ranges {
 public:
  Ranges(const Expr& expr, const std::vector<ValueRange>& leaves) : expr_(expr) {
    for (Expr::Id id = 0; id < expr.nodes().size(); ++id) ranges_.push_back(range(id, leaves));
  }

  ExponentClamp clamp(Expr::Id id) const {
    if (expr_[id].op != LaneOp::kExp2) return {};
    const ValueRange& argument = ranges_[expr_[id].args[0]];
    return {.below = argument.least < kLeastExponent, .above = kGreatestExponent < argument.greatest};
  }

 private:
  ValueRange range(Expr::Id id, const std::vector<ValueRange>& leaves) const {
    const Expr::Node& node = expr_[id];
    const auto of = [&](unsigned i) { return ranges_[node.args[i]]; };
    switch (node.op) {
      case LaneOp::kLeaf:
        return node.leaf < leaves.size() ? leaves[node.leaf] : ValueRange{};
      case LaneOp::kNeg:
        return negated(of(0));
      case LaneOp::kAbs:
        return not_negative(std::max(of(0).least, -of(0).greatest), std::max(of(0).greatest, -of(0).least));
      case LaneOp::kExp2:
        return {std::exp2(of(0).least), std::exp2(of(0).greatest)};
      case LaneOp::kLog2:
        return {of(0).least > 0 ? std::log2(of(0).least) : -kInfinity,
                of(0).greatest > 0 ? std::log2(of(0).greatest) : kInfinity};
      case LaneOp::kRecip:
        return inverse(of(0));
      case LaneOp::kRsqrt:
        return not_negative(1 / std::sqrt(of(0).greatest),
                            of(0).least > 0 ? 1 / std::sqrt(of(0).least) : kInfinity);
      case LaneOp::kSqrt:
        return not_negative(std::sqrt(of(0).least), std::sqrt(of(0).greatest));
      case LaneOp::kAdd:
        return sum(of(0), of(1));
      case LaneOp::kSub: {
        ValueRange all = sum(of(0), negated(of(1)));
        if (at_most(node.args[0], node.args[1])) all.greatest = std::min(all.greatest, 0.0);
        if (at_most(node.args[1], node.args[0])) all.least = std::max(all.least, 0.0);
        return all;
      }
      case LaneOp::kMul:
        return product(of(0), of(1));
      case LaneOp::kDiv:
        return product(of(0), inverse(of(1)));
      case LaneOp::kFma:
        return sum(product(of(0), of(1)), of(2));
      case LaneOp::kMax:
        return {std::max(of(0).least, of(1).least), std::max(of(0).greatest, of(1).greatest)};
      case LaneOp::kMin:
        return {std::min(of(0).least, of(1).least), std::min(of(0).greatest, of(1).greatest)};
      case LaneOp::kLess:
      case LaneOp::kGreater:
      case LaneOp::kEqual:
        return {0, 1};
      case LaneOp::kSelect:
        return either(of(1), of(2));
      case LaneOp::kRelu:
        return not_negative(of(0).least, std::max(0.0, of(0).greatest));
      case LaneOp::kRowMax:
      case LaneOp::kRowMin:
      case LaneOp::kCast:
        return of(0);
      case LaneOp::kRowSum:
        return {of(0).least >= 0 ? 0 : -kInfinity, of(0).greatest <= 0 ? 0 : kInfinity};
      case LaneOp::kRowSumsq:
        return {0, kInfinity};
    }
    return {};
  }

  // Whether value `a` is known never to be larger than value `b` of the same element.
  bool at_most(Expr::Id a, Expr::Id b) const {
    if (a == b) return true;
    const Expr::Node& low = expr_[a];
    const Expr::Node& high = expr_[b];
    if (high.op == LaneOp::kRowMax && at_most(a, high.args[0])) return true;
    if (high.op == LaneOp::kMax && (at_most(a, high.args[0]) || at_most(a, high.args[1]))) return true;
    if (low.op == LaneOp::kRowMin && at_most(low.args[0], b)) return true;
    return low.op == LaneOp::kMin && (at_most(low.args[0], b) || at_most(low.args[1], b));
  }

  const Expr& expr_;
  std::vector<ValueRange> ranges_;
};

arch::VectorWord bound(arch::VectorOpcode op, std::uint32_t destination, Operand value, Operand limit) {
  arch::VectorWord word = vector_word(op);
  word.vd = destination;
  word.sa = static_cast<std::uint32_t>(value.source);
  word.va = value.number;
  word.sb = static_cast<std::uint32_t>(limit.source);
  word.vb = limit.number;
  return word;
}

}  // namespace

std::vector<ExponentClamp> exponent_clamps(const Expr& expr, const std::vector<ValueRange>& leaves) {
  const Ranges ranges(expr, leaves);
  std::vector<ExponentClamp> clamps;
  for (Expr::Id id = 0; id < expr.nodes().size(); ++id) clamps.push_back(ranges.clamp(id));
  return clamps;
}

std::vector<arch::VectorWord> clamp_words(ExponentClamp clamp, std::uint32_t destination, Operand argument,
                                          Operand least, Operand greatest) {
  std::vector<arch::VectorWord> words;
  const auto add = [&](arch::VectorOpcode op, Operand limit) {
    words.push_back(bound(op, destination, argument, limit));
    argument = {arch::VectorSource::kVector, destination};
  };
  if (clamp.below) add(arch::VectorOpcode::kVmax, least);
  if (clamp.above) add(arch::VectorOpcode::kVmin, greatest);
  return words;
}

}  // namespace ktpu::schedule_to_program
