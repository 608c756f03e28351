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

constexpr unsigned kMirrorBits = 32;
constexpr std::uint32_t kMaxLatency = 32;  // of an input FIFO: requests are due within the buckets

}  // namespace

void RouterCore::add(sim::Unit& owner, const std::string& name, const RouterParams& params,
                     const RouterPorts& ports) {
  if (params.fifo.latency == 0 || params.fifo.latency > kMaxLatency || params.fifo.depth == 0)
    throw arch::UserError::make(
        "{}: a router FIFO has 1 word or more and a latency of 1..{} cycles, not {} and {}", name,
        kMaxLatency, params.fifo.depth, params.fifo.latency);
  RouterState router;
  router.params = params;
  router.name = name;
  const arch::Coord at = params.position;
  const auto step = [](unsigned raw, unsigned low, unsigned high, unsigned mine, unsigned less,
                       unsigned more) {
    const unsigned clamped = std::clamp(raw, low, high);
    return static_cast<std::uint8_t>(clamped < mine ? less : clamped > mine ? more : unsigned{kOn});
  };
  for (unsigned raw = 0; raw < 16; ++raw) {
    router.route.far_x[raw] = step(raw, params.grid.x_lo, params.grid.x_hi, at.x, kWest, kEast);
    router.route.far_y[raw] = step(raw, params.grid.y_lo, params.grid.y_hi, at.y, kNorth, kSouth);
    router.route.near_x[raw] = step(raw, 0, 15, at.x, kWest, kEast);
    router.route.near_y[raw] =
        raw == at.y ? static_cast<std::uint8_t>(kLocal) : step(raw, 0, 15, at.y, kNorth, kSouth);
  }
  for (unsigned from = 0; from < kPorts; ++from)
    for (unsigned to = 0; to < kPorts; ++to)
      if (turn_suppressed(at, params.grid, static_cast<Direction>(from), static_cast<Direction>(to)))
        router.suppressed[from] |= static_cast<std::uint8_t>(1u << to);
  routers_.push_back(std::move(router));
  ports_.push_back(ports);
  for (unsigned p = 0; p < kPorts; ++p) {
    Input in;
    in.capacity = params.fifo.depth + params.fifo.extra;
    in.latency = params.fifo.latency;
    in_.push_back(in);
    Output out;
    out.link = ports[p].out;
    out_.push_back(out);
    if (ports[p].out != nullptr) ports[p].out->bind_sender(owner);
    if (ports[p].in != nullptr) external_.push_back({static_cast<Index>(in_.size() - 1), ports[p].in});
  }
  // Receivers are bound by connect(): only then is it known which links stay inside.
  for (const sim::FlitPort& port : ports)
    if (port.in != nullptr) owners_.push_back({port.in, &owner});
}

