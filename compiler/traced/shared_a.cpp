// SPDX-License-Identifier: Apache-2.0
#include "compiler/traced/shared_a.h"

#include <algorithm>

namespace ktpu::traced {

Value operand_root(const Graph& graph, Value operand) {
  for (const Op* op = graph.maker(operand); op != nullptr; op = graph.maker(operand)) {
    if (op->kind != "reshape" && op->kind != "expand") break;
    operand = op->in[0];
  }
  return operand;
}

std::map<Value, Blocking> shared_a_blocking(const Graph& graph, const base::TileLimits& limits) {
  std::map<Value, Blocking> smallest;
  std::map<Value, std::size_t> readers;
  for (const Op& op : graph.ops) {
    if (group_of(op.kind) != Group::kMatmul) continue;
    const Shape &a = graph.shape(op.in[0]), &b = graph.shape(op.in[1]);
    const base::TileCandidate tile = base::choose_tile({a[a.size() - 2], b.back(), a.back()}, limits);
    const Value root = operand_root(graph, op.in[0]);
    if (++readers[root] == 1) smallest[root] = {tile.bm(), tile.bk()};
    Blocking& shared = smallest[root];
    shared = {std::min(shared.m, tile.bm()), std::min(shared.k, tile.bk())};
  }
  std::erase_if(smallest, [&](const auto& entry) { return readers[entry.first] < 2; });
  return smallest;
}

}  // namespace ktpu::traced
