// SPDX-License-Identifier: Apache-2.0
// Which order each buffer needs in each stage, and what that makes of its size (compiler.md section 16).
// Internal to the lowering.
#pragma once

#include <map>
#include <vector>

#include "compiler/graph_to_schedule/stages.h"

namespace ktpu::graph_to_schedule {

struct Change {
  std::size_t stage = 0;   // from this one on
  schedule::Layout order;  // of one batch element
  std::uint64_t held = 0;  // elements of one batch element in it
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
  std::vector<graph::BufferId> touched;  // in the order they are met
  std::map<graph::BufferId, BufferOrders> of;
};

// Throws base::Refusal (kLayout, kPack).
Orders choose_orders(const graph::Graph& graph, const std::vector<ProtoStage>& stages,
                     schedule::Policy policy);

// As the chains of one stage find them: `held` is what the order of that stage holds, nothing of a batch's
// padding. The reference goes by the first order, and refuses operands whose padding differs in it.
Orders orders_at(const Orders& orders, std::size_t stage);
// As the reference's checks find them: the first order, before batch elements are padded (section 15.5).
Orders first_orders(const Orders& orders);

// What a chain may touch (section 16), in elements: `stride` from part to part, and `room` over all of them.
struct ChainSize {
  std::uint64_t room = 0, stride = 0;
};
ChainSize chain_size(const graph::Apply& apply, const Orders& orders, const std::vector<std::uint32_t>& grid);
// Elements of one instance when parts are `stride` apart.
std::uint64_t chain_span(const graph::Apply& apply, const Orders& orders, std::uint64_t stride);
// Throws base::Refusal (kLayout): operands of different reach, a spread of a padded buffer.
void validate_chain(const graph::Graph& graph, const graph::Apply& apply, const Orders& orders,
                    schedule::Policy policy);

}  // namespace ktpu::graph_to_schedule
