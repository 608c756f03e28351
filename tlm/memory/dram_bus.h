// SPDX-License-Identifier: Apache-2.0
// The DRAM's end of the path (memory.md section 7.3): the device, the five asynchronous FIFOs of the DRAM bus
// and what crosses it. DramPath has one of these and, with one clock, runs it in its own cycles. A DRAM with
// a clock of its own is run by DramBusUnit instead, and the FIFOs go between two clocks.
#pragma once

#include <cstdint>
#include <vector>

#include "tlm/memory/clock_border.h"
#include "tlm/memory/dram_device.h"
#include "tlm/memory/memory_cycles.h"
#include "tlm/memory/memory_probe.h"
#include "tlm/sim/fifo.h"

namespace ktpu::memory {

struct AddressWord {
  std::uint64_t addr;
  std::uint32_t beats;
  std::uint16_t id;
  arch::Coord origin;
};
struct ReadWord {
  std::array<std::uint64_t, kMaxBusBits / 64> words;
  std::uint64_t id;
};

class DramBus {
 public:
  // `read_fifos` of `read_depth` words each: one for all requesters, or one for each (section 7.3).
  DramBus(DramDevice& device, unsigned read_fifos, std::uint32_t read_depth);

  sim::Fifo<AddressWord> ar, aw;
  sim::Fifo<DramWriteBeat> w;
  sim::Fifo<std::uint64_t> b;
  // One for all requesters (section 7.3: whoever stalls blocks the others). With more than one read in flight
  // each requester has its own, deep enough for what it may have asked for: the order is per requester only.
  std::vector<sim::Fifo<ReadWord>> r;
  sim::Fifo<ReadWord>& read_fifo(unsigned id) { return r[r.size() == 1 ? 0 : id]; }
  const sim::Fifo<ReadWord>& read_fifo(unsigned id) const { return r[r.size() == 1 ? 0 : id]; }

  DramDevice& device() { return device_; }
  const DramDevice& device() const { return device_; }
  // Write addresses the DRAM took and did not answer yet.
  std::uint32_t writes_open() const { return writes_open_; }

  void reset_fifos();
  void reset(sim::Cycle start);

  // What of the requesters' the bus is concerned with, for its account of cycles only.
  struct Ahead {
    bool reads = false;   // a read is granted and has data to come
    bool writes = false;  // a write is granted and not answered
    bool data = false;    // a write beat is in its FIFO
  };
  // With one clock. The flags are those of `now` before anybody pushed or popped; returns whether there was a
  // handshake.
  struct Full {
    bool r, b;
  };
  Full full() const {
    const DramOutputs& out = device_.out();
    return {out.r_valid && read_fifo(out.r_id).full(), b.full()};
  }
  [[gnu::always_inline]] bool clock(sim::Cycle now, MemoryProbe* probe, const Full& full) {
    return move<false>(now, now, probe, full);
  }
  void account_next(sim::Cycle now, bool reads_open, bool write_granted) {
    account(now + 1, {reads_open, writes_open_ != 0 || !aw.empty() || write_granted, !w.empty()}, full().r);
  }
  // The next cycle in which something happens here, given that all FIFOs stay as they are.
  sim::Cycle next(sim::Cycle now) const;

  void sync(sim::Cycle now) {
    read_cycles_.sync(now);
    write_cycles_.sync(now);
  }
  // Counters and accounts; FIFOs and device have visits of their own.
  void visit(sim::Archive& archive);
  void visit_fifos(sim::Archive& archive);
  void keep(sim::Archive& archive) { archive.kept("device_due", device_due_); }

 private:
  friend class DramBusUnit;
  template <bool kTwoClocks>
  [[gnu::always_inline]] inline bool move(sim::Cycle now, sim::Cycle told, MemoryProbe* probe,
                                          const Full& full);
  void account(sim::Cycle at, const Ahead& ahead, bool r_full);
  sim::Cycle next_from_fifos(sim::Cycle now) const;

