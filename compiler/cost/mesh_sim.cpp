// SPDX-License-Identifier: Apache-2.0
#include "compiler/cost/mesh_sim.h"

#include <algorithm>
#include <cstdlib>

#include "arch/error.h"
#include "compiler/cost/cluster.h"
#include "compiler/cost/vector_core.h"

namespace ktpu::cost {
namespace {

constexpr std::uint8_t kNorth = 0, kEast = 1, kSouth = 2, kWest = 3, kLocal = 4;

unsigned routers(arch::Coord from, arch::Coord to) {
  return static_cast<unsigned>(std::abs(int{from.x} - to.x) + std::abs(int{from.y} - to.y)) + 1;
}

// The side of `router` that something at `at` hangs on.
std::uint8_t side(arch::Coord at, arch::Coord router) {
  return at.x < router.x   ? kWest
         : at.x > router.x ? kEast
         : at.y < router.y ? kNorth
         : at.y > router.y ? kSouth
                           : kLocal;
}

// The input of router `to` on the way from router `from`: x first, then y (fabric.md section 6).
std::uint8_t input_of(arch::Coord at, arch::Coord from, arch::Coord to) {
  if (from.y != to.y) return from.y < to.y ? kNorth : kSouth;
  if (from.x != to.x) return from.x < to.x ? kWest : kEast;
  return side(at, from);
}

bool on_way(arch::Coord via, arch::Coord from, arch::Coord to) {
  const auto between = [](int v, int a, int b) { return std::min(a, b) <= v && v <= std::max(a, b); };
  return (via.y == from.y && between(via.x, from.x, to.x)) || (via.x == to.x && between(via.y, from.y, to.y));
}

}  // namespace

MeshSim::MeshSim(unsigned index, const MeshCost& cost, Ledger& ledger, EventQueue& events)
    : index_(index), cost_(cost), ledger_(ledger), events_(events), dram_(cost.dram, cost.path, ledger) {
  KTPU_CHECK(!cost.ports.empty(), "a mesh without a memory port");
  for (unsigned p = 0; p < cost.ports.size(); ++p)
    ports_.emplace_back(who(p), cost.port, cost.path, dram_, ledger, events, *this);
  unit_at_.fill(-1);
  for (unsigned u = 0; u < cost.units.size(); ++u) {
    const UnitCost& unit = cost.units[u];
    if (unit.kind == UnitKind::kCluster)
      units_.push_back(std::make_unique<Cluster>(u, unit, ledger, *this));
    else
      units_.push_back(std::make_unique<VectorCore>(u, unit, ledger, *this));
    unit_at_[unit.at.node_byte()] = static_cast<int>(u);
    ways_.push_back(ways(unit));
  }
}

// The agent's flits leave by the port of the destination's row, the last such; else by the first
// (memory.md section 2).
MeshSim::Ways MeshSim::ways(const UnitCost& unit) const {
  const PortPlace& port = cost_.ports[unit.port];
  const PortPlace& agent = cost_.ports.front();
  const PortPlace* from = &agent;
  for (const PortPlace& p : cost_.ports)
    if (p.at.y == unit.at.y) from = &p;
  Ways w;
  w.to_port = routers(unit.router, port.router);
  w.to_agent = routers(unit.router, agent.router);
  w.from_agent = routers(from->router, unit.router);
  w.port_input = input_of(unit.at, unit.router, port.router);
  w.agent_input = input_of(unit.at, unit.router, agent.router);
  w.through_port = unit.port != 0 && on_way(port.router, unit.router, agent.router);
  return w;
}

Cycles MeshSim::leaving(const UnitCost& unit) const {
  return (unit.adapter ? cost_.fabric.adapter : 0) +
         (unit.crossing ? cost_.fabric.crossing.cycles(unit.fabric_per_cycle, 1) : 0);
}
Cycles MeshSim::entering(const UnitCost& unit) const {
  return unit.crossing ? cost_.fabric.crossing.cycles(1, unit.fabric_per_cycle) : 0;
}

std::uint32_t MeshSim::keep(const Message& message) {
  if (free_messages_.empty()) {
    messages_.push_back(message);
    return static_cast<std::uint32_t>(messages_.size() - 1);
  }
  const std::uint32_t place = free_messages_.back();
  free_messages_.pop_back();
  messages_[place] = message;
  return place;
}

void MeshSim::send(unsigned port, Message message) {
  events_.add(message.at.t, Event::Kind::kArrive, who(port), keep(message));
}

void MeshSim::handle(const Event& event) {
  const unsigned local = event.who & 255;
  switch (event.kind) {
    case Event::Kind::kUnit:
      units_[local]->wake(event.t);
      break;
    case Event::Kind::kArrive: {
      const Message message = messages_[event.what];
      free_messages_.push_back(event.what);
      ports_[local].arrive(message);
      break;
    }
    case Event::Kind::kPort:
      ports_[local].wake(event.t);
      break;
    case Event::Kind::kEntry:
      ports_[local].entry(ledger_.at(event.what));
      break;
    case Event::Kind::kGrant:
      dram_.grant([&](unsigned port, bool is_write, Moment moment) {
        ports_[port].answer(is_write, moment);
        ports_[port].wake(event.t);
      });
      break;
    case Event::Kind::kData:
      units_[local]->data(ledger_.at(event.what), event.entries);
      break;
    case Event::Kind::kPeer: {
      const auto [burst, at] = bursts_[event.what];
      units_[local]->burst(at, burst);
      break;
    }
    case Event::Kind::kHost:
    case Event::Kind::kDispatch:
      break;
  }
}

// ---- Between units, ports and the agent

void MeshSim::request(unsigned unit, Message message, Moment out) {
  const UnitCost& u = cost_.units[unit];
  message.unit = static_cast<std::uint16_t>(unit);
  message.input = ways_[unit].port_input;
  message.at = ledger_.after(out, cost_.fabric.hop * ways_[unit].to_port + leaving(u), Cause::kNetwork);
  send(u.port, message);
}

void MeshSim::write(unsigned unit, std::uint64_t addr, unsigned words, Moment last_out) {
  Message message;
  message.kind = Message::Kind::kWrite;
  message.addr = addr;
  message.words = static_cast<std::uint8_t>(words);
  message.flits = static_cast<std::uint8_t>(words + 1);
  request(unit, message, last_out);
}

// A signal to the agent comes behind what its unit has sent before it, also at the unit's own port.
void MeshSim::signal(unsigned unit, Message::Signal signal, arch::Coord to, Moment out) {
  if (to != cost_.ports.front().at) return;  // units drop signals
  const UnitCost& u = cost_.units[unit];
  const Ways& w = ways_[unit];
  Message message;
  message.kind = Message::Kind::kSignal;
  message.signal = signal;
  message.unit = static_cast<std::uint16_t>(unit);
  message.input = w.agent_input;
  if (w.through_port) {
    message.kind = Message::Kind::kPass;
    message.input = w.port_input;
    message.later = cost_.fabric.hop * (Cycles{w.to_agent} - w.to_port);
    message.at = ledger_.after(out, cost_.fabric.hop * w.to_port + leaving(u), Cause::kNetwork);
    send(u.port, message);
    return;
  }
  message.at = ledger_.after(out, cost_.fabric.hop * w.to_agent + leaving(u), Cause::kNetwork);
  send(0, message);
}

void MeshSim::pass(const Message& message, Moment at) {
  Message signal = message;
  signal.kind = Message::Kind::kSignal;
  signal.input = ways_[message.unit].agent_input;
  signal.at = ledger_.after(at, std::max<Cycles>(message.later, 0), Cause::kNetwork);
  send(0, signal);
}

void MeshSim::peer(unsigned unit, const PeerBurst& burst, Moment last_out) {
  const int to = unit_at(burst.to);
  if (to < 0) return;  // lost (fabric.md section 6.1)
  const UnitCost& from = cost_.units[unit];
  const UnitCost& target = cost_.units[static_cast<std::size_t>(to)];
  const Moment at = ledger_.after(
      last_out, cost_.fabric.hop * routers(from.router, target.router) + leaving(from) + entering(target),
      Cause::kNetwork);
  bursts_.emplace_back(burst, at);
  events_.add(at.t, Event::Kind::kPeer, who(static_cast<unsigned>(to)),
              static_cast<std::uint32_t>(bursts_.size() - 1));
}

void MeshSim::answered(const Message& message, unsigned destination, Moment out) {
  if (message.kind == Message::Kind::kPlain && !message.answer) return;
  int unit = message.unit;
  if (destination != 0) unit = unit_at(arch::Coord::from_node_byte(message.peer[destination - 1]));
  if (unit < 0) return;
  const UnitCost& u = cost_.units[static_cast<std::size_t>(unit)];
  const unsigned hops = routers(cost_.ports[cost_.units[message.unit].port].router, u.router);
  const Moment at = ledger_.after(out, cost_.fabric.hop * hops + entering(u), Cause::kNetwork);
  events_.add(at.t, Event::Kind::kData, who(static_cast<unsigned>(unit)), at.id, message.count);
}

void MeshSim::at_agent(const Message& message, Moment at) {
  const Moment seen = ledger_.after(at, cost_.dispatch.signal_visible, Cause::kDispatch);
  Node& node = nodes_[cost_.units[message.unit].at.node_byte()];
  node.count = (node.count + 1) & 0xFFFF;
  node.code = message.signal == Message::Signal::kBatch          ? 1
              : message.signal == Message::Signal::kDataReceived ? 3
                                                                 : 0;
  node.since = done_since_ = seen;
  last_signal_ = latest(last_signal_, at);
  done_ = (done_ + 1) & 0xFFFF;
  if (message.signal == Message::Signal::kComplete) {
    ++credit_;
    if (dispatching_) dispatch(seen);
  }
}

// ---- The control agent

void MeshSim::stage(unsigned slot, const arch::Flit& flit) {
  if (slot >= staged_.size()) staged_.resize(slot + 1);
  staged_[slot] = flit;
}

void MeshSim::set_credit(Moment w, unsigned credit) {
  credit_ = credit;
  if (dispatching_) dispatch(w);
}

MeshSim::Value MeshSim::node_status(unsigned node) const {
  const Node& n = nodes_[node & 255];
  const bool valid = n.since.t != 0;
  return {n.code << 56 | std::uint64_t{n.count} << 8 | (valid ? 1u : 0u), n.since};
}

void MeshSim::kick(Moment w, arch::Coord to, unsigned base, unsigned count) {
  if (!first_kick_) first_kick_ = w.t + 1;
  if (count == 0) return;
  if (unit_at(to) < 0)
    throw arch::UserError::make("a kick names ({},{}), where no unit is that can be costed", to.x, to.y);
  if (base + count > staged_.size())
    throw arch::UserError::make("a kick names slots up to {}, {} are staged", base + count, staged_.size());
  to_ = to;
  slot_ = base;
  left_ = count;
  dispatching_ = true;
  next_push_ = ledger_.after(w, cost_.dispatch.run_clear, Cause::kDispatch);
  run_clear_ = w;
  dispatch(w);
}

// Sends what there is credit for; `from`: the moment there was.
void MeshSim::dispatch(Moment from) {
  const auto unit = static_cast<std::size_t>(unit_at(to_));
  const UnitCost& u = cost_.units[unit];
  next_push_ = latest(next_push_, from);
  while (left_ != 0 && credit_ > 0) {
    --credit_;
    --left_;
    arch::Flit flit = staged_[slot_++];
    flit.set_src(cost_.ports.front().at);
    run_clear_ = next_push_;
    const Moment sent =
        ledger_.after(next_push_, cost_.dispatch.first_flit - cost_.dispatch.run_clear, Cause::kDispatch);
    next_push_ = ledger_.after(next_push_, cost_.dispatch.flit, Cause::kDispatch);
    const Cycles way = cost_.fabric.hop * ways_[unit].from_agent + entering(u);
    units_[unit]->instruction(ledger_.after(sent, way, Cause::kNetwork), flit);
  }
  dispatching_ = left_ != 0;
}

}  // namespace ktpu::cost
