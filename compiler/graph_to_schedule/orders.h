// SPDX-License-Identifier: Apache-2.0
// Which order each buffer needs in each stage, and what that makes of its size (compiler.md section 16).
// Internal to the lowering.
#pragma once

#include <map>
#include <vector>

#include "compiler/graph_to_schedule/stages.h"

namespace ktpu::graph_to_schedule {

struct Change {
  std::size_t stage = 0;    // from this one on
  schedule::Layout order;   // of one batch element
  std::uint64_t bytes = 0;  // of one batch element
};
struct BufferOrders {
  std::vector<Change> changes;     // never empty
  std::uint64_t widest_bytes = 0;  // of one batch element, over all orders
  std::uint64_t batch_stride = 0;  // bytes; 0: not batched
  std::uint64_t nbytes = 0;        // of the allocation
  std::uint64_t held = 0;          // elements of one batch element in the first order
  std::uint64_t held_widest = 0;   // and in the widest
};
struct Orders {
  schedule::Policy policy = schedule::Policy::kBest;
  std::vector<graph::BufferId> touched;  // in the order they are met
  std::map<graph::BufferId, BufferOrders> of;
  // Policy best: the columns of the rows that a stage folds along; 0: it does not fold, or along several.
  std::vector<std::uint64_t> row_columns;

  // In which order the buffer lies in a stage.
  const Change& in(graph::BufferId buffer, std::size_t stage) const;
};

// Throws base::Refusal (kLayout, kPack).
Orders choose_orders(const graph::Graph& graph, const std::vector<ProtoStage>& stages,
                     schedule::Policy policy);

}  // namespace ktpu::graph_to_schedule
