// SPDX-License-Identifier: Apache-2.0
// What the memory agent's twin has around it besides mesh links, as interfaces: the DRAM and the control
// agent. Whoever puts the twin into a machine implements them on the classes that stand there (apps/common).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "arch/flit.h"
#include "tlm/sim/archive.h"
#include "tlm/sim/cycle.h"
#include "tlm/sim/unit.h"

namespace ktpu::rtl {

// The DRAM bus as its master sees it (memory.md section 7.3).
class DramSocket {
 public:
  // Outputs of the memory in the present cycle, registers all.
  struct Shown {
    bool ar_ready = false, aw_ready = false, w_ready = false;
    bool r_valid = false, b_valid = false;
    std::uint8_t r_id = 0, b_id = 0;        // requester index
    const std::uint64_t* r_data = nullptr;  // bus_bits / 64 words, with r_valid
  };
  struct Address {
    std::uint64_t addr = 0;   // 40 bits, aligned down to a beat of the bus
    std::uint32_t beats = 0;  // of the bus, 1..256
    std::uint8_t id = 0;      // requester index
  };
  struct Beat {
    const std::uint64_t* data = nullptr;  // 1024 bits, lanes not written are 0
    std::uint32_t lanes = 0;              // bit i: 32-byte lane i is written
    bool last = false;
  };
  // What was handed over in a cycle; null, false: nothing.
  struct Moves {
    const Address* ar = nullptr;
    const Address* aw = nullptr;
    const Beat* w = nullptr;
    bool r = false, b = false;
  };

  virtual ~DramSocket() = default;
  virtual void reset(sim::Cycle start) = 0;
  virtual Shown shown(sim::Cycle now) const = 0;
  // Once in every cycle, after shown() of the same cycle.
  virtual void clock(sim::Cycle now, const Moves& moves) = 0;
  // Of the memory as a part of the twin's unit; what belongs to another unit (lock-step) says nothing.
  virtual bool resting() const { return true; }  // nothing changes any more unless something comes
  virtual std::vector<sim::Wait> waits(sim::Cycle /*now*/) const { return {}; }
  virtual void visit(sim::Archive& /*archive*/) {}
};

// The nearer end of the FIFOs of the DRAM bus, for a DRAM on a clock of its own (memory.md section 7.3).
class BorderSocket {
 public:
  static constexpr unsigned kFifos = 7;  // of read data
  // The FIFOs in the present cycle, before anything is pushed or popped.
  struct Shown {
    bool ar_full = false, aw_full = false, w_full = false;
    // Heads of the read data, null if none can be read. With one read in flight all are in FIFO 0, and `r_id`
    // tells whose its head is; with more, each requester has the FIFO of its index.
    std::array<const std::uint64_t*, kFifos> r{};
    std::uint8_t r_id = 0;
    bool b_valid = false;  // a response, taken in this cycle
    std::uint8_t b_id = 0;
  };
  // What is pushed, null: nothing; and which heads are popped.
  struct Moves {
    const DramSocket::Address* ar = nullptr;
    const DramSocket::Address* aw = nullptr;
    const DramSocket::Beat* w = nullptr;
    std::uint32_t r = 0;
  };

  virtual ~BorderSocket() = default;
  virtual void reset(sim::Cycle start) = 0;
  virtual Shown shown(sim::Cycle now) = 0;
  virtual void clock(sim::Cycle now, const Moves& moves) = 0;
  virtual bool resting() const { return true; }  // as in DramSocket
  virtual std::vector<sim::Wait> waits(sim::Cycle /*now*/) const { return {}; }
  virtual void visit(sim::Archive& /*archive*/) {}
};

// The control agent, which shares the ports' coordinates (memory.md section 2).
class ClientSocket {
 public:
  virtual ~ClientSocket() = default;
  virtual void reset(sim::Cycle start) = 0;
  virtual void drive(sim::Cycle now) = 0;
  // The flit it shows, null if none; stays until taken.
  virtual const arch::Flit* out() const = 0;
  // The one flit selected for it in this cycle; false: it is full, and the flit is lost.
  virtual bool offer(sim::Cycle now, const arch::Flit& flit) = 0;
  // Once in every cycle, after offer(). `out_taken`: the flit of out() left.
  virtual void clock(sim::Cycle now, bool out_taken) = 0;
  // Register writes of this cycle that the twin has not been told by aux_write(). After clock().
  struct RegisterWrite {
    std::uint32_t offset = 0;
    std::uint64_t data = 0;
  };
  virtual std::span<const RegisterWrite> writes(sim::Cycle /*now*/) const { return {}; }
  // Of the control agent as a part of the twin's unit, as in DramSocket.
  virtual bool resting() const { return true; }
  virtual std::vector<sim::Wait> waits(sim::Cycle /*now*/) const { return {}; }
  virtual void sync(sim::Cycle /*now*/) {}
  virtual void visit(sim::Archive& /*archive*/) {}
};

// The host's memory window (memory.md section 8).
class WindowSocket {
 public:
  struct Address {
    bool valid = false;
    std::uint64_t addr = 0;   // 40 bits
    std::uint32_t beats = 1;  // of 32 bytes, 1..256
  };
  struct Inputs {
    Address aw, ar;
    const std::uint64_t* w = nullptr;  // the word offered, null if none
    bool r_busy = false, b_busy = false;
  };
  struct Outputs {
    bool aw_busy = false, ar_busy = false, w_busy = false;
    bool r_valid = false, r_last = false, b_valid = false;
    std::array<std::uint64_t, 4> r{};
  };

  virtual ~WindowSocket() = default;
  // Drive phase: the window's wires of the cycle.
  virtual void drive(const Outputs& out) = 0;
  // Clock phase. `out` as of drive().
  virtual Inputs clock(sim::Cycle now, const Outputs& out) = 0;
};

// The interlink's wires to and from the neighbours (memory.md section 11).
class InterlinkSocket {
 public:
  struct Beat {
    arch::Flit data;                        // a flit, or a memory word in its payload
    std::array<std::uint64_t, 2> header{};  // all zero on all beats but a packet's first
  };

  virtual ~InterlinkSocket() = default;
  virtual bool connected(unsigned link) const = 0;
  // Drive phase: the beat in the output register, null if none.
  virtual void drive(unsigned link, const Beat* out) = 0;
  // Clock phase: the beat that arrives, null if none.
  virtual const Beat* clock(unsigned link) = 0;
};

}  // namespace ktpu::rtl
