// SPDX-License-Identifier: Apache-2.0
#include "tlm/noc/router.h"

#include <algorithm>
#include <bit>

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

}  // namespace

Direction route(arch::Coord position, const Grid& grid, arch::Coord destination) {
  const unsigned px = destination.x, py = destination.y, mx = position.x, my = position.y;
  const unsigned cx = std::clamp(px, grid.x_lo, grid.x_hi), cy = std::clamp(py, grid.y_lo, grid.y_hi);
  const bool here = cx == mx && cy == my;
  if (cx < mx || (here && px < mx)) return kWest;
  if (cx > mx || (here && px > mx)) return kEast;
  if (cy < my || (here && py < my)) return kNorth;
  if (cy > my || (here && py > my)) return kSouth;
  return kLocal;
}

bool turn_suppressed(arch::Coord position, const Grid& grid, Direction from, Direction to) {
  const bool north = position.y > grid.y_lo, south = position.y < grid.y_hi;
  const bool west = position.x > grid.x_lo, east = position.x < grid.x_hi;
  switch (from) {
    case kNorth:
      return north && (to == kNorth || (to == kEast && east) || (to == kWest && west));
    case kSouth:
      return south && (to == kSouth || (to == kEast && east) || (to == kWest && west));
    case kWest:
      return west && to == kWest;
    case kEast:
      return east && to == kEast;
    case kLocal:
      break;
  }
  return false;
}

arch::Coord final_slot(const Grid& grid, arch::Coord destination) {
  const unsigned ex = std::clamp<unsigned>(destination.x, grid.x_lo - 1, grid.x_hi + 1);
  const bool outside = ex == grid.x_lo - 1 || ex == grid.x_hi + 1;
  const unsigned ey = outside ? std::clamp<unsigned>(destination.y, grid.y_lo, grid.y_hi)
                              : std::clamp<unsigned>(destination.y, grid.y_lo - 1, grid.y_hi + 1);
  return {static_cast<std::uint8_t>(ex), static_cast<std::uint8_t>(ey)};
}

Router::Router(std::string name, const RouterParams& params, const Ports& ports)
    : Unit(std::move(name)),
      params_(params),
      capacity_(params.fifo.depth + params.fifo.extra),
      ports_(ports) {
  in_.reserve(kPorts);
  for (unsigned p = 0; p < kPorts; ++p) {
    in_.emplace_back(capacity_ + 3);  // FIFO, holding slot, leaving flit
    if (ports_[p].in != nullptr) ports_[p].in->bind_receiver(*this, &in_valid_, 1u << p);
    if (ports_[p].out != nullptr) ports_[p].out->bind_sender(*this);
  }
  for (unsigned node = 0; node < 256; ++node)
    route_[node] =
        static_cast<std::uint8_t>(route(params.position, params.grid, arch::Coord::from_node_byte(node)));
  for (unsigned from = 0; from < kPorts; ++from)
    for (unsigned to = 0; to < kPorts; ++to)
      suppressed_[from][to] = turn_suppressed(params.position, params.grid, static_cast<Direction>(from),
                                              static_cast<Direction>(to));
}

void Router::reset(sim::Cycle start) {
  start_ = start;
  for (Input& in : in_) {
    in.ring.clear();
    in.head = 0;
    in.last_pop_plus_1 = 0;
    in.hold_out = kNone;
    in.hold_suppressed = false;
  }
  out_ = {};
  fifo_used_ = held_ = out_valid_ = requested_ = out_changed_ = full_ = 0;
  in_reset_ = true;
  busy_changed_ = (1u << kPorts) - 1;
}

void Router::drive(sim::Cycle now) {
  if (in_reset_ && now >= start_ + kResetBusy) {
    in_reset_ = false;
    busy_changed_ = (1u << kPorts) - 1;
  }
  for (std::uint32_t bits = out_changed_; bits != 0; bits &= bits - 1) {
    const unsigned o = static_cast<unsigned>(std::countr_zero(bits));
    sim::FlitLink* link = ports_[o].out;
    if ((out_valid_ >> o) & 1) {
      // The flit leaves the ring here: until now it was the oldest element of its input's ring.
      Input& in = in_[out_[o].from];
      if (link != nullptr) link->offer(in.ring.at(in.ring.base()).flit);
      in.ring.drop_front();
    } else if (link != nullptr) {
      link->withdraw();
    }
  }
  out_changed_ = 0;
  for (std::uint32_t bits = busy_changed_; bits != 0; bits &= bits - 1) {
    const unsigned p = static_cast<unsigned>(std::countr_zero(bits));
    if (ports_[p].in != nullptr) ports_[p].in->set_busy(in_reset_ || ((full_ >> p) & 1));
  }
  busy_changed_ = 0;
}

void Router::load(unsigned port, Input& in, sim::Cycle now) {
  const Slot& slot = in.ring.at(in.head);
  const unsigned out = route_[(slot.flit.dst_y() << 4) | slot.flit.dst_x()];
  ++in.head;
  in.last_pop_plus_1 = now + 1;
  in.hold_out = static_cast<std::uint8_t>(out);
  held_ |= 1u << port;
  in.hold_suppressed = suppressed_[port][out];
  if (!in.hold_suppressed) {
    out_[out].requests |= static_cast<std::uint8_t>(1u << port);
    requested_ |= 1u << out;
  }
  if (fifo_size(in) == 0) fifo_used_ &= ~(1u << port);
  if ((full_ >> port) & 1) {
    full_ &= ~(1u << port);
    busy_changed_ |= 1u << port;
  }
}

