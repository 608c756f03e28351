// SPDX-License-Identifier: Apache-2.0
// This project's own DRAM model: banks with one open row each, several bursts outstanding, and a bound on the
// bytes moved per cycle. Never used where cycles of the reference are compared (memory.md section 15).
//
// Model. A burst goes to the bank and row of its first byte; rows of `row_bytes` are interleaved over the
// banks (bank = addr / row_bytes mod banks). It starts when the bank is free. If the open row is not its own,
// first the row is opened (row_closed - row_hit cycles) or exchanged (row_conflict - row_hit cycles). Then
// its column accesses keep the bank for as long as the data needs at full bandwidth, and the first beat is
// there row_hit cycles after the first column access. Reads start at their address. Writes are buffered: data
// is taken as fast as the bandwidth allows, the bank works once the last beat is there, the response follows
// write_response cycles after the last beat or when the bank is done, whichever is later. Read data, write
// data and responses come in the order of their addresses. Reading and writing share the bandwidth and take
// turns when both want it.
#pragma once

#include <cstdint>
#include <vector>

#include "tlm/memory/dram_device.h"
#include "tlm/memory/sparse_memory.h"

namespace ktpu::memory {

// Latencies in cycles.
struct BankedDramParams {
  unsigned banks = 16;              // power of two
  unsigned row_bytes = 2048;        // power of two, at least one beat
  unsigned row_hit = 20;            // address accepted to first beat, row open; >= 1
  unsigned row_closed = 34;         // no row open; >= row_hit
  unsigned row_conflict = 48;       // another row open; >= row_hit
  unsigned write_response = 10;     // last beat accepted to response; >= 1
  unsigned reads_outstanding = 8;   // bursts accepted and not fully returned, >= 1
  unsigned writes_outstanding = 8;  // bursts accepted and not answered, >= 1
  double bytes_per_cycle = 64;      // both directions together, > 0
};

class BankedDram final : public DramDevice {
 public:
  // `memory` must outlive the device. Throws UserError on numbers out of range.
  BankedDram(SparseMemory& memory, const BankedDramParams& params, unsigned bus_bits);

  void reset(sim::Cycle start) override;
  sim::Cycle clock(sim::Cycle now, const DramInputs& in) override;
  void visit(sim::Archive& archive) override;
  std::vector<sim::Wait> waits(sim::Cycle now) const override;

 private:
  struct Bank {
    std::uint64_t row = 0;
    sim::Cycle free = 0;  // first cycle in which it can start something
    bool open = false;
  };
  struct Burst {
    DramAddress address;
    std::uint32_t beat = 0;
    sim::Cycle due = 0;  // reads: first beat; writes: response, once all data is there
  };
  // Fixed-size queue of bursts in address order.
  struct Queue {
    std::vector<Burst> slots;
    std::size_t head = 0, size = 0;
    Burst& at(std::size_t i) { return slots[(head + i) % slots.size()]; }
    const Burst& at(std::size_t i) const { return slots[(head + i) % slots.size()]; }
    bool full() const { return size == slots.size(); }
    Burst& push() { return at(size++); }
    void pop() {
      head = (head + 1) % slots.size();
      --size;
    }
  };

  // Occupies the bank for a burst that can start in `from`; returns the cycle of its first beat.
  sim::Cycle access(const DramAddress& burst, sim::Cycle from);
  std::uint64_t beat_address(const Burst& burst) const;
  void check_range(sim::Cycle now, const DramAddress& burst, bool write);
  // Bandwidth: a beat may be offered in a cycle whose end the beats before it do not use up.
  bool bus_free(sim::Cycle at) const { return bus_free_from() <= at; }
  void pay(sim::Cycle at);
  sim::Cycle bus_free_from() const { return bus_paid_until_ >> kFraction; }
  void offer_read(sim::Cycle at);
  void offer_write(sim::Cycle at);
  void store(std::uint64_t addr, const DramWriteBeat& beat);

  static constexpr unsigned kFraction = 10;  // bandwidth is kept in 1/1024 cycles

  SparseMemory& memory_;
  BankedDramParams params_;
  std::uint64_t beat_cost_;  // in 1/1024 cycles
  std::vector<Bank> banks_;
  Queue reads_, writes_;
  std::size_t filling_ = 0;  // index in writes_ of the burst that takes data
  std::uint64_t bus_paid_until_ = 0;
  bool read_last_ = false;

  std::uint64_t row_hits_ = 0, row_opened_ = 0, row_conflicts_ = 0, bytes_read_ = 0, bytes_written_ = 0;
};

}  // namespace ktpu::memory
