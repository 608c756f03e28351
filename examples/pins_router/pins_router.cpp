// SPDX-License-Identifier: Apache-2.0
#include "pins_router.h"

#include <algorithm>

namespace {

enum Port : unsigned { kNorth, kEast, kSouth, kWest, kLocal };

constexpr std::uint64_t kFifoLatency = 3;   // written to readable
constexpr std::size_t kFifoExtra = 2;       // words beyond the depth
constexpr std::uint64_t kClosedCycles = 5;  // after reset

}  // namespace

PinsRouter::PinsRouter(const sc_core::sc_module_name& name, const ktpu::noc::RouterParams& params)
    : RouterPins(name), params_(params) {
  SC_HAS_PROCESS(PinsRouter);
  SC_METHOD(edge);
  sensitive << clk_i.pos() << rst_ni.neg();
}

void PinsRouter::clear() {
  for (unsigned p = 0; p < kPorts; ++p) {
    inputs_[p] = Input{};
    shown_[p] = false;
    in_busy_o[p].write(true);
    out_valid_o[p].write(false);
  }
  cycle_ = 0;
}

// Where a flit leaves: x before y, both clamped into the rectangle of routers, the hop out of it last.
unsigned PinsRouter::target_of(const Flit& flit) const {
  const unsigned dst_x = flit.range(287, 284).to_uint(), dst_y = flit.range(283, 280).to_uint();
  const auto& grid = params_.grid;
  const unsigned x = params_.position.x, y = params_.position.y;
  const unsigned to_x = std::clamp<unsigned>(dst_x, grid.x_lo, grid.x_hi);
  const unsigned to_y = std::clamp<unsigned>(dst_y, grid.y_lo, grid.y_hi);
  const bool here = to_x == x && to_y == y;
  if (to_x < x || (here && dst_x < x)) return kWest;
  if (to_x > x || (here && dst_x > x)) return kEast;
  if (to_y < y || (here && dst_y < y)) return kNorth;
  if (to_y > y || (here && dst_y > y)) return kSouth;
  return kLocal;
}

// Turns that x before y never makes between routers are not there: such a flit waits for ever.
bool PinsRouter::may_turn(unsigned from, unsigned to) const {
  const auto& grid = params_.grid;
  const std::array<bool, kPorts> router{params_.position.y > grid.y_lo, params_.position.x < grid.x_hi,
                                        params_.position.y<grid.y_hi, params_.position.x> grid.x_lo, false};
  if (!router[from]) return true;
  const bool vertical = from == kNorth || from == kSouth;
  return to != from && !(vertical && (to == kEast || to == kWest) && router[to]);
}

// The rising edge that ends cycle_, or reset.
void PinsRouter::edge() {
  if (!rst_ni.read()) return clear();

  std::array<bool, kPorts> granted{};
  for (unsigned out = 0; out < kPorts; ++out) {
    if (shown_[out] && out_busy_i[out].read()) continue;
    shown_[out] = false;
    // Served first: an input that changes in every cycle.
    for (unsigned k = 0; k < kPorts && !shown_[out]; ++k) {
      const unsigned in = static_cast<unsigned>((cycle_ + k) % kPorts);
      if (!inputs_[in].held || inputs_[in].target != out || !may_turn(in, out)) continue;
      out_data_o[out].write(*inputs_[in].held);
      shown_[out] = granted[in] = true;
    }
    out_valid_o[out].write(shown_[out]);
  }

  for (unsigned in = 0; in < kPorts; ++in) {
    Input& input = inputs_[in];
    if (granted[in]) input.held.reset();
    if (!input.held && !input.fifo.empty() && input.fifo.front().written + kFifoLatency <= cycle_) {
      input.held = input.fifo.front().flit;
      input.target = target_of(*input.held);
      input.fifo.pop_front();
    }
    if (in_valid_i[in].read() && !input.busy) input.fifo.push_back({in_data_i[in].read(), cycle_});
    input.busy =
        cycle_ + 1 < kClosedCycles || input.fifo.size() == std::size_t{params_.fifo.depth} + kFifoExtra;
    in_busy_o[in].write(input.busy);
  }
  ++cycle_;
}
