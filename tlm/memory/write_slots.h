// SPDX-License-Identifier: Apache-2.0
// Reassembly of writes: 16 slots that collect the data flits of a descriptor by source coordinate, and the
// FIFO of slots in the order they became complete (memory.md section 4.5).
#pragma once

#include <array>
#include <cstdint>

#include "arch/encoding/latencies.h"
#include "arch/flit.h"
#include "tlm/memory/misuse.h"
#include "tlm/sim/fifo.h"
#include "tlm/sim/unit.h"

namespace ktpu::memory {

inline constexpr unsigned kWriteSlots = arch::latency::kMemWriteSlots.value;
inline constexpr unsigned kWriteBeats = arch::latency::kMemWriteBeats.value;

struct WriteSlot {
  bool valid = false;
  bool ready = false;
  bool issued = false;
  std::uint8_t txn = 0;
  arch::Coord src;
  std::uint32_t length = 0;  // beats, 1..16: len[3:0] + 1
  std::uint32_t count = 0;   // received
  std::uint64_t addr = 0;
  sim::Cycle opened_at = 0;
  // Eight words; a longer (illegal) write wraps around in them.
  std::array<std::array<std::uint64_t, 4>, kWriteBeats> data{};
};

class WriteSlots {
 public:
  WriteSlots() : ready_(sim::FifoShape::sync(kWriteSlots)) {}

  void reset();
  // A MEM_WR_REQ takes the lowest free slot; false: none is free.
  bool open(sim::Cycle now, const arch::Flit& request, MisuseLog& misuse);
  // A MEM_WR_DATA goes to the lowest open slot of its source; false: there is none.
  bool store(sim::Cycle now, const arch::Flit& data);
  bool full() const { return used_ == (1u << kWriteSlots) - 1; }
  bool idle() const { return used_ == 0; }
  void release(unsigned index);

  // The next complete write.
  bool ready(sim::Cycle now) const { return ready_.readable(now); }
  sim::Cycle ready_from() const { return ready_.readable_from(); }
  unsigned take(sim::Cycle now);

  WriteSlot& at(unsigned index) { return slots_[index]; }
  void visit(sim::Archive& archive);
  void waits(std::vector<sim::Wait>& waits) const;

 private:
  std::array<WriteSlot, kWriteSlots> slots_;
  std::uint32_t used_ = 0;  // bit i: slot i is valid
  std::uint32_t open_ = 0;  // bit i: slot i still takes data
  sim::Fifo<std::uint64_t> ready_;
};

}  // namespace ktpu::memory
