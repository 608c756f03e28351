// SPDX-License-Identifier: Apache-2.0
#include "compiler/traced/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "compiler/base/refusal.h"

namespace ktpu::traced {

namespace {

bool reduces_last_axes(const Graph& graph, const Op& op) {
  const std::size_t rank = graph.shape(op.in[0]).size();
  if (op.axes.empty()) return false;
  for (std::size_t i = 0; i < op.axes.size(); ++i)
    if (op.axes[i] != rank - op.axes.size() + i) return false;
  return true;
}

// The largest divisor of `span` in 2..most; 0: none.
std::uint64_t largest_part(std::uint64_t span, std::uint64_t most) {
  for (std::uint64_t part = std::min(most, span); part >= 2; --part)
    if (span % part == 0) return part;
  return 0;
}

// Operation `at` as two; false when it stays.
bool split(Graph& graph, std::size_t at, std::uint64_t vlmax) {
  const Op op = graph.ops[at];
  if (group_of(op.kind) != Group::kReduction || !reduces_last_axes(graph, op)) return false;
  const std::uint64_t span = reduced_extent(graph, op);
  const std::uint64_t inner = span > vlmax ? largest_part(span, vlmax) : 0;
  if (inner == 0) return false;

  const Shape& from = graph.shape(op.in[0]);
  const Shape lead(from.begin(), from.end() - static_cast<std::ptrdiff_t>(op.axes.size()));
  const auto rank = static_cast<std::uint32_t>(lead.size());
  Value next = graph.next_value();
  std::vector<Op> parts;
  const auto add = [&](std::string kind, Value in, Shape shape, std::vector<std::uint32_t> axes) {
    parts.push_back({std::move(kind), {in}, next, std::move(shape), std::move(axes), false});
    return next++;
  };
  Shape cut = lead, outer = lead;
  cut.insert(cut.end(), {span / inner, inner});
  outer.push_back(span / inner);
  const Value pieces = add("reshape", op.in[0], cut, {});
  const Value first = add(op.kind, pieces, outer, {rank + 1});
  // Squares are taken once.
  Value last = add(op.kind == "sumsq" ? "sum" : op.kind, first, lead, {rank});
  if (lead != op.shape) last = add("reshape", last, op.shape, {});

  const auto place = graph.ops.erase(graph.ops.begin() + static_cast<std::ptrdiff_t>(at));
  graph.ops.insert(place, parts.begin(), parts.end());
  for (Op& reader : graph.ops) std::replace(reader.in.begin(), reader.in.end(), op.out, last);
  std::replace(graph.outputs.begin(), graph.outputs.end(), op.out, last);
  return true;
}

}  // namespace

void split_wide(Graph& graph, std::uint64_t vlmax) {
  // The first part of a split needs none; the second is met next.
  for (std::size_t at = 0; at < graph.ops.size(); ++at) split(graph, at, vlmax);
}

void refuse_unbandable(const Graph& graph, std::uint64_t vlmax) {
  using base::Phase;
  using base::Refusal;
  for (const Op& op : graph.ops)
    if (group_of(op.kind) == Group::kReduction)
      if (const std::uint64_t extent = reduced_extent(graph, op); extent > vlmax)
        throw Refusal(
            Phase::kStages, "WIDE_REDUCTION",
            fmt::format("%{} = {}: folds {} elements, a vector holds {}", op.out, op.kind, extent, vlmax),
            "reduce last axes whose extent has divisors, or pad them");
  for (const Value output : graph.outputs) {
    const Op* op = graph.maker(output);
    bool view = false;
    while (op != nullptr && group_of(op->kind) == Group::kView && op->kind != "concat") {
      view = true;
      op = graph.maker(op->in[0]);
    }
    if (view && op != nullptr && op->kind == "input")
      throw Refusal(Phase::kStages, "VIEW_OUTPUT",
                    fmt::format("output %{} only looks at input %{}: no band writes it", output, op->out),
                    "compute something from it, or let the host rearrange the input");
  }
}

}  // namespace ktpu::traced
