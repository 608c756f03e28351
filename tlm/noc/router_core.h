// SPDX-License-Identifier: Apache-2.0
// The work of any number of routers in one place (fabric.md section 7). What happens in a cycle is done for
// all of them at once, from lists of the ports concerned: loops over dozens of like entries instead of a few
// tests a router, which is what a mesh's speed depends on. A flit that goes from one of these routers to
// another only changes lists: it is copied when it enters the core and read in place when it leaves. The
// links in between are there for those who look: their wires and counters are worked out then (show(),
// sync()).
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
  static constexpr unsigned kContestBits = 10;  // of a field of contest_

  // Elaboration; binds the links to `owner`. A link between two routers of the core is found by connect().
  void add(sim::Unit& owner, const std::string& name, const RouterParams& params, const RouterPorts& ports);
  // After the last add().
  void connect();

  void reset(sim::Cycle start);
  // `watched`: somebody looks at the links within this cycle.
  void drive(sim::Cycle now, bool watched);
  sim::Cycle clock(sim::Cycle now);
  // Brings the links between routers of the core up to date: the wires of cycle now-1, the counts before
  // `now`.
  void sync(sim::Cycle now);
  // Transfers before `now` that no link has counted yet.
  std::uint64_t uncounted(sim::Cycle now) const;

  // Router number `router`, in the order of add(); `now`: the engine's present cycle.
  void visit(unsigned router, sim::Archive& archive, sim::Cycle now);
  std::vector<sim::Wait> waits(unsigned router) const;
  std::uint64_t lost(unsigned router) const { return routers_[router].lost; }
  std::uint32_t flits_inside(unsigned router, sim::Cycle now) const;
  const RouterParams& params(unsigned router) const { return routers_[router].params; }

 private:
  using Index = std::uint32_t;  // of a slot; of a port: router * kStride + direction
  static constexpr Index kNone = ~Index{0};
  static constexpr Index kStride = 8;           // ports a router in the tables: a power of two for speed
  static constexpr sim::Cycle kResetBusy = 5;   // inputs are busy in cycles 0..4 (fabric.md section 7.2)
  static constexpr unsigned kBlockSlots = 256;  // the pool grows by so many

  static constexpr Index router_of(Index port) { return port / kStride; }
  static constexpr Index side_of(Index port) { return port % kStride; }
  static constexpr Index port_of(Index router, Index side) { return router * kStride + side; }

  // What is needed of a flit on its way; its bits are in blocks_.
  struct Slot {
    sim::Cycle written = 0;
    Index next = kNone;  // behind it in the same input (of the last: without meaning), or in the free list
    std::uint8_t x = 0, y = 0;
  };
  // The flits of one input that have not won an output yet, oldest first. The oldest moves from the FIFO into
  // the holding slot at the end of cycle `load_at` and requests its output from the cycle after on. That is a
  // function of arrival and grant alone, so nothing has to run in the cycle in which it happens.
  struct alignas(32) Input {
    sim::Cycle load_at = 0;
    Index first = kNone;
    Index last = kNone;
    std::uint32_t count = 0;
    std::uint32_t capacity = 0;  // of the FIFO proper
    std::uint8_t latency = 3;
    std::uint8_t out = 0;  // direction the oldest wants
    bool wedged = false;   // the oldest may never turn that way (fabric.md section 6)
    bool crowded = false;  // listed in crowded_
    bool busy = false;     // as driven
    bool inner = false;    // fed by an output of ours
  };
  struct alignas(32) Output {
    Index slot = kNone;  // the output register, kNone when not valid or when its flit is ahead (arbitrate())
    Index peer = kNone;  // the input it feeds, if that is one of ours
    std::uint8_t requests = 0;  // inputs of the same router that request it; not 0: listed in requested_*
    std::uint64_t granted = 0;
    std::uint64_t conflicts = 0;  // of the grants: with at least one more request, beside contest_
  };
  // The rules of fabric.md section 6 as a table over each raw coordinate. An entry is the direction it speaks
  // for with the rank of that rule above it; the lower of the two entries decides.
  struct alignas(64) Route {
    std::array<std::uint8_t, 16> by_x{};
    std::array<std::uint8_t, 16> by_y{};
    std::array<std::uint8_t, kPorts> suppressed{};  // by input: outputs whose request is masked
  };
  // What became of the flits of an input, beside waited_ and contest_.
  struct Past {
    std::uint64_t lost = 0;     // cycles in which its oldest flit wanted an output that another input won
    std::uint64_t turned = 0;   // cycles in which it wanted a turn that the router never grants
    std::uint64_t arrived = 0;  // flits from outside; see arrivals()
    std::uint64_t dropped = 0;  // flits that a reset found on their way
  };
  // Exclusive states of an input: tlm/sim/attribution.h.
  static constexpr unsigned kStates = 5;
  using InputCycles = std::array<std::uint64_t, kStates>;
  static constexpr unsigned kRank = 8;  // one rank; the bits below it hold the direction
  struct RouterState {
    std::uint64_t lost = 0;
    std::uint64_t granted = 0;  // sums over its outputs, when somebody reads them
    std::uint64_t conflicts = 0;
    RouterParams params;
    std::string name;
  };
  struct External {  // an input fed from outside, and the word that mirrors its link's valid
    Index port;
    sim::FlitLink* link;
  };
  // A list with room for every port: nothing grows on the way.
  struct List {
    std::unique_ptr<Index[]> at;
    std::size_t size = 0;
    void make(std::size_t room) {
      at = std::make_unique<Index[]>(room + 1);  // push_headed_if() writes before it decides
      size = 0;
    }
    void push(Index i) { at[size++] = i; }
    bool empty() const { return size == 0; }
    const Index* begin() const { return at.get(); }
    const Index* end() const { return at.get() + size; }
  };

  arch::Flit& flit(Index i) { return blocks_[i / kBlockSlots][i % kBlockSlots]; }
  const arch::Flit& flit(Index i) const { return blocks_[i / kBlockSlots][i % kBlockSlots]; }
  Index take_slot();
  void free_slot(Index slot) {
    slots_[slot].next = free_;
    free_ = slot;
  }
  // Where the tables are: a copy of these on the stack keeps them in registers through a loop.
  struct Tables {
    Input* in;
    Output* out;
    Slot* slots;
    const Route* route;
    List* due;
    std::size_t due_mask;
    std::uint64_t* waited;
    std::uint64_t* contest;
    Index* headed;  // headed_, to be closed by close()
    std::size_t headed_size;

    void push_headed_if(bool listed, Index port) {
      headed[headed_size] = port;
      headed_size += listed;
    }
  };
  Tables open() {
    return {in_.data(),      out_.data(),    slots_.data(),   route_.data(),    due_.data(),
            due_.size() - 1, waited_.data(), contest_.data(), headed_.at.get(), headed_.size};
  }
  void close(const Tables& t) { headed_.size = t.headed_size; }
  void push(Tables& t, Index port, Index slot, sim::Cycle now);
  Index take(Tables& t, Index output, unsigned winner, sim::Cycle now);
  void sample_outputs(sim::Cycle now);
  void raise_requests(sim::Cycle now);
  void arbitrate(sim::Cycle now);
  void take_inputs(sim::Cycle now);
  void new_heads(sim::Cycle now);
  sim::Cycle next_due(sim::Cycle now) const;
  // router_core_report.cpp: what the outside sees of it.
  void show(sim::Cycle now);
  void count_links(sim::Cycle now);
  void count_grants(unsigned router);
  std::uint64_t arrivals(Index port) const;
  std::uint64_t moves(Index port) const { return arrivals(port) - in_[port].count - past_[port].dropped; }
  sim::Cycle open_wait(Index port, sim::Cycle now) const;
  InputCycles input_cycles(Index port, sim::Cycle now) const;
  void settle();
  void drop_waiting(sim::Cycle start);
  // Registers as cycle `now` finds them. The newest flit of an input is ahead: still in the register of the
  // output that feeds it.
  bool ahead(const Input& in, sim::Cycle now) const {
    return in.inner && in.count != 0 && slots_[in.last].written >= now;
  }
  // Words in the FIFO proper: without the held flit.
  std::uint32_t fifo_words(const Input& in, sim::Cycle now) const {
    return in.count - (in.count != 0 && in.load_at < now) - ahead(in, now);
  }
  // What the output register holds; kNone: not valid.
  Index output_register(const Output& out, sim::Cycle now) const {
    if (out.slot != kNone || out.peer == kNone) return out.slot;
    const Input& in = in_[out.peer];
    return ahead(in, now) ? in.last : kNone;
  }

  std::vector<Input> in_;
  std::vector<Output> out_;
  std::vector<Route> route_;  // by router
  // By input: cycles from request to grant, both included, of the flits that are gone.
  std::vector<std::uint64_t> waited_;
  // By output: who lost a grant to another input since the last settle(), a field for each input, and above
  // them the grants somebody lost. No field is full before kSettleEvery cycles.
  std::vector<std::uint64_t> contest_;
  static constexpr sim::Cycle kSettleEvery = 1000;
  static constexpr std::uint64_t field(std::uint64_t contest, unsigned i) {
    return contest >> (kContestBits * i) & ((1u << kContestBits) - 1);
  }
  sim::Cycle settle_at_ = kSettleEvery;
  std::vector<Past> past_;  // by input
  std::vector<Slot> slots_;
  List live_;                   // outputs whose register is occupied (slot)
  List requested_inner_;        // outputs with at least one request that feed one of our inputs
  List requested_outer_;        // and the others
  List changed_;                // outputs to the outside whose wires are to be driven
  List crowded_;                // inputs so full that busy has to be looked at in every cycle
  List headed_;                 // inputs whose oldest flit is another one since this cycle
  List freed_;                  // slots that left in this cycle
  std::size_t newly_live_ = 0;  // live_ from here on: granted in the last cycle, on the wires in the next
  std::vector<List> due_;  // by cycle modulo their number: inputs whose oldest flit requests from then on
  std::vector<External> external_;
  std::vector<std::uint32_t> external_valid_;  // 32 of them a word
  std::vector<std::unique_ptr<arch::Flit[]>> blocks_;
  Index free_ = kNone;
  sim::Cycle start_ = 0;
  bool in_reset_ = true;
  bool watched_ = true;     // show() ran in the last drive()
  unsigned unsettled_ = 0;  // cycles until the links between our routers look the same from then on
  std::vector<RouterState> routers_;
  std::vector<sim::FlitLink*> in_link_, out_link_;  // by port; null: nothing there
  std::vector<Index> internal_;                     // outputs that feed an input of ours
  std::vector<std::uint64_t> counted_;  // by output: grants the link has counted, or a reset dropped
  std::vector<Index> feeder_;           // by input: the output of ours that feeds it, or kNone
  std::vector<InputCycles> cycles_;     // by input, when somebody reads them
  std::vector<std::uint64_t> stalled_;  // by output: cycles held by a busy peer, not yet counted by the link
  std::vector<std::pair<sim::FlitLink*, sim::Unit*>> owners_;  // inputs to bind, between add() and connect()
};

}  // namespace ktpu::noc
