// SPDX-License-Identifier: Apache-2.0
// One mesh: its units, ports and control agent, and the way between them. Routers are latencies; what waits,
// waits at a port or in a unit.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "compiler/cost/port.h"

namespace ktpu::cost {

class MeshSim final : public Mesh, public Port::Client {
 public:
  MeshSim(unsigned index, const MeshCost& cost, Ledger& ledger, EventQueue& events);

  // ---- Registers of the control agent. Moments are W beats.
  void stage(unsigned slot, const arch::Flit& flit);
  void set_credit(Moment w, unsigned credit);
  void clear_done() { done_ = 0; }
  // Throws UserError when there is no unit.
  void kick(Moment w, arch::Coord to, unsigned base, unsigned count);

  // What a poll can wait for, as of now: its value, and the moment it took it.
  struct Value {
    std::uint64_t bits = 0;
    Moment since;
  };
  Value node_status(unsigned node) const;
  Value signals_done() const { return {done_, done_since_}; }
  // PROG_STAT run. Known to fall later: `since` is that moment.
  Value run() const { return {dispatching_ ? 1u : 0u, run_clear_}; }

  // ---- Events
  void handle(const Event& event);

  // ---- Units and ports to the mesh
  void request(unsigned unit, Message message, Moment out) override;
  void write(unsigned unit, std::uint64_t addr, unsigned words, Moment last_out) override;
  void signal(unsigned unit, Message::Signal signal, arch::Coord to, Moment out) override;
  void peer(unsigned unit, const PeerBurst& burst, Moment last_out) override;
  void wake(unsigned unit, Cycles t) override { events_.add(t, Event::Kind::kUnit, who(unit)); }
  void at_agent(const Message& message, Moment at) override;
  void pass(const Message& message, Moment at) override;
  void answered(const Message& message, unsigned destination, Moment out) override;

  const Dram& dram() const { return dram_; }
  const Unit& unit(std::size_t i) const { return *units_[i]; }
  const Port& port(std::size_t i) const { return ports_[i]; }
  Moment last_signal() const { return last_signal_; }
  std::optional<Cycles> first_kick() const { return first_kick_; }

 private:
  // A unit's ways through the routers.
  struct Ways {
    unsigned to_port = 1, to_agent = 1, from_agent = 1;  // routers
    std::uint8_t port_input = 0, agent_input = 0;        // of the last router
    bool through_port = false;  // the way to the agent leads through the last router before its port
  };
  unsigned who(unsigned local) const { return index_ << 8 | local; }
  Ways ways(const UnitCost& unit) const;
  Cycles leaving(const UnitCost& unit) const;
  Cycles entering(const UnitCost& unit) const;
  int unit_at(arch::Coord at) const { return unit_at_[at.node_byte()]; }
  std::uint32_t keep(const Message& message);
  std::uint32_t keep(const PeerBurst& burst);
  void send(unsigned port, Message message);
  void dispatch(Moment from);

  unsigned index_;
  const MeshCost& cost_;
  Ledger& ledger_;
  EventQueue& events_;
  Dram dram_;
  std::deque<Port> ports_;
  std::vector<std::unique_ptr<Unit>> units_;
  std::vector<Ways> ways_;
  std::array<int, 256> unit_at_;
  // On their way; places are used again.
  std::vector<Message> messages_;
  std::vector<std::uint32_t> free_messages_;
  std::vector<std::pair<PeerBurst, Moment>> bursts_;

  std::vector<arch::Flit> staged_;
  std::int64_t credit_ = 0;
  bool dispatching_ = false;  // flits wait for credit
  arch::Coord to_;
  unsigned slot_ = 0, left_ = 0;
  Moment next_push_;  // the next one goes into the send FIFO
  Moment run_clear_;
  struct Node {
    unsigned count = 0;
    std::uint64_t code = 0;
    Moment since;
  };
  std::array<Node, 256> nodes_;
  std::uint64_t done_ = 0;
  Moment done_since_, last_signal_;
  std::optional<Cycles> first_kick_;
};

}  // namespace ktpu::cost
