// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/dram_path.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "arch/encoding/address_map.h"
#include "arch/encoding/latencies.h"
#include "arch/error.h"
#include "tlm/memory/dram_bus_unit.h"

namespace ktpu::memory {

namespace latency = arch::latency;
using sim::FifoShape;

namespace {
// The write-order FIFO is never what limits a write: one place per write address that the path can hold.
constexpr std::uint32_t kOrderDepth = 32;

}  // namespace

void DramWires::visit(sim::Archive& a) {
  a.kept("ar_valid", ar_valid);
  a.kept("aw_valid", aw_valid);
  a.kept("r_ready", r_ready);
  a.kept("ar_beats", ar_beats);
  a.kept("aw_beats", aw_beats);
  a.kept("ar_addr", ar_addr);
  a.kept("aw_addr", aw_addr);
  a.kept("ar_origin", ar_origin);
  a.kept("aw_origin", aw_origin);
  a.kept("ar_granted", ar_granted);
  a.kept("aw_granted", aw_granted);
  a.kept("w_taken", w_taken);
  a.kept("r_valid", r_valid);
  a.kept("r_last", r_last);
  a.kept("b", b);
  a.kept_memory("r_data", r_data.data(), r_data.size());
}

std::uint32_t DramPath::read_depth(unsigned reads_in_flight, unsigned bus_bits) {
  const std::uint32_t depth = latency::kDramFifoR.value;
  if (reads_in_flight == 1) return depth;
  const std::uint32_t entry_beats = arch::address::kEntryBytesFp16 * 8 / bus_bits;
  return std::max(depth, std::bit_ceil(reads_in_flight * entry_beats));
}

DramPath::DramPath(const Config& config, DramDevice& device, MisuseLog& misuse)
    : config_(config),
      bus_(device, config.reads_in_flight == 1 ? 1 : config.requesters,
           read_depth(config.reads_in_flight, device.bus_bits())),
      misuse_(misuse),
      lanes_(device.bus_bits() / arch::kPayloadBits),
      order_(FifoShape::sync(kOrderDepth)) {
  if (lanes_ == 0)
    throw arch::UserError::make("a DRAM bus of {} bits: the memory agent needs 256, 512 or 1024",
                                device.bus_bits());
  if (config.reads_in_flight == 0 || config.reads_in_flight > kMaxReadsInFlight)
    throw arch::UserError::make("reads_in_flight is {}: it must be 1..{}", config.reads_in_flight,
                                kMaxReadsInFlight);
  KTPU_CHECK(config.requesters <= kMaxRequesters, "{} requesters", config.requesters);
  if (config.staging) staging_ = std::make_unique<ConvergedStore>(config.requesters, config.mesh_id, misuse);
}

void DramPath::set_far(DramBusUnit& far, const sim::ClockRatio& to_dram) {
  far_ = &far;
  border_ = ClockBorder(to_dram);
  border_.set_other(far);
}

void DramPath::attach(unsigned requester, DramWires& wires) {
  KTPU_CHECK(requester < config_.requesters, "requester {} of {}", requester, config_.requesters);
  requesters_[requester].wires = wires_[requester] = &wires;
  attached_ = std::max(attached_, requester + 1);
}

void DramPath::reset(sim::Cycle start) {
  for (Requester& r : requesters_) {
    DramWires* wires = r.wires;
    r = {};
    r.wires = wires;
  }
  read_ = write_ = {};
  push_order_ = mux_ = {};
  bus_.reset_fifos();
  if (far_ == nullptr) bus_.reset(start);
  order_.reset();
  if (staging_ != nullptr) staging_->reset(start);
  mux_open_ = pulse_ = false;
  reads_open_ = writes_granted_ = beats_pushed_ = 0;
  packing_ = {};
  read_arbiter_cycles_.reset(start);
  write_arbiter_cycles_.reset(start);
}

// Lowest requester at or after the pointer; the winner of the cycle before is out (section 7.3).
int DramPath::pick(const Arbiter& arbiter) const {
  const std::uint32_t candidates = arbiter.requests & ~arbiter.blocked;
  if (candidates == 0) return -1;
  const std::uint32_t from_pointer = candidates & (~0u << arbiter.pointer);
  return std::countr_zero(from_pointer != 0 ? from_pointer : candidates);
}

AddressWord DramPath::narrow(std::uint64_t addr, std::uint32_t beats, unsigned id, arch::Coord origin) const {
  const std::uint32_t phase = (addr >> 5) & (lanes_ - 1);
  return {addr & ~std::uint64_t{bus_.device().bus_bytes() - 1}, (beats + phase + lanes_ - 1) / lanes_,
          static_cast<std::uint16_t>(id), origin};
}

void DramPath::check_address(sim::Cycle now, std::uint64_t addr, arch::Coord origin, bool write) {
  const char* what = write ? "write" : "read";
  if (arch::address::special(addr))
    misuse_.add(
        {MisuseKind::kAperture, now, origin, addr,
         fmt::format(
             "{} at {:#012x}: nothing serves aperture {:#x} of mesh {} for this requester; it goes to "
             "DRAM with bit 39 set",
             what, addr, arch::address::aperture(addr), arch::address::mesh(addr))});
  else if (arch::address::mesh(addr) != config_.mesh_id)
    misuse_.add({MisuseKind::kForeignMesh, now, origin, addr,
                 fmt::format("{} at {:#012x} names mesh {}, but it goes to the memory of mesh {}", what, addr,
                             arch::address::mesh(addr), config_.mesh_id)});
}

// The adapters: what each requester presents, and to whom. The staging memory sits between them and the DRAM
// port; it and DRAM never serve the same requester and direction at once (section 7.2).
void DramPath::present(sim::Cycle now) {
  presented_ = {};
  for (unsigned i = 0; i < attached_; ++i) {
    Requester& r = requesters_[i];
    if (r.wires == nullptr || !(r.wires->ar_valid || r.wires->aw_valid)) continue;
    if (!r.held) {
      r.held = true;
      r.held_write = r.wires->aw_valid;
      r.since = now;
    }
    const std::uint32_t bit = 1u << i;
    if (staging_ != nullptr) {
      if (staging_->claims(r.held_write ? r.wires->aw_addr : r.wires->ar_addr)) {
        if (!at_dram(r)) (r.held_write ? presented_.staged_writes : presented_.staged_reads) |= bit;
        continue;
      }
      if (staging_->runs(i, r.held_write)) continue;
    }
    if (r.held_write)
      presented_.writes |= bit;
    else if (r.in_flight < config_.reads_in_flight)
      presented_.reads |= bit;
    else
      presented_.limited = true;
  }
}

// Both arbiters decide on the vector registered in the cycle before.
template <bool kTwoClocks>
void DramPath::grant(sim::Cycle now) {
  const bool ar_room = !read_.push_valid || !full<kTwoClocks>(bus_.ar, now);
  const bool aw_room = !write_.push_valid || (!full<kTwoClocks>(bus_.aw, now) && !order_.full());
  if (read_.push_valid && ar_room) {
    push<kTwoClocks>(bus_.ar, now, read_.push);
    read_.push_valid = false;
  }
  if (write_.push_valid && aw_room) {
    push<kTwoClocks>(bus_.aw, now, write_.push);
    order_.push(now, push_order_);
    write_.push_valid = false;
  }

  present(now);
  const bool read_stands = (presented_.reads | read_.requests) != 0;
  const bool write_stands = (presented_.writes | write_.requests) != 0;
  const int reader = ar_room ? pick(read_) : -1;
  read_.requests = presented_.reads;
  read_.blocked = 0;
  if (reader >= 0) {
    const unsigned i = static_cast<unsigned>(reader);
    Requester& r = requesters_[i];
    const DramWires& w = *r.wires;
    read_.blocked = 1u << i;
    read_.pointer = (i + 1) % config_.requesters;
    read_.push = narrow(w.ar_addr, w.ar_beats, i, w.ar_origin);
    read_.push_valid = true;
    r.tracks[(r.track_head + r.in_flight) % kMaxReadsInFlight] = {
        w.ar_beats, static_cast<std::uint32_t>((w.ar_addr >> 5) & (lanes_ - 1))};
    ++r.in_flight;
    ++reads_open_;
    r.held = false;
    r.wires->ar_granted = true;
    read_wait_ += now - r.since;
    check_address(now, w.ar_addr, w.ar_origin, false);
    if (landing_ != nullptr) landing_->read(now, w.ar_origin, w.ar_addr, w.ar_beats);
  }
  const int writer = aw_room ? pick(write_) : -1;
  write_.requests = presented_.writes;
  write_.blocked = 0;
  if (writer >= 0) {
    const unsigned i = static_cast<unsigned>(writer);
    Requester& r = requesters_[i];
    const DramWires& w = *r.wires;
    write_.blocked = 1u << i;
    write_.pointer = (i + 1) % config_.requesters;
    write_.push = narrow(w.aw_addr, w.aw_beats, i, w.aw_origin);
    push_order_ = {w.aw_beats, static_cast<std::uint16_t>(i),
                   static_cast<std::uint16_t>((w.aw_addr >> 5) & (lanes_ - 1))};
    write_.push_valid = true;
    ++r.writes_in_flight;
    if constexpr (kTwoClocks) ++writes_granted_;
    r.held = false;
    r.wires->aw_granted = true;
    write_wait_ += now - r.since;
    check_address(now, w.aw_addr, w.aw_origin, true);
    if (landing_ != nullptr) landing_->write_granted(now, i, w.aw_origin, w.aw_addr, w.aw_beats);
  }
  if (staging_ != nullptr) {
    const int staged = staging_->clock(now, presented_.staged_reads, presented_.staged_writes, wires_.data());
    if (staged >= 0) requesters_[static_cast<unsigned>(staged)].held = false;
  }

  // While the path sleeps, no request stands but those that are limited; see next().
  const auto state = [](bool granted, bool room) {
    return granted ? ArbiterCycle::kGranted : room ? ArbiterCycle::kDeciding : ArbiterCycle::kBlocked;
  };
  const ArbiterCycle rest = presented_.limited ? ArbiterCycle::kLimit : ArbiterCycle::kIdle;
  read_arbiter_cycles_.enter(now, read_stands ? state(reader >= 0, ar_room) : rest);
  if (read_stands) read_arbiter_cycles_.enter(now + 1, rest);
  if (write_stands) {
    write_arbiter_cycles_.enter(now, state(writer >= 0, aw_room));
    write_arbiter_cycles_.enter(now + 1, ArbiterCycle::kIdle);
  }
}

void DramPath::sync(sim::Cycle now) {
  read_arbiter_cycles_.sync(now);
  write_arbiter_cycles_.sync(now);
  if (staging_ != nullptr) staging_->sync(now);
  if (far_ == nullptr) bus_.sync(now);
}

template <bool kTwoClocks>
void DramPath::move_write_data(sim::Cycle now) {
  if (!mux_open_) {
    if (!order_.readable(now)) return;
    mux_ = order_.head();
    order_.pop(now);
    mux_open_ = true;
    return;
  }
  DramWires& wires = *requesters_[mux_.id].wires;
  if (wires.w_data == nullptr || full<kTwoClocks>(bus_.w, now)) return;
  wires.w_taken = true;
  ++words_written_;
  if (packing_.lanes == 0) packing_.data = {};
  std::memcpy(&packing_.data.words[4 * mux_.lane], wires.w_data, arch::kWordBytes);
  packing_.lanes |= 1u << mux_.lane;
  packing_.last = --mux_.beats == 0;
  if (++mux_.lane == lanes_ || packing_.last) {
    push<kTwoClocks>(bus_.w, now, packing_);
    if constexpr (kTwoClocks) ++beats_pushed_;
    packing_.lanes = 0;
    mux_.lane = 0;
  }
  mux_open_ = !packing_.last;
}

template <bool kTwoClocks>
void DramPath::return_read_data(sim::Cycle now, sim::Fifo<ReadWord>& fifo) {
  if (!fifo.readable(now)) return;
  const ReadWord& word = fifo.head();
  Requester& r = requesters_[word.id];
  DramWires& wires = *r.wires;
  if (!wires.r_ready) return;  // and everybody behind waits
  ReadTrack& track = r.tracks[r.track_head];
  std::memcpy(wires.r_data.data(), &word.words[4 * track.lane], arch::kWordBytes);
  wires.r_valid = true;
  wires.r_last = --track.beats == 0;
  ++words_read_;
  if (++track.lane == lanes_ || wires.r_last) {
    pop<kTwoClocks>(fifo, now);
    if (kTwoClocks && watched_ != nullptr) watched_->r_popped |= 1u << (&fifo - bus_.r.data());
    track.lane = 0;
  }
  if (wires.r_last) {
    r.track_head = (r.track_head + 1) % kMaxReadsInFlight;
    --r.in_flight;
    --reads_open_;
  }
}

// The requesters' side. The bus is seen as it was before the cycle: what crosses in it comes after, or on
// another clock.
template <bool kTwoClocks>
inline void DramPath::front(sim::Cycle now) {
  grant<kTwoClocks>(now);
  move_write_data<kTwoClocks>(now);
  for (auto& fifo : bus_.r) return_read_data<kTwoClocks>(now, fifo);
  if (pulse_) {
    requesters_[pulse_id_].wires->b = true;
    --requesters_[pulse_id_].writes_in_flight;
    if (landing_ != nullptr) landing_->write_landed(pulse_id_);
  }
  pulse_ = bus_.b.readable(now);
  if (pulse_) {
    pulse_id_ = static_cast<std::uint8_t>(bus_.b.head());
    pop<kTwoClocks>(bus_.b, now);
  }
}

BorderCycle DramPath::border(sim::Cycle now) const {
  BorderCycle seen;
  seen.at = now;
  seen.ar_full = border_.full(bus_.ar, now);
  seen.aw_full = border_.full(bus_.aw, now);
  seen.w_full = border_.full(bus_.w, now);
  for (std::size_t f = 0; f < bus_.r.size(); ++f)
    if (bus_.r[f].readable(now)) seen.r[f] = bus_.r[f].head();
  if (bus_.b.readable(now)) seen.b = static_cast<std::uint8_t>(bus_.b.head());
  return seen;
}

bool DramPath::clock(sim::Cycle now, MemoryProbe* probe) {
  if (far_ != nullptr) {
    if (watched_ != nullptr) *watched_ = border(now);
    front<true>(now);
    far_->tell({reads_open_ != 0, writes_granted_, beats_pushed_}, border_.after(now));
    return false;
  }
  const DramBus::Full full = bus_.full();
  front<false>(now);
  const bool handshake = bus_.clock(now, probe, full);
  bus_.account_next(now, reads_open_ != 0, write_.push_valid);
  return handshake;
}

template <bool kTwoClocks>
[[gnu::always_inline]] inline sim::Cycle DramPath::next_event(sim::Cycle now) const {
  const sim::Cycle soon = now + 1;
  if ((read_.requests | write_.requests) != 0 || read_.push_valid || write_.push_valid || pulse_) return soon;
  for (unsigned i = 0; i < attached_; ++i) {
    const Requester& r = requesters_[i];
    if (r.wires == nullptr || !(r.wires->ar_valid || r.wires->aw_valid)) continue;
    if (!r.held) return soon;
    if (staging_ !=
        nullptr) {  // what it waits for otherwise is an event after which this is worked out again
      if (staging_->claims(r.held_write ? r.wires->aw_addr : r.wires->ar_addr)) {
        if (staging_->idle() && !at_dram(r)) return soon;
        continue;
      }
      if (staging_->runs(i, r.held_write)) continue;
    }
    if (r.held_write || r.in_flight < config_.reads_in_flight) return soon;
  }
  sim::Cycle next = sim::kNever;
  if constexpr (!kTwoClocks) {
    next = bus_.next(now);
    if (next == soon) return soon;
  }
  next = std::min(next, bus_.b.readable_from());
  if (staging_ != nullptr) next = std::min(next, staging_->next(now, wires_[staging_->owner()]));
  if (mux_open_) {
    if (requesters_[mux_.id].wires->w_data != nullptr) {
      if constexpr (kTwoClocks)
        next = std::min(next, border_.room_from(bus_.w, soon));
      else if (!bus_.w.full())
        return soon;
    }
  } else {
    next = std::min(next, order_.readable_from());
  }
  for (const auto& fifo : bus_.r)
    if (!fifo.empty() && requesters_[fifo.head().id].wires->r_ready)
      next = std::min(next, fifo.readable_from());
  return std::max(next, soon);
}

sim::Cycle DramPath::next(sim::Cycle now) const {
  return far_ == nullptr ? next_event<false>(now) : next_event<true>(now);
}

bool DramPath::idle() const {
  for (unsigned i = 0; i < attached_; ++i) {
    const Requester& r = requesters_[i];
    if (r.in_flight != 0 || (r.wires != nullptr && (r.wires->ar_valid || r.wires->aw_valid))) return false;
  }
  if (staging_ != nullptr && !staging_->idle()) return false;
  return !read_.push_valid && !write_.push_valid && !mux_open_ && order_.empty() && bus_.aw.empty() &&
         bus_.w.empty() && bus_.b.empty() && !pulse_ && bus_.writes_open() == 0;
}

void DramPath::visit(sim::Archive& archive) {
  const auto arbiter = [&](std::string_view name, Arbiter& a, auto& cycles) {
    archive.scope(name, [&] {
      archive.state("requests", a.requests, kMaxRequesters);
      archive.state("blocked", a.blocked, kMaxRequesters);
      archive.state("pointer", a.pointer, 3);
      archive.state("push_valid", a.push_valid, 1);
      archive.state("push_addr", a.push.addr, arch::address::kBits);
      archive.state("push_beats", a.push.beats, 9);
      cycles.visit(archive);
    });
  };
  arbiter("read_arbiter", read_, read_arbiter_cycles_);
  arbiter("write_arbiter", write_, write_arbiter_cycles_);
  for (unsigned i = 0; i < attached_; ++i) {
    Requester& r = requesters_[i];
    if (r.wires == nullptr) continue;
    archive.scope(fmt::format("requester{}", i), [&] {
      archive.state("held", r.held, 1);
      archive.state("held_write", r.held_write, 1);
      archive.state("in_flight", r.in_flight, 7);
      if (staging_ != nullptr) archive.state("writes_in_flight", r.writes_in_flight);
      archive.state("beats_left", r.tracks[0].beats, 9);
    });
  }
  if (staging_ != nullptr) archive.scope("staging", [&] { staging_->visit(archive); });
  bus_.visit_fifos(archive);
  order_.visit(archive, "order_fifo");
  archive.state("mux_open", mux_open_, 1);
  archive.state("mux_requester", mux_.id, 3);
  archive.state("mux_beats", mux_.beats, 9);
  archive.state("reads_open", reads_open_, 16);
  archive.state("pulse", pulse_, 1);
  archive.state("pulse_requester", pulse_id_, 3);
  if (far_ == nullptr) bus_.visit(archive);
  archive.counter("words_read", words_read_, "words", "32-byte words handed to requesters");
  archive.counter("words_written", words_written_, "words", "32-byte words taken from requesters");
  archive.counter("read_wait", read_wait_, "cycles",
                  "cycles between a read being presented to the DRAM port and its grant, all reads added up");
  archive.counter(
      "write_wait", write_wait_, "cycles",
      "cycles between a write being presented to the DRAM port and its grant, all writes added up");
  if (archive.is_checkpoint()) keep(archive);
}

// What visit() leaves out because it has no name outside.
void DramPath::keep(sim::Archive& a) {
  for (Arbiter* arbiter : {&read_, &write_}) a.kept_memory("push", &arbiter->push, 1);
  for (Requester& r : requesters_) {
    a.kept("held", r.held);
    a.kept("held_write", r.held_write);
    a.kept("since", r.since);
    a.kept("in_flight", r.in_flight);
    a.kept("writes_in_flight", r.writes_in_flight);
    a.kept("track_head", r.track_head);
    a.kept_memory("tracks", r.tracks.data(), r.tracks.size());
  }
  a.kept_memory("push_order", &push_order_, 1);
  a.kept_memory("mux", &mux_, 1);
  a.kept_memory("packing", &packing_, 1);
  a.kept("writes_granted", writes_granted_);
  a.kept("beats_pushed", beats_pushed_);
  if (far_ == nullptr) bus_.keep(a);
}

// One part of the agent: "dram".
void DramPath::waits(sim::Cycle now, std::vector<sim::Wait>& waits) const {
  const auto add = [&waits](std::string_view kind, std::string what, const char* on_part = "") {
    waits.push_back({.what = std::move(what), .part = "dram", .on_part = on_part, .kind = kind});
  };
  for (unsigned i = 0; i < attached_; ++i) {
    const Requester& r = requesters_[i];
    if (r.wires == nullptr) continue;
    if (r.in_flight != 0)
      add("dram-data", fmt::format("requester {}: {} reads in flight, {} words of the first still to come", i,
                                   r.in_flight, r.tracks[r.track_head].beats));
    if (r.wires->ar_valid)
      add("grant", fmt::format("requester {}: read at {:#x} not granted", i, r.wires->ar_addr));
    if (r.wires->aw_valid)
      add("grant", fmt::format("requester {}: write at {:#x} not granted", i, r.wires->aw_addr));
  }
  if (staging_ != nullptr) {
    const std::size_t before = waits.size();
    staging_->waits(waits);
    for (std::size_t k = before; k < waits.size(); ++k) waits[k].part = "dram";
  }
  for (const auto& fifo : bus_.r)
    if (!fifo.empty() && !requesters_[fifo.head().id].wires->r_ready)
      add("data-not-taken", fmt::format("read data of requester {} is not taken{}", fifo.head().id,
                                        bus_.r.size() == 1 ? " and blocks all others" : ""));
  const DramDevice& device = bus_.device();
  if (!bus_.ar.empty() && !device.out().ar_ready) add("dram-busy", "DRAM takes no read address");
  if (!bus_.aw.empty() && !device.out().aw_ready) add("dram-busy", "DRAM takes no write address");
  for (sim::Wait& wait : device.waits(border_.containing(now))) {
    wait.part = "dram";
    waits.push_back(std::move(wait));
  }
}

}  // namespace ktpu::memory
