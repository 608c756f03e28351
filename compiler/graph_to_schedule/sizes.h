// SPDX-License-Identifier: Apache-2.0
// What a chain may touch of the memory its operands lie in (compiler.md section 16). Internal to the
// lowering. All counts are elements of memory, padding included.
#pragma once

#include <vector>

#include "compiler/graph_to_schedule/orders.h"

namespace ktpu::graph_to_schedule {

// A chain, and the stage it stands in.
struct ChainPlace {
  const graph::Apply& apply;
  const Orders& orders;
  std::size_t stage = 0;
  // The reference's checks know nothing yet of the padding between batch elements (section 15.5); with
  // policy best nothing here does.
  bool before_padding = false;
};

struct ChainSize {
  std::uint64_t room = 0;          // over all parts
  std::uint64_t stride = 0;        // from part to part
  std::uint64_t asked_stride = 0;  // as the part knob has it
};
// Policy best cuts parts at whole rows when the stage folds along them.
ChainSize chain_size(const ChainPlace& chain, const std::vector<std::uint32_t>& grid);
// Of one instance when parts are `stride` apart.
std::uint64_t chain_span(const ChainPlace& chain, std::uint64_t stride);
// Of one batch element, in the order in which the chain's stage finds the buffer, nothing of a batch's
// padding. The reference goes by the first order, and refuses operands whose padding differs in it.
std::uint64_t held_in(const ChainPlace& chain, graph::BufferId buffer);
// Where the chain's operand or result begins, and how it is spread, with rows padded as they lie.
std::uint64_t offset_of(const ChainPlace& chain, graph::BufferId buffer, std::uint64_t offset);
graph::Spread spread_of(const ChainPlace& chain, const graph::Leaf& leaf);
// Throws base::Refusal (kLayout): operands of different reach, a spread of a padded buffer.
void validate_chain(const graph::Graph& graph, const ChainPlace& chain);

}  // namespace ktpu::graph_to_schedule
