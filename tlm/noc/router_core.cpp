// SPDX-License-Identifier: Apache-2.0
#include "tlm/noc/router_core.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "arch/error.h"

namespace ktpu::noc {

namespace {

// winner[rr][requests]: first requesting input in the cyclic order from rr (fabric.md section 7.2).
constexpr auto make_winners() {
  std::array<std::array<std::uint8_t, 32>, kPorts> table{};
  for (unsigned rr = 0; rr < kPorts; ++rr)
    for (unsigned mask = 1; mask < 32; ++mask)
      for (unsigned k = 0; k < kPorts; ++k)
        if ((mask >> ((rr + k) % kPorts)) & 1) {
          table[rr][mask] = static_cast<std::uint8_t>((rr + k) % kPorts);
          break;
        }
  return table;
}
constexpr auto kWinner = make_winners();

// contest[losers]: what a grant adds to contest_ of its output.
constexpr auto make_contests() {
  std::array<std::uint64_t, 32> table{};
  for (unsigned mask = 1; mask < 32; ++mask) {
    table[mask] = std::uint64_t{1} << (RouterCore::kContestBits * kPorts);
    for (unsigned i = 0; i < kPorts; ++i)
      table[mask] |= static_cast<std::uint64_t>(mask >> i & 1) << (RouterCore::kContestBits * i);
  }
  return table;
}
constexpr auto kContest = make_contests();

// `yes` where the bits of the mask are set, else `no`; compilers make a branch of ?: at will.
constexpr std::uint32_t select(std::uint32_t mask, std::uint32_t yes, std::uint32_t no) {
  return no ^ ((no ^ yes) & mask);
}

// Calls of these few lines would cost as much as what they do.
#define KTPU_ROUTER_INLINE [[gnu::always_inline]] inline

constexpr unsigned kMirrorBits = 32;
constexpr std::uint32_t kMaxLatency = 61;  // of an input FIFO: requests are due within 64 cycles

}  // namespace

void RouterCore::add(sim::Unit& owner, const std::string& name, const RouterParams& params,
                     const RouterPorts& ports) {
  if (params.fifo.latency == 0 || params.fifo.latency > kMaxLatency || params.fifo.depth == 0)
    throw arch::UserError::make(
        "{}: a router FIFO has 1 word or more and a latency of 1..{} cycles, not {} and {}", name,
        kMaxLatency, params.fifo.depth, params.fifo.latency);
  RouterState state;
  state.params = params;
  state.name = name;
  const arch::Coord at = params.position;
  constexpr unsigned kOn = 0xFF;  // the rule says nothing
  const auto step = [](unsigned raw, unsigned low, unsigned high, unsigned mine, unsigned less,
                       unsigned more) {
    const unsigned clamped = std::clamp(raw, low, high);
    return clamped < mine ? less : clamped > mine ? more : kOn;
  };
  // In order: west or east of this column; in this column, north or south of this row; clamped to this
  // router: outwards in x; outwards in y, or local.
  Route route;
  for (unsigned raw = 0; raw < 16; ++raw) {
    const unsigned far_x = step(raw, params.grid.x_lo, params.grid.x_hi, at.x, kWest, kEast);
    const unsigned far_y = step(raw, params.grid.y_lo, params.grid.y_hi, at.y, kNorth, kSouth);
    const unsigned near_x = step(raw, 0, 15, at.x, kWest, kEast);
    const unsigned near_y = raw == at.y ? unsigned{kLocal} : step(raw, 0, 15, at.y, kNorth, kSouth);
    route.by_x[raw] = static_cast<std::uint8_t>(far_x != kOn    ? far_x
                                                : near_x != kOn ? 2 * kRank + near_x
                                                                : kOn);
    route.by_y[raw] = static_cast<std::uint8_t>(far_y != kOn ? kRank + far_y : 3 * kRank + near_y);
  }
  for (unsigned from = 0; from < kPorts; ++from)
    for (unsigned to = 0; to < kPorts; ++to)
      if (turn_suppressed(at, params.grid, static_cast<Direction>(from), static_cast<Direction>(to)))
        route.suppressed[from] |= static_cast<std::uint8_t>(1u << to);
  routers_.push_back(std::move(state));
  route_.push_back(route);
  for (unsigned p = 0; p < kStride; ++p) {
    Input in;
    in.capacity = params.fifo.depth + params.fifo.extra;
    in.latency = static_cast<std::uint8_t>(params.fifo.latency);
    in_.push_back(in);
    out_.emplace_back();
    const sim::FlitPort port = p < kPorts ? ports[p] : sim::FlitPort{};
    in_link_.push_back(port.in);
    out_link_.push_back(port.out);
    if (port.out != nullptr) port.out->bind_sender(owner);
    if (port.in == nullptr) continue;
    external_.push_back({static_cast<Index>(in_.size() - 1), port.in});
    // Receivers are bound by connect(): only then is it known which links stay inside.
    owners_.push_back({port.in, &owner});
  }
  const std::size_t cycles = std::bit_ceil(std::size_t{params.fifo.latency} + 3);
  if (due_.size() < cycles) due_.resize(cycles);
}

void RouterCore::connect() {
  std::unordered_map<const sim::FlitLink*, Index> driven;
  for (Index o = 0; o < out_.size(); ++o)
    if (out_link_[o] != nullptr) driven[out_link_[o]] = o;
  std::vector<External> outside;
  for (const External& e : external_) {
    if (const auto it = driven.find(e.link); it != driven.end()) {
      out_[it->second].peer = e.port;
      in_[e.port].inner = true;
      internal_.push_back(it->second);
    } else {
      outside.push_back(e);
    }
  }
  external_ = std::move(outside);
  external_valid_.assign((external_.size() + kMirrorBits - 1) / kMirrorBits, 0);
  std::unordered_map<const sim::FlitLink*, std::size_t> number;
  for (std::size_t e = 0; e < external_.size(); ++e) number[external_[e].link] = e;
  for (const auto& [link, owner] : owners_) {
    if (const auto it = number.find(link); it != number.end()) {
      link->bind_receiver(*owner, &external_valid_[it->second / kMirrorBits],
                          1u << (it->second % kMirrorBits));
    } else {
      link->bind_receiver(*owner);
    }
  }
  owners_.clear();
  waited_.assign(in_.size(), 0);
  contest_.assign(out_.size(), 0);
  past_.assign(in_.size(), {});
  cycles_.assign(in_.size(), {});
  feeder_.assign(in_.size(), kNone);
  for (const Index o : internal_) feeder_[out_[o].peer] = o;
  counted_.assign(out_.size(), 0);
  stalled_.assign(out_.size(), 0);
  const std::size_t ports = in_.size();
  for (List* list : {&live_, &requested_inner_, &requested_outer_, &crowded_, &headed_, &freed_})
    list->make(ports);
  changed_.make(2 * ports);  // left and granted in one cycle
  for (List& list : due_) list.make(ports);
}

void RouterCore::reset(sim::Cycle start) {
  count_links(start);
  drop_waiting(start);
  start_ = start;
  in_reset_ = true;
  for (List* list : {&live_, &requested_inner_, &requested_outer_, &changed_, &crowded_, &headed_, &freed_})
    list->size = 0;
  newly_live_ = 0;
  unsettled_ = 0;
  for (List& list : due_) list.size = 0;
  free_ = kNone;
  for (Index s = 0; s < slots_.size(); ++s) free_slot(s);
  for (Index p = 0; p < in_.size(); ++p) {
    Input& in = in_[p];
    in.count = 0;
    in.first = in.last = kNone;
    in.load_at = 0;
    in.wedged = in.busy = false;
    in.crowded = true;
    crowded_.push(p);
    counted_[p] = out_[p].granted;
    out_[p].slot = kNone;
    out_[p].requests = 0;
  }
}

void RouterCore::drive(sim::Cycle now, bool watched) {
  for (const Index o : changed_) {
    if (out_[o].slot != kNone) {
      out_link_[o]->offer_in_place(flit(out_[o].slot));
    } else {
      out_link_[o]->withdraw();
    }
  }
  changed_.size = 0;
  if (!crowded_.empty()) {
    in_reset_ = now < start_ + kResetBusy;
    std::size_t kept = 0;
    for (const Index p : crowded_) {
      Input& in = in_[p];
      in.busy = in_reset_ || fifo_words(in, now) >= in.capacity;
      if (in_link_[p] != nullptr) in_link_[p]->set_busy(in.busy);
      if (in_reset_ || in.count >= in.capacity) {
        crowded_.at[kept++] = p;
      } else {
        in.crowded = false;
      }
    }
    crowded_.size = kept;
  }
  watched_ = watched;
  if (watched) show(now);
}

RouterCore::Index RouterCore::take_slot() {
  if (free_ == kNone) {
    const Index base = static_cast<Index>(slots_.size());
    blocks_.push_back(std::make_unique<arch::Flit[]>(kBlockSlots));
    slots_.resize(slots_.size() + kBlockSlots);
    for (Index k = kBlockSlots; k-- > 0;) free_slot(base + k);
  }
  const Index taken = free_;
  free_ = slots_[taken].next;
  return taken;
}

// The choices in here and in take() follow the traffic: a branch would go the wrong way in every tenth case
// or more, which costs more than all the rest.
KTPU_ROUTER_INLINE void RouterCore::push(Tables& t, Index port, Index slot, sim::Cycle now) {
  t.slots[slot].written = now;
  Input& in = t.in[port];
  const std::uint32_t count = in.count;
  const bool first = count == 0;
  in.count = count + 1;
  const Index mask = -static_cast<Index>(first);
  t.slots[select(mask, slot, in.last)].next = slot;
  in.last = slot;
  in.first = select(mask, slot, in.first);
  t.push_headed_if(first, port);
  if (count + 1 >= in.capacity && !in.crowded) {
    in.crowded = true;
    crowded_.push(port);
  }
}

// Which occupied output registers are read by their receivers in this cycle. What arrives at one of our own
// inputs is entered at once: it cannot request anything before two more cycles.
void RouterCore::sample_outputs(sim::Cycle now) {
  Tables t = open();
  std::size_t kept = 0;
  for (const Index o : live_) {
    Output& out = out_[o];
    if (out.peer != kNone) {
      if (in_[out.peer].busy) {
        ++stalled_[o];
        live_.at[kept++] = o;
        continue;
      }
      push(t, out.peer, out.slot, now);
      unsettled_ = 2;
    } else {
      if (out_link_[o] == nullptr) {
        ++routers_[router_of(o)].lost;
      } else if (!out_link_[o]->sample_sent()) {
        live_.at[kept++] = o;
        continue;
      } else {
        changed_.push(o);
      }
      freed_.push(out.slot);
    }
    out.slot = kNone;
  }
  live_.size = kept;
  newly_live_ = kept;
  close(t);
}

void RouterCore::raise_requests(sim::Cycle now) {
  const Tables t = open();
  List& due = due_[now & t.due_mask];
  for (const Index port : due) {
    const Index o = port_of(router_of(port), t.in[port].out);
    Output& out = t.out[o];
    if (out.requests == 0) (out.peer != kNone ? requested_inner_ : requested_outer_).push(o);
    out.requests |= static_cast<std::uint8_t>(1u << side_of(port));
  }
  due.size = 0;
}

// Takes the winner's flit out of its input.
KTPU_ROUTER_INLINE RouterCore::Index RouterCore::take(Tables& t, Index o, unsigned winner, sim::Cycle now) {
  Output& out = t.out[o];
  const Index port = port_of(router_of(o), winner);
  out.requests &= static_cast<std::uint8_t>(~(1u << winner));
  t.contest[o] += kContest[out.requests];
  ++out.granted;
  Input& in = t.in[port];
  t.waited[port] += now - in.load_at;
  const Index slot = in.first;
  in.first = t.slots[slot].next;  // without meaning when it was the last one
  t.push_headed_if(--in.count != 0, port);
  return slot;
}

// The winner of each free output moves into its register and is on the wires in now+1. A peer of ours with
// room for one more now cannot be busy then, as nothing else feeds it: the flit is entered there ahead of
// time, as written in now+1, and the register is left free for the grant of now+1, which is when it will be.
void RouterCore::arbitrate(sim::Cycle now) {
  Tables t = open();
  const auto& winners = kWinner[(now - start_) % kPorts];
  std::size_t kept = 0;
  for (const Index o : requested_inner_) {
    Output& out = t.out[o];
    if (out.slot == kNone) {
      const Index slot = take(t, o, winners[out.requests], now);
      if (t.in[out.peer].count < t.in[out.peer].capacity) {
        push(t, out.peer, slot, now + 1);
      } else {
        out.slot = slot;
        live_.push(o);
      }
    }
    requested_inner_.at[kept] = o;
    kept += out.requests != 0;
  }
  if (!requested_inner_.empty()) unsettled_ = 3;
  requested_inner_.size = kept;
  kept = 0;
  for (const Index o : requested_outer_) {
    Output& out = t.out[o];
    if (out.slot == kNone) {
      out.slot = take(t, o, winners[out.requests], now);
      live_.push(o);
      if (out_link_[o] != nullptr) changed_.push(o);
    }
    requested_outer_.at[kept] = o;
    kept += out.requests != 0;
  }
  requested_outer_.size = kept;
  close(t);
}

void RouterCore::take_inputs(sim::Cycle now) {
  Tables t = open();
  for (std::size_t w = 0; w < external_valid_.size(); ++w) {
    for (std::uint32_t bits = external_valid_[w]; bits != 0; bits &= bits - 1) {
      const External& e = external_[w * kMirrorBits + static_cast<std::size_t>(std::countr_zero(bits))];
      if (e.link->busy()) continue;
      const Index slot = take_slot();
      t.slots = slots_.data();  // there may be more now
      const arch::Flit& arrived = e.link->data();
      flit(slot) = arrived;
      slots_[slot].x = static_cast<std::uint8_t>(arrived.dst_x());
      slots_[slot].y = static_cast<std::uint8_t>(arrived.dst_y());
      push(t, e.port, slot, now);
      ++past_[e.port].arrived;
    }
  }
  close(t);
}

// What the oldest flits want and from when on. A predecessor that was there left in this cycle.
void RouterCore::new_heads(sim::Cycle now) {
  const Tables t = open();
  for (const Index port : headed_) {
    Input& in = t.in[port];
    const Slot& oldest = t.slots[in.first];
    const Route& route = t.route[router_of(port)];
    const unsigned out = std::min(route.by_x[oldest.x], route.by_y[oldest.y]) % kRank;
    const sim::Cycle load_at = std::max(oldest.written + in.latency, now);
    in.load_at = load_at;
    in.out = static_cast<std::uint8_t>(out);
    in.wedged = (route.suppressed[side_of(port)] >> out) & 1;
    if (!in.wedged) t.due[(load_at + 1) & t.due_mask].push(port);
  }
  headed_.size = 0;
}

sim::Cycle RouterCore::next_due(sim::Cycle now) const {
  for (sim::Cycle next = now + 1; next <= now + due_.size(); ++next)
    if (!due_[next & (due_.size() - 1)].empty()) return next;
  return sim::kNever;
}

sim::Cycle RouterCore::clock(sim::Cycle now) {
  if (now >= settle_at_) {
    settle();
    settle_at_ = now + kSettleEvery;
  }
  sample_outputs(now);
  raise_requests(now);
  arbitrate(now);
  take_inputs(now);
  new_heads(now);
  // Only now: the receivers of this cycle may still have to read what left.
  for (const Index gone : freed_) free_slot(gone);
  freed_.size = 0;
  if (unsettled_ != 0) --unsettled_;
  if (!live_.empty() || !changed_.empty() || !crowded_.empty() || !requested_inner_.empty() ||
      !requested_outer_.empty() || (watched_ && unsettled_ != 0))
    return now + 1;
  return next_due(now);
}

}  // namespace ktpu::noc
