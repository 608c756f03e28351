// SPDX-License-Identifier: Apache-2.0
// The DRAM as its bus sees it: five channels of beats with valid and ready (address read, read data, address
// write, write data, write response), all outputs registered. Small enough for a bridge to a foreign memory:
// a burst address with its length and write beats go in, read beats and responses come out in cycles the
// device chooses.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "arch/flit.h"
#include "tlm/memory/misuse.h"
#include "tlm/memory/sparse_memory.h"
#include "tlm/sim/archive.h"
#include "tlm/sim/clock_ratio.h"
#include "tlm/sim/cycle.h"
#include "tlm/sim/unit.h"

namespace ktpu::memory {

inline constexpr unsigned kMaxBusBits = 1024;

// One beat: bus_bits / 8 bytes count, byte 0 in bits [7:0] of words[0].
struct DramData {
  std::array<std::uint64_t, kMaxBusBits / 64> words;
};

struct DramAddress {
  std::uint64_t addr = 0;   // 40 bits as the requester gave them, aligned down to a beat
  std::uint32_t beats = 0;  // of the bus, >= 1; consecutive
  std::uint8_t id = 0;      // requester index; comes back with data and response
  arch::Coord origin;       // the node that asked, for messages only
};

struct DramWriteBeat {
  DramData data;
  std::uint32_t lanes = 0;  // bit i: 32-byte lane i is written (byte enables are whole words, memory.md 4.5)
  std::uint32_t last = 0;   // 1 on the last beat of its burst
};

// Wires from the device, registers all: what they show in a cycle was decided by the clock() before it.
struct DramOutputs {
  bool ar_ready = false;
  bool aw_ready = false;
  bool w_ready = false;
  bool r_valid = false;
  bool r_last = false;
  bool b_valid = false;
  std::uint8_t r_id = 0;
  std::uint8_t b_id = 0;
  DramData r_data;
};

// Handshakes of one cycle: non-null / true exactly when valid and ready were both high.
struct DramInputs {
  const DramAddress* ar = nullptr;
  const DramAddress* aw = nullptr;
  const DramWriteBeat* w = nullptr;
  bool r_taken = false;
  bool b_taken = false;
};

// The record of a burst that leaves the memory behind a device.
Misuse out_of_range(sim::Cycle now, const DramAddress& burst, std::uint64_t bytes, bool write,
                    const SparseMemoryConfig& memory);

// Rules a device keeps: read data of one id comes in the order of its addresses and the beats of a burst are
// consecutive (bursts of different ids may overtake each other); write data comes in the order of the write
// addresses, never announced by an id; what is offered stays offered until taken.
class DramDevice {
 public:
  explicit DramDevice(unsigned bus_bits);
  virtual ~DramDevice() = default;

  unsigned bus_bits() const { return bus_bits_; }
  unsigned bus_bytes() const { return bus_bits_ / 8; }
  const DramOutputs& out() const { return out_; }

  virtual void reset(sim::Cycle start) = 0;
  // Samples cycle `now` and sets out() for the next one. Returns the next cycle in which it must be clocked
  // even without a handshake (as sim::Unit::clock()); clocking it in between must change nothing.
  virtual sim::Cycle clock(sim::Cycle now, const DramInputs& in) = 0;

  virtual void visit(sim::Archive& archive) = 0;
  virtual std::vector<sim::Wait> waits(sim::Cycle /*now*/) const { return {}; }

  // Where accesses outside the memory are recorded; null: nowhere.
  void set_misuse_log(MisuseLog* log) { misuse_ = log; }
  // What is recorded is dated in cycles of the memory agent: from those of this device.
  void set_report_clock(const sim::ClockRatio& to_agent) { to_agent_ = to_agent; }

 protected:
  // For visit(): the output registers as a checkpoint keeps them.
  void keep_outputs(sim::Archive& archive);
  static void keep(sim::Archive& archive, DramAddress& address);

  void record(Misuse misuse);

  DramOutputs out_;
  MisuseLog* misuse_ = nullptr;

 private:
  sim::ClockRatio to_agent_;
  unsigned bus_bits_;
};

}  // namespace ktpu::memory
