// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule_to_program/chains.h"

#include <map>

#include "compiler/base/refusal.h"

namespace ktpu::schedule_to_program {
namespace {

using base::Expr;
using base::LaneOp;

class Linearise {
 public:
  explicit Linearise(const Expr& expression) : expression_(expression), uses_(expression.nodes().size()) {
    count_uses(expression.root());
  }

  std::vector<LaneChain> chains() {
    lift(expression_.root());
    return std::move(chains_);
  }

 private:
  bool computed(Expr::Id id) const { return expression_[id].op != LaneOp::kLeaf; }
  bool shared(Expr::Id id) const { return uses_[id] > 1; }
  unsigned arguments(Expr::Id id) const { return base::info(expression_[id].op).arguments; }

  // How often a walk reaches each node; what it has seen it does not walk again.
  void count_uses(Expr::Id root) {
    std::vector<Expr::Id> open{root};
    while (!open.empty()) {
      const Expr::Id id = open.back();
      open.pop_back();
      if (uses_[id]++ != 0) continue;
      for (unsigned i = 0; i < arguments(id); ++i) open.push_back(expression_[id].args[i]);
    }
  }

  std::uint32_t lift(Expr::Id id) {
    if (const auto known = lifted_.find(id); known != lifted_.end()) return known->second;
    LaneChain chain;
    append(id, chain);
    chains_.push_back(fuse_compares(chain));
    const auto number = static_cast<std::uint32_t>(chains_.size() - 1);
    lifted_[id] = number;
    return number;
  }

  void append(Expr::Id id, LaneChain& chain) {
    const Expr::Node& node = expression_[id];
    LaneStep step;
    step.op = node.op;
    step.node = id;
    bool inlined = false;
    for (unsigned i = 0; i < arguments(id); ++i) {
      const Expr::Id argument = node.args[i];
      if (!computed(argument)) {
        step.sources.push_back({ChainSource::Kind::kLeaf, expression_[argument].leaf});
      } else if (!inlined && !shared(argument)) {
        inlined = true;
        append(argument, chain);
        step.sources.push_back({ChainSource::Kind::kRunning, 0});
      } else {
        step.sources.push_back({ChainSource::Kind::kChain, lift(argument)});
      }
    }
    chain.push_back(std::move(step));
  }

  static LaneChain fuse_compares(const LaneChain& chain) {
    LaneChain fused;
    for (const LaneStep& step : chain) {
      const bool chooses = step.op == LaneOp::kSelect && !fused.empty() &&
                           base::is_compare(fused.back().op) && !fused.back().chooses &&
                           step.sources[0].kind == ChainSource::Kind::kRunning;
      if (!chooses) {
        fused.push_back(step);
        continue;
      }
      fused.back().chooses = true;
      fused.back().sources.push_back(step.sources[1]);
      fused.back().sources.push_back(step.sources[2]);
    }
    return fused;
  }

  const Expr& expression_;
  std::vector<unsigned> uses_;
  std::map<Expr::Id, std::uint32_t> lifted_;
  std::vector<LaneChain> chains_;
};

}  // namespace

std::vector<LaneChain> linearise(const Expr& expression) {
  KTPU_CHECK(!expression.nodes().empty(), "an expression without nodes");
  if (expression[expression.root()].op == LaneOp::kLeaf)
    throw base::Refusal(base::Phase::kBuild, "NO_OPERATION", "a result that is a bare operand",
                        "multiply it by 1.0");
  return Linearise(expression).chains();
}

}  // namespace ktpu::schedule_to_program
