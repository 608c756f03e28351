// SPDX-License-Identifier: Apache-2.0
// What others see of the routers: the links between them, registers, counters, and what they wait for.
#include "tlm/noc/router_core.h"
#include "tlm/sim/attribution.h"

namespace ktpu::noc {

namespace {

// Of an input port, by priority.
constexpr std::array<sim::CycleState, 5> kInputStates{{
    {"wedged", "Cycles in which the oldest flit wanted a turn that the router never grants"},
    {"moving", "Cycles in which the oldest flit won its output"},
    {"arbitration", "Cycles in which the oldest flit lost its output to another input"},
    {"blocked", "Cycles in which the output that the oldest flit wants was held by a busy receiver"},
    {"idle", "Cycles without a request: nothing there, or only flits still on their way through the FIFO"},
}};

}  // namespace

// The wires of the cycle being driven.
void RouterCore::show(sim::Cycle now) {
  for (const Index o : internal_) {
    const Output& out = out_[o];
    out_link_[o]->set_busy(in_[out.peer].busy);
    if (const Index slot = output_register(out, now); slot != kNone) {
      out_link_[o]->offer_in_place(flit(slot));
    } else {
      out_link_[o]->withdraw();
    }
  }
}

void RouterCore::count_links(sim::Cycle now) {
  for (const Index o : internal_) {
    const Output& out = out_[o];
    const std::uint64_t taken = out.granted - (output_register(out, now) != kNone);
    out_link_[o]->transferred() += taken - counted_[o];
    counted_[o] = taken;
    out_link_[o]->stalled_cycles() += stalled_[o];
    stalled_[o] = 0;
  }
}

std::uint64_t RouterCore::uncounted(sim::Cycle now) const {
  std::uint64_t count = 0;
  for (const Index o : internal_)
    count += out_[o].granted - (output_register(out_[o], now) != kNone) - counted_[o];
  return count;
}

void RouterCore::count_grants(unsigned router) {
  RouterState& state = routers_[router];
  state.granted = state.conflicts = 0;
  for (unsigned p = 0; p < kPorts; ++p) {
    state.granted += out_[port_of(router, p)].granted;
    state.conflicts += out_[port_of(router, p)].conflicts + field(contest_[port_of(router, p)], kPorts);
  }
}

// Flits that were ever entered in an input. A flit from one of our outputs is entered when it is granted, or
// when it leaves that output's register.
std::uint64_t RouterCore::arrivals(Index port) const {
  const Index o = feeder_[port];
  return o == kNone ? past_[port].arrived : out_[o].granted - (out_[o].slot != kNone);
}

// Cycles before `now` in which the oldest flit, still there, requested its output: from load_at + 1 on.
sim::Cycle RouterCore::open_wait(Index port, sim::Cycle now) const {
  const Input& in = in_[port];
  return in.count != 0 && in.load_at + 1 < now ? now - 1 - in.load_at : 0;
}

// Of the cycles before `now`; needs settle(). A flit moves in the last cycle of its request.
RouterCore::InputCycles RouterCore::input_cycles(Index port, sim::Cycle now) const {
  const Past& past = past_[port];
  const sim::Cycle open = open_wait(port, now);
  const std::uint64_t requested = waited_[port] + open;
  const std::uint64_t turned = past.turned + (in_[port].wedged ? open : 0);
  const std::uint64_t moved = moves(port);
  return {turned, moved, past.lost, requested - turned - moved - past.lost, now - requested};
}

void RouterCore::settle() {
  for (Index o = 0; o < out_.size(); ++o) {
    const std::uint64_t contest = contest_[o];
    if (contest == 0) continue;
    for (unsigned i = 0; i < kPorts; ++i) past_[port_of(router_of(o), i)].lost += field(contest, i);
    out_[o].conflicts += field(contest, kPorts);
    contest_[o] = 0;
  }
}

// What is inside when a reset comes is dropped, and its waiting over.
void RouterCore::drop_waiting(sim::Cycle start) {
  for (Index port = 0; port < in_.size(); ++port) {
    const sim::Cycle open = open_wait(port, start);
    waited_[port] += open;
    if (in_[port].wedged) past_[port].turned += open;
    past_[port].dropped += in_[port].count;
    if (const Index o = feeder_[port]; o != kNone) past_[port].dropped += out_[o].slot != kNone;
  }
}

void RouterCore::sync(sim::Cycle now) {
  count_links(now);
  settle();
  for (Index port = 0; port < in_.size(); ++port) cycles_[port] = input_cycles(port, now);
  for (unsigned r = 0; r < routers_.size(); ++r) count_grants(r);
  if (watched_) return;  // drive() has shown the last cycle
  for (const Index o : internal_) {
    const Input& in = in_[out_[o].peer];
    out_link_[o]->set_busy(in.busy);
    out_link_[o]->withdraw();
    // What arrived in the last cycle was on the wires.
    Index k = in.first;
    for (std::uint32_t n = 0; n < in.count && slots_[k].written < now; ++n, k = slots_[k].next)
      if (slots_[k].written + 1 == now) out_link_[o]->offer_in_place(flit(k));
  }
  // So was what waited in a register. What was granted in the last cycle comes next.
  for (std::size_t k = 0; k < newly_live_; ++k) {
    const Index o = live_.at[k];
    if (out_[o].peer != kNone) out_link_[o]->offer_in_place(flit(out_[o].slot));
  }
}

std::uint32_t RouterCore::flits_inside(unsigned router, sim::Cycle now) const {
  std::uint32_t count = 0;
  for (Index p = port_of(router, 0); p < router * kStride + kPorts; ++p)
    count += in_[p].count - ahead(in_[p], now) + (output_register(out_[p], now) != kNone);
  return count;
}

void RouterCore::keep(sim::Archive& a) {
  if (!a.is_checkpoint()) return;
  a.kept_list("slots", slots_, [&](Slot& slot) {
    a.kept("written", slot.written);
    a.kept("next", slot.next);
    a.kept("x", slot.x);
    a.kept("y", slot.y);
  });
  while (blocks_.size() * kBlockSlots < slots_.size())
    blocks_.push_back(std::make_unique<arch::Flit[]>(kBlockSlots));
  blocks_.resize(slots_.size() / kBlockSlots);
  for (auto& block : blocks_) a.kept_memory("flits", block.get(), kBlockSlots);
  a.kept("free", free_);
  for (Input& in : in_) {
    a.kept("load_at", in.load_at);
    a.kept("first", in.first);
    a.kept("last", in.last);
    a.kept("count", in.count);
    a.kept("out", in.out);
    a.kept("wedged", in.wedged);
    a.kept("crowded", in.crowded);
    a.kept("busy", in.busy);
  }
  for (Output& out : out_) {
    a.kept("slot", out.slot);
    a.kept("requests", out.requests);
    a.kept("granted", out.granted);
    a.kept("conflicts", out.conflicts);
  }
  const auto list = [&](std::string_view name, List& l) {
    a.kept(name, l.size);
    a.kept_memory(name, l.at.get(), l.size);
  };
  list("live", live_);
  list("requested_inner", requested_inner_);
  list("requested_outer", requested_outer_);
  list("changed", changed_);
  list("crowded", crowded_);
  list("headed", headed_);
  list("freed", freed_);
  for (List& due : due_) list("due", due);
  a.kept("newly_live", newly_live_);
  a.kept("start", start_);
  a.kept("in_reset", in_reset_);
  a.kept("watched", watched_);
  a.kept("unsettled", unsettled_);
  for (RouterState& state : routers_) {
    a.kept("lost", state.lost.count);
    state.lost.visit(a);
  }
  a.kept_memory("counted", counted_.data(), counted_.size());
  a.kept_memory("stalled", stalled_.data(), stalled_.size());
  a.kept_memory("waited", waited_.data(), waited_.size());
  a.kept_memory("contest", contest_.data(), contest_.size());
  a.kept("settle_at", settle_at_);
  for (Past& past : past_) {
    a.kept("lost", past.lost);
    a.kept("turned", past.turned);
    a.kept("arrived", past.arrived);
    a.kept("dropped", past.dropped);
  }
}

void RouterCore::visit(unsigned router, sim::Archive& archive, sim::Cycle now) {
  if (archive.is_checkpoint()) return;
  count_grants(router);
  RouterState& state = routers_[router];
  std::uint32_t valid = 0;
  for (unsigned p = 0; p < kPorts; ++p) {
    const Index port = port_of(router, p);
    const Input& in = in_[port];
    const bool held = in.count != 0 && in.load_at < now;
    std::uint32_t requests = 0;  // of the holding slots at output p
    for (unsigned i = 0; i < kPorts; ++i) {
      const Input& other = in_[port_of(router, i)];
      if (other.count != 0 && other.load_at < now && !other.wedged && other.out == p) requests |= 1u << i;
    }
    const Index shown = output_register(out_[port], now);
    const std::uint32_t words = in.count - ahead(in, now);
    valid |= static_cast<std::uint32_t>(shown != kNone) << p;
    archive.scope(kPortNames[p], [&] {
      archive.computed("fifo_words", fifo_words(in, now), 16);
      archive.computed("held", held, 1);
      archive.computed("hold_out", held ? in.out : 0, 3);
      archive.computed("requests", requests, kPorts);
      Index k = in.first;
      for (std::uint32_t n = 0; archive.walks_contents() && n < words; ++n, k = slots_[k].next)
        archive.memory("flit", flit(k).w.data(), 5);
      if (archive.walks_contents() && shown != kNone) archive.memory("out", flit(shown).w.data(), 5);
      if (in_link_[port] != nullptr)
        archive.scope("cycles", [&] {
          for (unsigned s = 0; s < kStates; ++s)
            archive.exclusive(kInputStates[s].name, cycles_[port][s], s + 1, kInputStates[s].sentence);
        });
    });
  }
  archive.computed("out_valid", valid, kPorts);
  archive.computed("inside", flits_inside(router, now), 16);
  archive.counter("granted", state.granted, "flits", "Flits that won an output of this router");
  archive.counter("conflicts", state.conflicts, "cycles",
                  "Grants in which at least one more input wanted the same output");
  archive.counter("lost", state.lost.count, "flits",
                  "Flits sent into an empty slot, where the machine loses them");
  archive.scope("lost", [&] { state.lost.visit(archive); });
}

// Parts: "out SIDE" the output registers, "in SIDE" the inputs.
std::vector<sim::Wait> RouterCore::waits(unsigned router) const {
  std::vector<sim::Wait> waits;
  const auto held_up = [&](Index port) {
    const Output& out = out_[port];
    const sim::FlitLink* link = out_link_[port];
    return out.slot != kNone &&
           (out.peer != kNone ? in_[out.peer].busy : link != nullptr && link->valid() && link->busy());
  };
  for (unsigned p = 0; p < kPorts; ++p) {
    const Index port = port_of(router, p);
    const Input& in = in_[port];
    if (held_up(port)) {
      const arch::Flit& held = flit(out_[port].slot);
      waits.push_back(
          {.what = fmt::format("output {} holds a {} flit for ({},{}) that is not taken", kPortNames[p],
                               arch::flit_type_name(held.type_code()), held.dst_x(), held.dst_y()),
           .on = out_link_[port]->receiver(),
           .part = fmt::format("out {}", kPortNames[p]),
           .kind = "output",
           .over = out_link_[port]});
    }
    if (in.count != 0 && in.wedged)
      waits.push_back(
          {.what = fmt::format("input {} holds a flit whose turn the router never grants", kPortNames[p]),
           .part = fmt::format("in {}", kPortNames[p]),
           .kind = "turn-refused"});
    else if (in.count != 0 && held_up(port_of(router, in.out)))
      waits.push_back({.what = fmt::format("input {}: {} flits behind output {}", kPortNames[p], in.count,
                                           kPortNames[in.out]),
                       .part = fmt::format("in {}", kPortNames[p]),
                       .on_part = fmt::format("out {}", kPortNames[in.out]),
                       .kind = "router-input"});
  }
  return waits;
}

}  // namespace ktpu::noc
