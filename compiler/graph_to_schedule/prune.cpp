// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <tuple>

#include "compiler/graph_to_schedule/stages.h"

namespace ktpu::graph_to_schedule {
namespace {

bool same(const graph::Fill& a, const graph::Fill& b) {
  return a.buffer == b.buffer && a.side == b.side && a.order == b.order && a.operand == b.operand &&
         a.tile == b.tile && a.chunk == b.chunk && a.chunks == b.chunks && a.lane == b.lane &&
         a.step == b.step;
}

}  // namespace

// L1 holds two banks, and in each a region of its own for every operand: a fill is in vain only if the last
// one of the same side, operand and bank brought the same. (The reference also keeps what a later chunk of
// that bank has overwritten; with up to two chunks both rules drop the same fills.) A fill the reference's
// own slots (side, tile, chunk) have lost to another operand is repeated, too.
void prune(Place& place) {
  using Bank = std::tuple<graph::Side, std::uint32_t, std::int64_t>;
  using Slot = std::tuple<graph::Side, std::int64_t, std::int64_t>;
  std::map<Bank, graph::Fill> banks;
  std::map<Slot, graph::Fill> slots;
  Place kept;
  for (Statement& statement : place) {
    if (const graph::Fill* fill = std::get_if<graph::Fill>(&statement)) {
      const Bank bank{fill->side, fill->operand, fill->step.at({}) % 2};
      const Slot slot{fill->side, fill->tile.at({}), fill->chunk.at({})};
      const auto in_bank = banks.find(bank);
      const auto in_slot = slots.find(slot);
      if (in_bank != banks.end() && same(in_bank->second, *fill) && in_slot != slots.end() &&
          same(in_slot->second, *fill))
        continue;
      banks[bank] = *fill;
      slots[slot] = *fill;
    }
    kept.push_back(std::move(statement));
  }
  place = std::move(kept);
}

}  // namespace ktpu::graph_to_schedule
