// SPDX-License-Identifier: Apache-2.0
// One packing for an A operand that several products read (compiler.md section 8.3).
#pragma once

#include <map>

#include "compiler/base/tile_choice.h"
#include "compiler/traced/graph.h"

namespace ktpu::traced {

struct Blocking {
  std::uint64_t m = 1, k = 1;  // rows and columns of a tile of A, elements
  bool operator==(const Blocking&) const = default;
};

// The value whose memory an operand reads: itself through views that move nothing (reshape, expand). What
// selects or reorders elements (slice, permute, pad, concat) is gathered anew and counts as itself.
Value operand_root(const Graph& graph, Value operand);

// For each A operand (by its root) that more than one matmul reads: the smallest tile rows and the smallest
// tile columns of those that its matmuls choose. Throws base::Refusal when a product has no tile.
std::map<Value, Blocking> shared_a_blocking(const Graph& graph, const base::TileLimits& limits);

}  // namespace ktpu::traced