sim::Cycle Router::clock(sim::Cycle now) {
  std::uint32_t freed = 0;  // inputs granted in this cycle
  for (std::uint32_t bits = requested_ | out_valid_; bits != 0; bits &= bits - 1) {
    const unsigned o = static_cast<unsigned>(std::countr_zero(bits));
    const std::uint32_t bit = 1u << o;
    if (out_valid_ & bit) {
      sim::FlitLink* link = ports_[o].out;
      if (link == nullptr) {
        ++lost_;
      } else if (!link->sample_sent()) {
        continue;  // no room
      }
    }
    Output& out = out_[o];
    if (out.requests != 0) {
      const unsigned rr = static_cast<unsigned>((now - start_) % kPorts);
      const unsigned winner = kWinner[rr][out.requests];
      out.from = static_cast<std::uint8_t>(winner);
      ++granted_;
      conflicts_ += (out.requests & (out.requests - 1)) != 0;
      out.requests &= static_cast<std::uint8_t>(~(1u << winner));
      if (out.requests == 0) requested_ &= ~bit;
      freed |= 1u << winner;
      in_[winner].hold_out = kNone;
      held_ &= ~(1u << winner);
      out_valid_ |= bit;
      out_changed_ |= bit;
    } else if (out_valid_ & bit) {
      out_valid_ &= ~bit;
      out_changed_ |= bit;
    }
  }

  sim::Cycle wake = sim::kNever;
  for (std::uint32_t bits = fifo_used_ & ~held_; bits != 0; bits &= bits - 1) {
    const unsigned p = static_cast<unsigned>(std::countr_zero(bits));
    Input& in = in_[p];
    const sim::Cycle ready = std::max(in.ring.at(in.head).written + params_.fifo.latency, in.last_pop_plus_1);
    if (ready <= now) {
      load(p, in, now);
    } else {
      wake = std::min(wake, ready);
    }
  }

  for (std::uint32_t bits = in_valid_; bits != 0; bits &= bits - 1) {
    const unsigned p = static_cast<unsigned>(std::countr_zero(bits));
    sim::FlitLink& link = *ports_[p].in;
    if (link.busy()) continue;
    Input& in = in_[p];
    Slot& slot = in.ring.push();
    slot.flit = link.data();
    slot.written = now;
    fifo_used_ |= 1u << p;
    if (fifo_size(in) == capacity_) {
      full_ |= 1u << p;
      busy_changed_ |= 1u << p;
    }
    wake = std::min(wake, now + params_.fifo.latency);
  }

  if ((held_ | out_valid_ | out_changed_ | busy_changed_ | freed) != 0) return now + 1;
  if (in_reset_) return std::min(wake, start_ + kResetBusy > now ? start_ + kResetBusy : now + 1);
  return wake;
}

std::uint32_t Router::flits_inside() const {
  // Granted flits that are on the link left the ring in drive(); those not driven yet are still counted in
  // it.
  std::uint32_t count = static_cast<std::uint32_t>(std::popcount(out_valid_ & ~out_changed_));
  for (const Input& in : in_) count += in.ring.size();
  return count;
}

void Router::visit(sim::Archive& archive) {
  for (unsigned p = 0; p < kPorts; ++p) {
    archive.scope(kPortNames[p], [&] {
      Input& in = in_[p];
      archive.computed("fifo_words", fifo_size(in), 16);
      for (std::uint32_t k = in.ring.base(); archive.walks_contents() && k != in.ring.tail(); ++k)
        archive.memory("flit", in.ring.at(k).flit.w.data(), 5);
      archive.state("hold_out", in.hold_out, 8);
      archive.state("requests", out_[p].requests, kPorts);
    });
  }
  archive.state("out_valid", out_valid_, kPorts);
  archive.state("full", full_, kPorts);
  archive.counter("granted", granted_, "flits", "Flits that won an output of this router");
  archive.counter("conflicts", conflicts_, "cycles",
                  "Grants in which at least one more input wanted the same output");
  archive.counter("lost", lost_, "flits", "Flits sent into an empty slot, where the machine loses them");
}

std::vector<sim::Wait> Router::waits(sim::Cycle) const {
  std::vector<sim::Wait> waits;
  for (unsigned p = 0; p < kPorts; ++p) {
    const sim::FlitLink* link = ports_[p].out;
    if (((out_valid_ >> p) & 1) && link != nullptr && link->busy())
      waits.push_back({fmt::format("output {} holds a {} flit for ({},{}) that is not taken", kPortNames[p],
                                   arch::flit_type_name(link->data().type_code()), link->data().dst_x(),
                                   link->data().dst_y()),
                       link->receiver()});
    if (in_[p].hold_suppressed && in_[p].hold_out != kNone)
      waits.push_back(
          {fmt::format("input {} holds a flit whose turn the router never grants", kPortNames[p]), nullptr});
  }
  return waits;
}

}  // namespace ktpu::noc
