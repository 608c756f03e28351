// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/dram_path.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "arch/encoding/address_map.h"
#include "arch/encoding/latencies.h"
#include "arch/error.h"

namespace ktpu::memory {

namespace latency = arch::latency;
using sim::FifoShape;

namespace {
// The write-order FIFO is never what limits a write: one place per write address that the path can hold.
constexpr std::uint32_t kOrderDepth = 32;
}  // namespace

DramPath::DramPath(const Config& config, DramDevice& device, MisuseLog& misuse)
    : config_(config),
      device_(device),
      misuse_(misuse),
      lanes_(device.bus_bits() / arch::kPayloadBits),
      ar_(FifoShape::async(latency::kDramFifoAr.value)),
      aw_(FifoShape::async(latency::kDramFifoAw.value)),
      w_(FifoShape::async(latency::kDramFifoW.value)),
      b_(FifoShape::async(latency::kDramFifoB.value)),
      r_(make_read_fifos(config, device.bus_bits())),
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

std::vector<sim::Fifo<DramPath::ReadWord>> DramPath::make_read_fifos(const Config& config,
                                                                     unsigned bus_bits) {
  std::vector<sim::Fifo<ReadWord>> fifos;
  std::uint32_t depth = latency::kDramFifoR.value;
  if (config.reads_in_flight == 1) {
    fifos.emplace_back(FifoShape::async(depth));
  } else {
    const std::uint32_t entry_beats = arch::address::kEntryBytesFp16 * 8 / bus_bits;
    depth = std::max(depth, std::bit_ceil(config.reads_in_flight * entry_beats));
    for (unsigned i = 0; i < config.requesters; ++i) fifos.emplace_back(FifoShape::async(depth));
  }
  return fifos;
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
  ar_.reset();
  aw_.reset();
  w_.reset();
  b_.reset();
  for (auto& fifo : r_) fifo.reset();
  order_.reset();
  if (staging_ != nullptr) staging_->reset();
  mux_open_ = pulse_ = false;
  reads_open_ = writes_open_ = 0;
  packing_ = {};
  device_.reset(start);
  device_due_ = start;
  read_arbiter_cycles_.reset(start);
  write_arbiter_cycles_.reset(start);
  read_bus_cycles_.reset(start);
  write_bus_cycles_.reset(start);
}

// Lowest requester at or after the pointer; the winner of the cycle before is out (section 7.3).
int DramPath::pick(const Arbiter& arbiter) const {
  const std::uint32_t candidates = arbiter.requests & ~arbiter.blocked;
  if (candidates == 0) return -1;
  const std::uint32_t from_pointer = candidates & (~0u << arbiter.pointer);
  return std::countr_zero(from_pointer != 0 ? from_pointer : candidates);
}

DramPath::AddressWord DramPath::narrow(std::uint64_t addr, std::uint32_t beats, unsigned id,
                                       arch::Coord origin) const {
  const std::uint32_t phase = (addr >> 5) & (lanes_ - 1);
  return {addr & ~std::uint64_t{device_.bus_bytes() - 1}, (beats + phase + lanes_ - 1) / lanes_,
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
void DramPath::grant(sim::Cycle now) {
  const bool ar_room = !read_.push_valid || !ar_.full();
  const bool aw_room = !write_.push_valid || (!aw_.full() && !order_.full());
  if (read_.push_valid && ar_room) {
    ar_.push(now, read_.push);
    read_.push_valid = false;
  }
  if (write_.push_valid && aw_room) {
    aw_.push(now, write_.push);
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
    r.held = false;
    r.wires->aw_granted = true;
    write_wait_ += now - r.since;
    check_address(now, w.aw_addr, w.aw_origin, true);
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

// The data directions of the bus, once all registers are those of now + 1.
void DramPath::account(sim::Cycle now, bool read_beat, bool write_beat) {
  const DramOutputs& out = device_.out();
  if (read_beat) read_bus_cycles_.enter(now, BusCycle::kMoving);
  if (write_beat) write_bus_cycles_.enter(now, BusCycle::kMoving);
  BusCycle read = reads_open_ != 0 ? BusCycle::kWaiting : BusCycle::kIdle;
  if (out.r_valid && r_[read_fifo(out.r_id)].full()) read = BusCycle::kBlocked;
  BusCycle write = BusCycle::kIdle;
  if (!w_.empty() && !out.w_ready)
    write = BusCycle::kBlocked;
  else if (writes_open_ != 0 || !aw_.empty() || write_.push_valid)
    write = BusCycle::kWaiting;
  read_bus_cycles_.enter(now + 1, read);
  write_bus_cycles_.enter(now + 1, write);
}

void DramPath::sync(sim::Cycle now) {
  read_arbiter_cycles_.sync(now);
  write_arbiter_cycles_.sync(now);
  read_bus_cycles_.sync(now);
  write_bus_cycles_.sync(now);
}

void DramPath::move_write_data(sim::Cycle now, bool w_full) {
  if (!mux_open_) {
    if (!order_.readable(now)) return;
    mux_ = order_.head();
    order_.pop(now);
    mux_open_ = true;
    return;
  }
  DramWires& wires = *requesters_[mux_.id].wires;
  if (wires.w_data == nullptr || w_full) return;
  wires.w_taken = true;
  ++words_written_;
  if (packing_.lanes == 0) packing_.data = {};
  std::memcpy(&packing_.data.words[4 * mux_.lane], wires.w_data, arch::kWordBytes);
  packing_.lanes |= 1u << mux_.lane;
  packing_.last = --mux_.beats == 0;
  if (++mux_.lane == lanes_ || packing_.last) {
    w_.push(now, packing_);
    packing_.lanes = 0;
    mux_.lane = 0;
  }
  mux_open_ = !packing_.last;
}

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
    fifo.pop(now);
    track.lane = 0;
  }
  if (wires.r_last) {
    r.track_head = (r.track_head + 1) % kMaxReadsInFlight;
    --r.in_flight;
    --reads_open_;
  }
}

bool DramPath::clock(sim::Cycle now, MemoryProbe* probe) {
  const DramOutputs& out = device_.out();
  const bool w_full = w_.full(), r_full = out.r_valid && r_[read_fifo(out.r_id)].full(), b_full = b_.full();

  // What crosses the DRAM bus in this cycle.
  DramInputs in;
  DramAddress ar, aw;
  DramWriteBeat beat;
  const auto unpack = [](const AddressWord& w) {
    return DramAddress{w.addr, w.beats, static_cast<std::uint8_t>(w.id), w.origin};
  };
  const bool take_ar = out.ar_ready && ar_.readable(now);
  const bool take_aw = out.aw_ready && aw_.readable(now);
  if (take_ar) {
    ar = unpack(ar_.head());
    in.ar = &ar;
    ++read_bursts_;
    if (probe) probe->on_read_address(now, ar);
  }
  if (take_aw) {
    aw = unpack(aw_.head());
    in.aw = &aw;
    ++write_bursts_;
    ++writes_open_;
    if (probe) probe->on_write_address(now, aw);
  }
  if (out.w_ready && w_.readable(now)) {
    beat = w_.head();
    in.w = &beat;
    ++write_beats_;
    if (probe) probe->on_write_beat(now, beat);
  }
  in.r_taken = out.r_valid && !r_full;
  in.b_taken = out.b_valid && !b_full;

  // From the requesters' side; `in_flight` of the arbiters is the registered one, so grants come first.
  grant(now);
  move_write_data(now, w_full);
  for (auto& fifo : r_) return_read_data(now, fifo);
  if (pulse_) {
    requesters_[pulse_id_].wires->b = true;
    --requesters_[pulse_id_].writes_in_flight;
  }
  pulse_ = b_.readable(now);
  if (pulse_) {
    pulse_id_ = static_cast<std::uint8_t>(b_.head());
    b_.pop(now);
  }

  if (take_ar) ar_.pop(now);
  if (take_aw) aw_.pop(now);
  if (in.w != nullptr) w_.pop(now);
  if (in.r_taken) {
    ReadWord word;
    word.words = out.r_data.words;
    word.id = out.r_id;
    r_[read_fifo(out.r_id)].push(now, word);
    ++read_beats_;
    if (probe) probe->on_read_beat(now, out.r_id, out.r_last);
  }
  if (in.b_taken) {
    b_.push(now, out.b_id);
    ++responses_;
    --writes_open_;
    if (probe) probe->on_write_response(now, out.b_id);
  }
  const bool handshake = take_ar || take_aw || in.w != nullptr || in.r_taken || in.b_taken;
  if (handshake || device_due_ <= now) device_due_ = device_.clock(now, in);
  account(now, in.r_taken, in.w != nullptr);
  return handshake;
}

sim::Cycle DramPath::next(sim::Cycle now) const {
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
  const DramOutputs& out = device_.out();
  if ((out.r_valid && !r_[read_fifo(out.r_id)].full()) || (out.b_valid && !b_.full())) return soon;
  sim::Cycle next = device_due_;
  if (staging_ != nullptr) next = std::min(next, staging_->next(now, wires_[staging_->owner()]));
  if (mux_open_) {
    if (requesters_[mux_.id].wires->w_data != nullptr && !w_.full()) return soon;
  } else {
    next = std::min(next, order_.readable_from());
  }
  for (const auto& fifo : r_)
    if (!fifo.empty() && requesters_[fifo.head().id].wires->r_ready)
      next = std::min(next, fifo.readable_from());
  next = std::min(next, b_.readable_from());
  if (out.ar_ready) next = std::min(next, ar_.readable_from());
  if (out.aw_ready) next = std::min(next, aw_.readable_from());
  if (out.w_ready) next = std::min(next, w_.readable_from());
  return std::max(next, soon);
}

bool DramPath::idle() const {
  for (unsigned i = 0; i < attached_; ++i) {
    const Requester& r = requesters_[i];
    if (r.in_flight != 0 || (r.wires != nullptr && (r.wires->ar_valid || r.wires->aw_valid))) return false;
  }
  if (staging_ != nullptr && !staging_->idle()) return false;
  return !read_.push_valid && !write_.push_valid && !mux_open_ && order_.empty() && aw_.empty() &&
         w_.empty() && b_.empty() && !pulse_ && writes_open_ == 0;
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
  ar_.visit(archive, "ar_fifo");
  aw_.visit(archive, "aw_fifo");
  w_.visit(archive, "w_fifo");
  b_.visit(archive, "b_fifo");
  for (std::size_t i = 0; i < r_.size(); ++i)
    r_[i].visit(archive, r_.size() == 1 ? std::string("r_fifo") : fmt::format("r_fifo{}", i));
  order_.visit(archive, "order_fifo");
  archive.state("mux_open", mux_open_, 1);
  archive.state("mux_requester", mux_.id, 3);
  archive.state("mux_beats", mux_.beats, 9);
  archive.scope("read_bus", [&] { read_bus_cycles_.visit(archive); });
  archive.scope("write_bus", [&] { write_bus_cycles_.visit(archive); });
  archive.state("reads_open", reads_open_, 16);
  archive.state("writes_open", writes_open_, 8);
  archive.state("pulse", pulse_, 1);
  archive.state("pulse_requester", pulse_id_, 3);
  archive.counter("read_bursts", read_bursts_, "bursts", "read addresses accepted by the DRAM");
  archive.counter("write_bursts", write_bursts_, "bursts", "write addresses accepted by the DRAM");
  archive.counter("read_beats", read_beats_, "beats", "data beats read on the DRAM bus");
  archive.counter("write_beats", write_beats_, "beats", "data beats written on the DRAM bus");
  archive.counter("responses", responses_, "bursts", "write responses of the DRAM");
  archive.counter("words_read", words_read_, "words", "32-byte words handed to requesters");
  archive.counter("words_written", words_written_, "words", "32-byte words taken from requesters");
  archive.counter("read_wait", read_wait_, "cycles",
                  "cycles between a read being presented to the DRAM port and its grant, all reads added up");
  archive.counter(
      "write_wait", write_wait_, "cycles",
      "cycles between a write being presented to the DRAM port and its grant, all writes added up");
}

void DramPath::waits(sim::Cycle now, std::vector<sim::Wait>& waits) const {
  for (unsigned i = 0; i < attached_; ++i) {
    const Requester& r = requesters_[i];
    if (r.wires == nullptr) continue;
    if (r.in_flight != 0)
      waits.push_back({fmt::format("requester {}: {} reads in flight, {} words of the first still to come", i,
                                   r.in_flight, r.tracks[r.track_head].beats)});
    if (r.wires->ar_valid)
      waits.push_back({fmt::format("requester {}: read at {:#x} not granted", i, r.wires->ar_addr)});
    if (r.wires->aw_valid)
      waits.push_back({fmt::format("requester {}: write at {:#x} not granted", i, r.wires->aw_addr)});
  }
  if (staging_ != nullptr) staging_->waits(waits);
  for (const auto& fifo : r_)
    if (!fifo.empty() && !requesters_[fifo.head().id].wires->r_ready)
      waits.push_back({fmt::format("read data of requester {} is not taken{}", fifo.head().id,
                                   r_.size() == 1 ? " and blocks all others" : "")});
  if (!ar_.empty() && !device_.out().ar_ready) waits.push_back({"DRAM takes no read address"});
  if (!aw_.empty() && !device_.out().aw_ready) waits.push_back({"DRAM takes no write address"});
  for (sim::Wait& wait : device_.waits(now)) waits.push_back(std::move(wait));
}

}  // namespace ktpu::memory
