// SPDX-License-Identifier: Apache-2.0
// retired/sharedA and retired/schedule: traced graphs (vectors/compiler/README.md). Of the second only what
// is refused is decided here; a row that has bands says that they are not built.
#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/row_kinds.h"
#include "arch/error.h"
#include "compiler/base/refusal.h"
#include "compiler/traced/rewrite.h"
#include "compiler/traced/shared_a.h"

namespace ktpu::check {

using arch::UserError;
using nlohmann::json;

namespace {

constexpr std::int64_t kMany = 1 << 24;

template <class T>
std::vector<T> numbers(const json& list, const char* field) {
  if (!list.is_array()) throw UserError::make("{}: not a list", field);
  std::vector<T> all;
  for (const json& number : list) all.push_back(static_cast<T>(integer(number, field, 0, kMany)));
  return all;
}

traced::Graph graph_of(const json& row) {
  traced::Graph graph;
  const json& from = member(row, "graph");
  for (const json& each : member(from, "ops")) {
    traced::Op op;
    op.kind = text(member(each, "k"), "k");
    op.in = numbers<traced::Value>(member(each, "in"), "in");
    op.out = static_cast<traced::Value>(integer(member(each, "out"), "out", 0, kMany));
    op.shape = numbers<std::uint64_t>(member(each, "shape"), "shape");
    if (traced::group_of(op.kind) == traced::Group::kReduction) {
      const json& how = member(each, "a");
      op.axes = numbers<std::uint32_t>(member(how, "axes"), "axes");
      op.keepdim = member(how, "keepdim").get<bool>();
    }
    graph.ops.push_back(std::move(op));
  }
  graph.outputs = numbers<traced::Value>(member(from, "outputs"), "outputs");
  traced::verify(graph);
  return graph;
}

}  // namespace

// The rows name no target: the capacities are the usual ones.
void check_shared_a(const json& row, Differences& differences) {
  json result = json::object();
  for (const auto& [value, tile] : traced::shared_a_blocking(graph_of(row), {}))
    result[std::to_string(value)] = {tile.m, tile.k};
  compare_fields(row, {{"result", result}}, {"id", "path", "inputs", "graph"}, "", differences);
}

void check_traced_schedule(const json& row, Differences& differences) {
  traced::Graph graph = graph_of(row);
  const auto vlmax =
      static_cast<std::uint64_t>(integer(member(member(row, "target"), "vlmax"), "vlmax", 2, kMany));
  try {
    traced::split_wide(graph, vlmax);
    traced::refuse_unbandable(graph, vlmax);
  } catch (const base::Refusal&) {
    // The reference's class is information, as in every refused row.
    return compare_fields(row, {{"status", "refused"}},
                          {"id", "path", "inputs", "target", "opts", "graph", "exception"}, "", differences);
  }
  throw UserError("not supported by this version: bands of a traced graph");
}

}  // namespace ktpu::check
