// SPDX-License-Identifier: Apache-2.0
// The converged path to one DRAM master (memory.md sections 7.1 and 7.3): an adapter per requester, converged
// staging if it is built (7.2), separate read and write arbiters, the write-data mux, beat packing and the
// requesters' end of the five asynchronous FIFOs of the DRAM bus.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "arch/flit.h"
#include "tlm/memory/border_cycle.h"
#include "tlm/memory/clock_border.h"
#include "tlm/memory/converged_store.h"
#include "tlm/memory/dram_bus.h"
#include "tlm/memory/dram_device.h"
#include "tlm/memory/landing.h"
#include "tlm/memory/memory_cycles.h"
#include "tlm/memory/memory_probe.h"
#include "tlm/memory/misuse.h"
#include "tlm/sim/fifo.h"

namespace ktpu::memory {

class DramBusUnit;

inline constexpr unsigned kMaxRequesters = 8;      // 4 ports, host window, mover, inbound remote
inline constexpr unsigned kMaxReadsInFlight = 64;  // RD_OUT

// The wires between one requester and the path. Internal beats have 32 bytes.
struct DramWires {
  // Registers of the requester.
  bool ar_valid = false;
  bool aw_valid = false;
  bool r_ready = true;
  std::uint32_t ar_beats = 0;  // 1..256
  std::uint32_t aw_beats = 0;
  std::uint64_t ar_addr = 0;  // 40 bits
  std::uint64_t aw_addr = 0;
  arch::Coord ar_origin;  // for messages
  arch::Coord aw_origin;
  const std::uint64_t* w_data = nullptr;  // the write beat offered; null: none

  // What the path did in the present cycle. The requester clears them in its clock(), which runs after the
  // path's.
  bool ar_granted = false;
  bool aw_granted = false;
  bool w_taken = false;
  bool r_valid = false;  // a beat was handed over (r_ready was high)
  bool r_last = false;
  bool b = false;
  std::array<std::uint64_t, 4> r_data{};

  bool events() const { return ar_granted || aw_granted || w_taken || r_valid || b; }
  void clear_events() { ar_granted = aw_granted = w_taken = r_valid = r_last = b = false; }
  // For checkpoints: all but w_data, which the requester points at its data again.
  void visit(sim::Archive& archive);
};

class DramPath {
 public:
  struct Config {
    unsigned requesters = 3;
    unsigned reads_in_flight = 1;  // RD_OUT, per requester
    unsigned mesh_id = 0;
    bool staging = false;  // converged staging memory
  };
  DramPath(const Config& config, DramDevice& device, MisuseLog& misuse);

  void attach(unsigned requester, DramWires& wires);
  void set_landing(LandingTracker* landing) { landing_ = landing; }
  void reset(sim::Cycle start);
  // Elaboration: the DRAM has a clock of its own. `far` runs it then, and clock() the path alone.
  void set_far(DramBusUnit& far, const sim::ClockRatio& to_dram);
  DramBus& bus() { return bus_; }
  // Elaboration, with a DRAM that has a clock of its own: `cycle` tells of the latest cycle that ran. What
  // the path would see in cycle `now`, which has not run.
  void watch_border(BorderCycle& cycle) { watched_ = &cycle; }
  BorderCycle border(sim::Cycle now) const;
  // Words of a FIFO of read data.
  static std::uint32_t read_depth(unsigned reads_in_flight, unsigned bus_bits);
  // One cycle of the path and the device. Requesters' registers must still be those of `now`.
  // Returns whether there was a handshake on the DRAM bus.
  bool clock(sim::Cycle now, MemoryProbe* probe);
  // The next cycle in which clock() must run, once everybody's registers are those of now + 1.
  sim::Cycle next(sim::Cycle now) const;
  bool idle() const;
  // The converged staging memory, null if there is none.
  ConvergedStore* staging() { return staging_.get(); }
  void sync(sim::Cycle now);

  void visit(sim::Archive& archive);
  void waits(sim::Cycle now, std::vector<sim::Wait>& waits) const;

