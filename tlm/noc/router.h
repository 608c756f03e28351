// SPDX-License-Identifier: Apache-2.0
// The mesh router (fabric.md sections 6 and 7): five input FIFOs with one holding slot each, five output
// registers, dimension-order routing with clamped destinations and a free-running arbiter pointer.
#pragma once

#include <array>
#include <cstdint>

#include "arch/flit.h"
#include "tlm/sim/fifo.h"
#include "tlm/sim/link.h"
#include "tlm/sim/unit.h"

namespace ktpu::noc {

// Port order of the machine: request bits, arbiter inputs and waves all use it (fabric.md section 6).
enum Direction : unsigned { kNorth = 0, kEast = 1, kSouth = 2, kWest = 3, kLocal = 4 };
inline constexpr unsigned kPorts = 5;
inline constexpr std::array<const char*, kPorts> kPortNames{"north", "east", "south", "west", "local"};

// The router rectangle that destinations are clamped into (fabric.md section 4).
struct Grid {
  unsigned x_lo = 1, x_hi = 1;  // columns that hold routers, 1..14
  unsigned y_lo = 1, y_hi = 1;  // rows
};

struct RouterParams {
  arch::Coord position;  // inside `grid`
  Grid grid;
  sim::FifoShape fifo = sim::FifoShape::sync(32);  // of each input (fabric.md section 7.1: FIFO_DEPTH)
};

// The output a flit for `destination` leaves the router at `position` by (fabric.md section 6).
Direction route(arch::Coord position, const Grid& grid, arch::Coord destination);
// Whether the turn mask of fabric.md section 6 drops a request that arrived on `from` and wants `to`.
bool turn_suppressed(arch::Coord position, const Grid& grid, Direction from, Direction to);
// The attachment any raw destination ends at (fabric.md section 6.1); a coordinate of the rectangle or its
// ring.
arch::Coord final_slot(const Grid& grid, arch::Coord destination);

class Router final : public sim::Unit {
 public:
  using Ports = std::array<sim::FlitPort, kPorts>;  // a null link: nothing there (inputs idle, outputs lost)

  Router(std::string name, const RouterParams& params, const Ports& ports);

  void reset(sim::Cycle start) override;
  void drive(sim::Cycle now) override;
  sim::Cycle clock(sim::Cycle now) override;
  void visit(sim::Archive& archive) override;
  std::vector<sim::Wait> waits(sim::Cycle now) const override;

  const RouterParams& params() const { return params_; }
  // Flits sent into empty slots: lost silently by the machine (fabric.md section 6.1), counted here.
  std::uint64_t lost() const { return lost_; }
  // Flits inside: FIFOs, holding slots and output registers.
  std::uint32_t flits_inside() const;

 private:
  struct Slot {
    arch::Flit flit;
    sim::Cycle written;
  };
  // FIFO, holding slot and (until it is put on the link) the granted flit share one ring, so a flit is copied
  // once into the router and once out of it.
  struct Input {
    explicit Input(std::uint32_t slots) : ring(slots) {}
    sim::Ring<Slot> ring;
    std::uint32_t head = 0;  // ring position of the FIFO head; [base, head) are held or leaving
    sim::Cycle last_pop_plus_1 = 0;
    std::uint8_t hold_out = kNone;  // output the held flit requests
    bool hold_suppressed = false;   // its request is masked: never granted
  };
  struct Output {
    std::uint8_t requests = 0;  // inputs whose held flit wants this output
    std::uint8_t from = 0;      // input the register was loaded from
  };
  static constexpr std::uint8_t kNone = 0xFF;
  static constexpr sim::Cycle kResetBusy = 5;  // inputs are busy in cycles 0..4 (fabric.md section 7.2)

  std::uint32_t fifo_size(const Input& in) const { return in.ring.tail() - in.head; }
  void load(unsigned port, Input& in, sim::Cycle now);

  RouterParams params_;
  std::uint32_t capacity_;
  Ports ports_;
  std::array<std::uint8_t, 256> route_{};  // by node byte {y, x} of the raw destination
  std::array<std::array<bool, kPorts>, kPorts> suppressed_{};
  std::vector<Input> in_;
  std::array<Output, kPorts> out_{};
  std::uint32_t in_valid_ = 0;      // mirror of the input links' valid
  std::uint32_t fifo_used_ = 0;     // inputs with a non-empty FIFO
  std::uint32_t held_ = 0;          // inputs with an occupied holding slot
  std::uint32_t out_valid_ = 0;     // occupied output registers
  std::uint32_t requested_ = 0;     // outputs with at least one request
  std::uint32_t out_changed_ = 0;   // output links to drive
  std::uint32_t full_ = 0;          // inputs whose FIFO is full
  std::uint32_t busy_changed_ = 0;  // busy wires to drive
  sim::Cycle start_ = 0;
  bool in_reset_ = true;
  std::uint64_t lost_ = 0;
  std::uint64_t granted_ = 0;
  std::uint64_t conflicts_ = 0;
};

}  // namespace ktpu::noc
