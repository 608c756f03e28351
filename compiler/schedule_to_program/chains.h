// SPDX-License-Identifier: Apache-2.0
// An expression as chains of lane operations, each working on the result of the one before (compiler.md
// sections 18.1 and 18.2).
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/base/expr.h"

namespace ktpu::schedule_to_program {

struct ChainSource {
  enum class Kind : std::uint8_t { kRunning, kLeaf, kChain };
  Kind kind = Kind::kRunning;  // the result of the operation before
  std::uint32_t number = 0;    // of the leaf; of the lifted chain
  bool operator==(const ChainSource&) const = default;
};
struct LaneStep {
  base::LaneOp op = base::LaneOp::kLeaf;
  base::Expr::Id node = 0;  // of the expression; with a choice, the comparison
  // A comparison and the choice it makes are one step with four sources: a, b, where true, where false.
  bool chooses = false;
  std::vector<ChainSource> sources;
  bool operator==(const LaneStep&) const = default;
};
using LaneChain = std::vector<LaneStep>;

// What is used more than once, or is no first computed argument, has a chain of its own, before its users.
// The last chain is the whole expression's. Throws base::Refusal (NO_OPERATION) for a bare leaf.
std::vector<LaneChain> linearise(const base::Expr& expression);

}  // namespace ktpu::schedule_to_program
