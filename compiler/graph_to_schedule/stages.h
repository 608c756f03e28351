// SPDX-License-Identifier: Apache-2.0
// The first half of the way down: the statements of a graph as stages, one list of statements for each place
// of a grid, every index a number. Internal to the lowering.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/graph_to_schedule/lower.h"

namespace ktpu::graph_to_schedule {

// The tile of an accumulator goes to the vector core that runs this place in the next stage, as its operand
// number `slot`.
struct NodeDrain {
  graph::TileId tile = 0;
  std::uint32_t gm = 1, gn = 1;
  std::uint32_t slot = 0;
};
using Statement = std::variant<graph::Fill, graph::Gemm, graph::Drain, NodeDrain, graph::Apply>;
using Place = std::vector<Statement>;

struct ProtoStage {
  schedule::UnitType unit = schedule::UnitType::kCluster;
  std::vector<std::uint32_t> grid;  // without the batch axis
  std::vector<Place> places;        // last axis fastest
  bool barrier = false;
  bool formed = false;  // a pass the compiler put around whole-buffer statements
  bool feeds_next = false;
  bool resident = false;  // its chains read tiles that the stage before delivers
  // Of a formed pass: the statements over the axes _e0, _e1, ...; `places` are made from them.
  std::vector<graph::Apply> pattern;
};
// A formed pass over another grid.
void regrid(ProtoStage& stage, std::vector<std::uint32_t> grid);

// Sections 15.1 to 15.4. Throws base::Refusal.
std::vector<ProtoStage> form_stages(const graph::Graph& graph, const schedule::Resources& resources,
                                    const Options& options);

// Drops each fill whose operand is in L1 already (15.2).
void prune(Place& place);

// 2 * distinct leaves not produced by the statements themselves + 1 + results: what the descriptors of one
// vector program have to hold (section 16). `results`: a region each.
std::uint32_t descriptor_budget(const std::vector<const graph::Apply*>& statements);
// Whether `apply` reads anything that `writer` writes; `exactly`: each time the very region.
bool depends(const graph::Apply& apply, const graph::Apply& writer, bool* exactly);

}  // namespace ktpu::graph_to_schedule
