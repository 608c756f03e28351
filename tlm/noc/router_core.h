// SPDX-License-Identifier: Apache-2.0
// The work of any number of routers in one place (fabric.md section 7). What happens in a cycle is done for
// all of them at once, from lists of the ports concerned: loops over dozens of like entries instead of a few
// tests a router, which is what a mesh's speed depends on. A flit that goes from one of these routers to
// another only changes lists: it is copied when it enters the core and read in place when it leaves.
//
// A part of the units that embed it (Router: one router, RouterBank: a mesh of them).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arch/flit.h"
#include "tlm/noc/routing.h"
#include "tlm/sim/fifo.h"
#include "tlm/sim/link.h"
#include "tlm/sim/unit.h"

namespace ktpu::noc {

struct RouterParams {
  arch::Coord position;  // inside `grid`
  Grid grid;
  sim::FifoShape fifo = sim::FifoShape::sync(32);  // of each input (fabric.md section 7.1: FIFO_DEPTH)
};

using RouterPorts =
    std::array<sim::FlitPort, kPorts>;  // a null link: nothing there (inputs idle, outputs lost)

class RouterCore {
 public:
  // Elaboration; binds the links to `owner`. A link between two routers of the core is found by connect().
  void add(sim::Unit& owner, const std::string& name, const RouterParams& params, const RouterPorts& ports);
  // After the last add().
  void connect();

  void reset(sim::Cycle start);
  void drive(sim::Cycle now);
  sim::Cycle clock(sim::Cycle now);

  // Router number `router`, in the order of add(); `now`: the engine's present cycle.
  void visit(unsigned router, sim::Archive& archive, sim::Cycle now);
  std::vector<sim::Wait> waits(unsigned router) const;
  std::uint64_t lost(unsigned router) const { return routers_[router].lost; }
  std::uint32_t flits_inside(unsigned router) const;
  const RouterParams& params(unsigned router) const { return routers_[router].params; }

 private:
  using Index = std::uint32_t;  // of a slot; of a port: router * kPorts + direction
  static constexpr Index kNone = ~Index{0};
  static constexpr sim::Cycle kResetBusy = 5;   // inputs are busy in cycles 0..4 (fabric.md section 7.2)
  static constexpr sim::Cycle kBuckets = 64;    // cycles ahead that a request can be due
  static constexpr unsigned kBlockSlots = 256;  // the pool grows by so many

  struct alignas(64) Slot {
    arch::Flit flit;
    sim::Cycle written = 0;
    Index next = kNone;  // behind it in the same input, or in the free list
  };
  // The flits of one input that have not won an output yet, oldest first. The oldest moves from the FIFO into
  // the holding slot at the end of cycle `load_at` and requests its output from the cycle after on. That is a
  // function of arrival and grant alone, so nothing has to run in the cycle in which it happens.
  struct Input {
    sim::Cycle load_at = 0;
    std::uint32_t count = 0;
    std::uint32_t capacity = 0;  // of the FIFO proper
    Index first = kNone;
    Index last = kNone;
    std::uint32_t latency = 3;
    std::uint8_t out = 0;  // direction the oldest wants
    bool wedged = false;   // the oldest may never turn that way (fabric.md section 6)
    bool crowded = false;  // listed in crowded_
    bool busy = false;     // as driven
  };
  struct Output {
    Index slot = kNone;         // the output register: flit on the wires, kNone when not valid
    Index peer = kNone;         // the input it feeds, if that is one of ours
    std::uint8_t requests = 0;  // inputs of the same router that request it
    bool listed = false;        // in requested_
    sim::FlitLink* link = nullptr;
  };
  // The rules of fabric.md section 6 as tables over one raw coordinate each: a direction, or kOn to go on.
  static constexpr std::uint8_t kOn = 0xFF;
  struct RouteTables {
    std::array<std::uint8_t, 16> far_x{};   // by dst_x: west or east of this column
    std::array<std::uint8_t, 16> far_y{};   // by dst_y, in this column: north or south of this row
    std::array<std::uint8_t, 16> near_x{};  // by dst_x, clamped to this router: outwards in x
    std::array<std::uint8_t, 16> near_y{};  // by dst_y, the rest: outwards in y, or local
  };
  struct RouterState {
    RouteTables route;
    std::array<std::uint8_t, kPorts> suppressed{};  // by input: outputs whose request is masked
    std::uint64_t lost = 0;
    std::uint64_t granted = 0;
    std::uint64_t conflicts = 0;
    RouterParams params;
    std::string name;
  };
  struct External {  // an input fed from outside, and the word that mirrors its link's valid
    Index port;
    sim::FlitLink* link;
  };

  Slot& slot(Index i) { return blocks_[i / kBlockSlots][i % kBlockSlots]; }
  const Slot& slot(Index i) const { return blocks_[i / kBlockSlots][i % kBlockSlots]; }
  Index take_slot();
  void push(Index port, Index flit, sim::Cycle now);
  void new_head(Index port, sim::Cycle earliest);
  void due(Index port, sim::Cycle at);
  void sample_outputs();
  void raise_requests(sim::Cycle now);
  void arbitrate(sim::Cycle now);
  void take_inputs(sim::Cycle now);
  sim::Cycle next_due(sim::Cycle now) const;
  // Words in the FIFO proper as the registers of cycle `now` have it: without the held flit.
  static std::uint32_t fifo_words(const Input& in, sim::Cycle now) {
    return in.count - (in.count != 0 && in.load_at < now);
  }

  std::vector<Input> in_;
  std::vector<Output> out_;
  std::vector<Index> live_;     // outputs whose register is occupied
  std::vector<Index> arrived_;  // what moved to another router of ours in this cycle: slot, input, slot, ...
  std::vector<Index> requested_;  // outputs with at least one request
  std::vector<Index> changed_;    // outputs whose wires are to be driven
  std::vector<Index> crowded_;    // inputs so full that busy has to be looked at in every cycle
  std::array<std::vector<Index>, kBuckets> due_;  // inputs whose oldest flit requests from that cycle on
  std::uint64_t due_used_ = 0;
  std::vector<External> external_;
  std::vector<std::uint32_t> external_valid_;  // 32 of them a word
  std::vector<std::unique_ptr<Slot[]>> blocks_;
  std::vector<Index> freed_;  // slots that left in this cycle
  Index free_ = kNone;
  sim::Cycle start_ = 0;
  bool in_reset_ = true;
  std::vector<RouterState> routers_;
  std::vector<RouterPorts> ports_;
  std::vector<std::pair<sim::FlitLink*, sim::Unit*>> owners_;  // inputs to bind, between add() and connect()
};

}  // namespace ktpu::noc