void RouterCore::connect() {
  std::unordered_map<const sim::FlitLink*, Index> driven;
  for (Index o = 0; o < out_.size(); ++o)
    if (out_[o].link != nullptr) driven[out_[o].link] = o;
  std::vector<External> outside;
  for (const External& e : external_) {
    if (const auto it = driven.find(e.link); it != driven.end()) {
      out_[it->second].peer = e.port;
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
  const std::size_t ports = in_.size();
  for (auto* list : {&live_, &arrived_, &requested_, &changed_, &crowded_, &freed_}) list->reserve(ports);
  changed_.reserve(2 * ports);
}

void RouterCore::reset(sim::Cycle start) {
  start_ = start;
  in_reset_ = true;
  for (auto* list : {&live_, &arrived_, &requested_, &changed_, &crowded_, &freed_}) list->clear();
  for (auto& bucket : due_) bucket.clear();
  due_used_ = 0;
  free_ = kNone;
  for (Index b = 0; b < blocks_.size() * kBlockSlots; ++b) {
    slot(b).next = free_;
    free_ = b;
  }
  for (Index p = 0; p < in_.size(); ++p) {
    Input& in = in_[p];
    in.count = 0;
    in.first = in.last = kNone;
    in.load_at = 0;
    in.wedged = in.busy = false;
    in.crowded = true;
    crowded_.push_back(p);
    out_[p].slot = kNone;
    out_[p].requests = 0;
    out_[p].listed = false;
  }
}

void RouterCore::drive(sim::Cycle now) {
  for (const Index o : changed_) {
    const Output& out = out_[o];
    if (out.link == nullptr) continue;
    if (out.slot != kNone) {
      out.link->offer_in_place(slot(out.slot).flit);
    } else {
      out.link->withdraw();
    }
  }
  changed_.clear();
  if (crowded_.empty()) return;
  in_reset_ = now < start_ + kResetBusy;
  std::size_t kept = 0;
  for (const Index p : crowded_) {
    Input& in = in_[p];
    in.busy = in_reset_ || fifo_words(in, now) >= in.capacity;
    if (sim::FlitLink* link = ports_[p / kPorts][p % kPorts].in) link->set_busy(in.busy);
    if (in_reset_ || in.count >= in.capacity) {
      crowded_[kept++] = p;
    } else {
      in.crowded = false;
    }
  }
  crowded_.resize(kept);
}

RouterCore::Index RouterCore::take_slot() {
  if (free_ == kNone) {
    const Index base = static_cast<Index>(blocks_.size()) * kBlockSlots;
    blocks_.push_back(std::make_unique<Slot[]>(kBlockSlots));
    for (Index k = kBlockSlots; k-- > 0;) {
      slot(base + k).next = free_;
      free_ = base + k;
    }
  }
  const Index taken = free_;
  free_ = slot(taken).next;
  return taken;
}

void RouterCore::due(Index port, sim::Cycle at) {
  const std::size_t bucket = at % kBuckets;
  due_[bucket].push_back(port);
  due_used_ |= 1ull << bucket;
}

// The oldest flit of an input changed; its predecessor, if any, left in `earliest`.
void RouterCore::new_head(Index port, sim::Cycle earliest) {
  Input& in = in_[port];
  const Slot& oldest = slot(in.first);
  RouterState& router = routers_[port / kPorts];
  const unsigned x = oldest.flit.dst_x(), y = oldest.flit.dst_y();
  unsigned out = router.route.far_x[x];
  if (out == kOn) out = router.route.far_y[y];
  if (out == kOn) out = router.route.near_x[x];
  if (out == kOn) out = router.route.near_y[y];
  in.out = static_cast<std::uint8_t>(out);
  in.load_at = std::max(oldest.written + in.latency, earliest);
  in.wedged = (router.suppressed[port % kPorts] >> out) & 1;
  if (!in.wedged) due(port, in.load_at + 1);
}

void RouterCore::push(Index port, Index flit, sim::Cycle now) {
  Slot& added = slot(flit);
  added.written = now;
  added.next = kNone;
  Input& in = in_[port];
  if (in.count++ == 0) {
    in.first = in.last = flit;
    new_head(port, now);
  } else {
    slot(in.last).next = flit;
    in.last = flit;
  }
  if (in.count >= in.capacity && !in.crowded) {
    in.crowded = true;
    crowded_.push_back(port);
  }
}

// Which output registers are read by their receivers in this cycle.
void RouterCore::sample_outputs() {
  std::size_t kept = 0;
  for (const Index o : live_) {
    Output& out = out_[o];
    if (out.link == nullptr) {
      ++routers_[o / kPorts].lost;
      freed_.push_back(out.slot);
    } else if (!out.link->sample_sent()) {
      live_[kept++] = o;
      continue;
    } else if (out.peer != kNone) {
      arrived_.push_back(out.slot);
      arrived_.push_back(out.peer);
    } else {
      freed_.push_back(out.slot);
    }
    out.slot = kNone;
    changed_.push_back(o);
  }
  live_.resize(kept);
}

void RouterCore::raise_requests(sim::Cycle now) {
  const std::size_t bucket = now % kBuckets;
  if (((due_used_ >> bucket) & 1) == 0) return;
  due_used_ &= ~(1ull << bucket);
  for (const Index port : due_[bucket]) {
    const Index o = port / kPorts * kPorts + in_[port].out;
    Output& out = out_[o];
    out.requests |= static_cast<std::uint8_t>(1u << (port % kPorts));
    if (!out.listed) {
      out.listed = true;
      requested_.push_back(o);
    }
  }
  due_[bucket].clear();
}

void RouterCore::arbitrate(sim::Cycle now) {
  const auto& winners = kWinner[(now - start_) % kPorts];
  std::size_t kept = 0;
  for (std::size_t k = 0; k < requested_.size(); ++k) {
    const Index o = requested_[k];
    Output& out = out_[o];
    if (out.slot == kNone) {
      const unsigned winner = winners[out.requests];
      const Index port = o / kPorts * kPorts + winner;
      RouterState& router = routers_[o / kPorts];
      ++router.granted;
      router.conflicts += (out.requests & (out.requests - 1)) != 0;
      out.requests &= static_cast<std::uint8_t>(~(1u << winner));
      Input& in = in_[port];
      out.slot = in.first;
      in.first = slot(in.first).next;
      if (--in.count != 0) new_head(port, now);
      live_.push_back(o);
      changed_.push_back(o);
    }
    if (out.requests != 0) {
      requested_[kept++] = o;
    } else {
      out.listed = false;
    }
  }
  requested_.resize(kept);
}

void RouterCore::take_inputs(sim::Cycle now) {
  for (std::size_t k = 0; k < arrived_.size(); k += 2) push(arrived_[k + 1], arrived_[k], now);
  arrived_.clear();
  for (std::size_t w = 0; w < external_valid_.size(); ++w) {
    for (std::uint32_t bits = external_valid_[w]; bits != 0; bits &= bits - 1) {
      const External& e = external_[w * kMirrorBits + static_cast<std::size_t>(std::countr_zero(bits))];
      if (e.link->busy()) continue;
      const Index flit = take_slot();
      slot(flit).flit = e.link->data();
      push(e.port, flit, now);
    }
  }
}

sim::Cycle RouterCore::next_due(sim::Cycle now) const {
  if (due_used_ == 0) return sim::kNever;
  const std::uint64_t ahead = std::rotr(due_used_, static_cast<int>((now + 1) % kBuckets));
  return now + 1 + static_cast<sim::Cycle>(std::countr_zero(ahead));
}

sim::Cycle RouterCore::clock(sim::Cycle now) {
  sample_outputs();
  raise_requests(now);
  arbitrate(now);
  take_inputs(now);
  // Only now: the receivers of this cycle may still have to read what left.
  for (const Index gone : freed_) {
    slot(gone).next = free_;
    free_ = gone;
  }
  freed_.clear();
  if (!live_.empty() || !changed_.empty() || !crowded_.empty() || !requested_.empty()) return now + 1;
  return next_due(now);
}

std::uint32_t RouterCore::flits_inside(unsigned router) const {
  std::uint32_t count = 0;
  for (Index p = router * kPorts; p < (router + 1) * kPorts; ++p)
    count += in_[p].count + (out_[p].slot != kNone);
  return count;
}

void RouterCore::visit(unsigned router, sim::Archive& archive, sim::Cycle now) {
  RouterState& state = routers_[router];
  std::uint32_t valid = 0;
  for (unsigned p = 0; p < kPorts; ++p) {
    const Index port = router * kPorts + p;
    const Input& in = in_[port];
    const bool held = in.count != 0 && in.load_at < now;
    std::uint32_t requests = 0;  // of the holding slots at output p
    for (unsigned i = 0; i < kPorts; ++i) {
      const Input& other = in_[router * kPorts + i];
      if (other.count != 0 && other.load_at < now && !other.wedged && other.out == p) requests |= 1u << i;
    }
    valid |= static_cast<std::uint32_t>(out_[port].slot != kNone) << p;
    archive.scope(kPortNames[p], [&] {
      archive.computed("fifo_words", fifo_words(in, now), 16);
      archive.computed("held", held, 1);
      archive.computed("hold_out", held ? in.out : 0, 3);
      archive.computed("requests", requests, kPorts);
      Index k = in.first;
      for (std::uint32_t n = 0; archive.walks_contents() && n < in.count; ++n, k = slot(k).next)
        archive.memory("flit", slot(k).flit.w.data(), 5);
      if (archive.walks_contents() && out_[port].slot != kNone)
        archive.memory("out", slot(out_[port].slot).flit.w.data(), 5);
    });
  }
  archive.computed("out_valid", valid, kPorts);
  archive.computed("inside", flits_inside(router), 16);
  archive.counter("granted", state.granted, "flits", "Flits that won an output of this router");
  archive.counter("conflicts", state.conflicts, "cycles",
                  "Grants in which at least one more input wanted the same output");
  archive.counter("lost", state.lost, "flits", "Flits sent into an empty slot, where the machine loses them");
}

std::vector<sim::Wait> RouterCore::waits(unsigned router) const {
  std::vector<sim::Wait> waits;
  for (unsigned p = 0; p < kPorts; ++p) {
    const Output& out = out_[router * kPorts + p];
    const Input& in = in_[router * kPorts + p];
    if (out.slot != kNone && out.link != nullptr && out.link->valid() && out.link->busy())
      waits.push_back({fmt::format("output {} holds a {} flit for ({},{}) that is not taken", kPortNames[p],
                                   arch::flit_type_name(out.link->data().type_code()),
                                   out.link->data().dst_x(), out.link->data().dst_y()),
                       out.link->receiver()});
    if (in.count != 0 && in.wedged)
      waits.push_back(
          {fmt::format("input {} holds a flit whose turn the router never grants", kPortNames[p]), nullptr});
  }
  if (routers_[router].lost != 0)  // no wait, but what often explains one (fabric.md section 6.1)
    waits.push_back({fmt::format("note: {}x a flit was lost because nothing is attached where it was sent",
                                 routers_[router].lost),
                     nullptr});
  return waits;
}

}  // namespace ktpu::noc