  DramDevice& device_;
  const ClockBorder* border_ = nullptr;  // with two clocks: from here to the path
  std::uint32_t writes_open_ = 0;
  std::uint32_t beats_taken_ = 0, writes_answered_ = 0;  // with two clocks, since reset, modulo 2^32
  sim::Cycle device_due_ = 0;
  sim::Attribution<BusCycle, kReadBusCycles> read_cycles_;
  sim::Attribution<BusCycle, kWriteBusCycles> write_cycles_;
  std::uint64_t read_bursts_ = 0, write_bursts_ = 0, read_beats_ = 0, write_beats_ = 0, responses_ = 0;
};

// What crosses the DRAM bus in cycle `now`; `told`: the cycle that a probe is told.
template <bool kTwoClocks>
bool DramBus::move(sim::Cycle now, sim::Cycle told, MemoryProbe* probe, const Full& full) {
  const auto pop = [&](auto& fifo) {
    if constexpr (kTwoClocks)
      border_->pop(fifo, now);
    else
      fifo.pop(now);
  };
  const auto push = [&](auto& fifo, const auto& word) {
    if constexpr (kTwoClocks)
      border_->push(fifo, now, word);
    else
      fifo.push(now, word);
  };
  const auto unpack = [](const AddressWord& word) {
    return DramAddress{word.addr, word.beats, static_cast<std::uint8_t>(word.id), word.origin};
  };
  const DramOutputs& out = device_.out();
  DramInputs in;
  DramAddress read, write;
  DramWriteBeat beat;
  if (out.ar_ready && ar.readable(now)) {
    read = unpack(ar.head());
    in.ar = &read;
    pop(ar);
    ++read_bursts_;
    if (probe) probe->on_read_address(told, read);
  }
  if (out.aw_ready && aw.readable(now)) {
    write = unpack(aw.head());
    in.aw = &write;
    pop(aw);
    ++write_bursts_;
    ++writes_open_;
    if (probe) probe->on_write_address(told, write);
  }
  if (out.w_ready && w.readable(now)) {
    beat = w.head();
    in.w = &beat;
    pop(w);
    ++write_beats_;
    if constexpr (kTwoClocks) ++beats_taken_;
    if (probe) probe->on_write_beat(told, beat);
  }
  in.r_taken = out.r_valid && !full.r;
  in.b_taken = out.b_valid && !full.b;
  if (in.r_taken) {
    ReadWord word;
    word.words = out.r_data.words;
    word.id = out.r_id;
    push(read_fifo(out.r_id), word);
    ++read_beats_;
    if (probe) {
      probe->on_read_beat(told, out.r_id, out.r_last);
      probe->on_read_data(told, out.r_id, out.r_data);
    }
  }
  if (in.b_taken) {
    push(b, std::uint64_t{out.b_id});
    ++responses_;
    --writes_open_;
    if constexpr (kTwoClocks) ++writes_answered_;
    if (probe) probe->on_write_response(told, out.b_id);
  }
  const bool handshake = in.ar != nullptr || in.aw != nullptr || in.w != nullptr || in.r_taken || in.b_taken;
  if (handshake || device_due_ <= now) device_due_ = device_.clock(now, in);
  if (in.r_taken) read_cycles_.enter(now, BusCycle::kMoving);
  if (in.w != nullptr) write_cycles_.enter(now, BusCycle::kMoving);
  return handshake;
}

// The data directions of the bus from `at` on, with all registers as they are in `at`.
inline void DramBus::account(sim::Cycle at, const Ahead& ahead, bool r_full) {
  const DramOutputs& out = device_.out();
  read_cycles_.enter(at, r_full ? BusCycle::kBlocked : ahead.reads ? BusCycle::kWaiting : BusCycle::kIdle);
  write_cycles_.enter(at, ahead.data && !out.w_ready ? BusCycle::kBlocked
                          : ahead.writes             ? BusCycle::kWaiting
                                                     : BusCycle::kIdle);
}

inline sim::Cycle DramBus::next_from_fifos(sim::Cycle now) const {
  const DramOutputs& out = device_.out();
  sim::Cycle next = device_due_;
  if (out.ar_ready) next = std::min(next, ar.readable_from());
  if (out.aw_ready) next = std::min(next, aw.readable_from());
  if (out.w_ready) next = std::min(next, w.readable_from());
  return std::max(next, now + 1);
}

inline sim::Cycle DramBus::next(sim::Cycle now) const {
  const DramOutputs& out = device_.out();
  if ((out.r_valid && !read_fifo(out.r_id).full()) || (out.b_valid && !b.full())) return now + 1;
  return next_from_fifos(now);
}

}  // namespace ktpu::memory