 private:
  struct WriteOrder {
    std::uint32_t beats;  // internal ones
    std::uint16_t id;
    std::uint16_t lane;  // of the first beat
  };
  struct ReadTrack {
    std::uint32_t beats;  // internal ones still to come
    std::uint32_t lane;   // of the next one in its memory beat
  };
  struct Requester {
    DramWires* wires = nullptr;
    bool held = false;        // a choice was presented and not granted (7.1)
    bool held_write = false;  // which one
    sim::Cycle since = 0;     // it was presented
    std::uint32_t in_flight = 0;
    std::uint32_t writes_in_flight = 0;  // granted to DRAM, response not yet given
    std::uint32_t track_head = 0;
    std::array<ReadTrack, kMaxReadsInFlight> tracks{};
  };
  struct Arbiter {
    std::uint32_t requests = 0;  // vector of the cycle before
    std::uint32_t blocked = 0;   // winner of the cycle before
    std::uint32_t pointer = 0;
    bool push_valid = false;  // granted address on its way into the FIFO
    AddressWord push{};
  };

  void keep(sim::Archive& archive);
  template <bool kTwoClocks>
  void front(sim::Cycle now);
  template <bool kTwoClocks>
  void grant(sim::Cycle now);
  void present(sim::Cycle now);
  bool at_dram(const Requester& r) const { return (r.held_write ? r.writes_in_flight : r.in_flight) != 0; }
  template <bool kTwoClocks>
  void move_write_data(sim::Cycle now);
  template <bool kTwoClocks>
  void return_read_data(sim::Cycle now, sim::Fifo<ReadWord>& fifo);
  // With one clock of the bus as well.
  template <bool kTwoClocks>
  sim::Cycle next_event(sim::Cycle now) const;

  // The FIFOs of the bus, with either number of clocks.
  template <bool kTwoClocks, typename T>
  bool full(const sim::Fifo<T>& fifo, sim::Cycle now) const {
    if constexpr (kTwoClocks)
      return border_.full(fifo, now);
    else
      return fifo.full();
  }
  template <bool kTwoClocks, typename T>
  void push(sim::Fifo<T>& fifo, sim::Cycle now, const T& word) {
    if constexpr (kTwoClocks) {
      border_.push(fifo, now, word);
      if (watched_ != nullptr) note_push(fifo, word);
    } else {
      fifo.push(now, word);
    }
  }
  template <bool kTwoClocks, typename T>
  void pop(sim::Fifo<T>& fifo, sim::Cycle now) {
    if constexpr (kTwoClocks)
      border_.pop(fifo, now);
    else
      fifo.pop(now);
  }
  void note_push(const sim::Fifo<AddressWord>& fifo, const AddressWord& word) {
    (&fifo == &bus_.ar ? watched_->ar : watched_->aw) = word;
  }
  void note_push(const sim::Fifo<DramWriteBeat>&, const DramWriteBeat& word) { watched_->w = word; }
  int pick(const Arbiter& arbiter) const;
  AddressWord narrow(std::uint64_t addr, std::uint32_t beats, unsigned id, arch::Coord origin) const;
  void check_address(sim::Cycle now, std::uint64_t addr, arch::Coord origin, bool write);

  Config config_;
  DramBus bus_;
  DramBusUnit* far_ = nullptr;  // null: one clock
  ClockBorder border_{{}};
  BorderCycle* watched_ = nullptr;
  MisuseLog& misuse_;
  LandingTracker* landing_ = nullptr;
  unsigned lanes_;  // R = bus bits / 256
  std::array<Requester, kMaxRequesters> requesters_;
  unsigned attached_ = 0;  // requesters_[attached_..] have no wires

  // Presentations of the present cycle, a bit each: those the arbiters of the DRAM port see from the next
  // cycle on, and those that the staging memory may claim.
  struct Presented {
    std::uint32_t reads = 0, writes = 0, staged_reads = 0, staged_writes = 0;
    bool limited = false;  // a read is held back by reads_in_flight
  };
  Presented presented_;  // valid within clock()
  std::unique_ptr<ConvergedStore> staging_;
  std::array<DramWires*, kMaxRequesters> wires_{};  // as in requesters_, for the staging memory

  Arbiter read_, write_;
  WriteOrder push_order_{};  // goes with write_.push
  sim::Fifo<WriteOrder> order_;
  bool mux_open_ = false;
  WriteOrder mux_{};
  DramWriteBeat packing_{};
  bool pulse_ = false;  // write response register
  std::uint8_t pulse_id_ = 0;
  std::uint32_t reads_open_ = 0;  // reads granted and not answered yet: the sum of in_flight
  std::uint32_t writes_granted_ = 0, beats_pushed_ = 0;  // with two clocks, since reset, modulo 2^32

  sim::Attribution<ArbiterCycle, kArbiterCycles> read_arbiter_cycles_, write_arbiter_cycles_;
  std::uint64_t words_read_ = 0, words_written_ = 0, read_wait_ = 0, write_wait_ = 0;
};

}  // namespace ktpu::memory
