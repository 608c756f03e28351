// SPDX-License-Identifier: Apache-2.0
// Collects remote flits of one burst into a packet, then has it sent; nothing overlaps (memory.md sections
// 11.3 and 11.6). The collecting FIFO needs 3 cycles, but the first word is read 2 cycles after the packet
// closed at the earliest: a packet of one flit finds nothing there, which is quirk I1.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/encoding/interlink.h"
#include "arch/flit.h"
#include "tlm/sim/fifo.h"
#include "tlm/sim/unit.h"

namespace ktpu::memory {

class Encapsulator {
 public:
  Encapsulator();
  void reset();

  // Whether a flit with this header can be taken in the present cycle.
  bool takes(const arch::Flit& flit) const;
  // Clock phase: the flit taken in this cycle.
  void take(sim::Cycle now, const arch::Flit& flit);
  // Sends what is there although the burst goes on (with quirks: none, when another burst's flit is in front
  // of its next one).
  void close() { closed_ = count_ != 0; }

  // A packet is closed and waits to be sent (a register).
  bool closed() const { return closed_; }
  bool open() const { return count_ != 0 && !closed_; }
  arch::Coord source() const { return source_; }
  arch::interlink::Header header(unsigned own_mesh) const;

  // The word that goes out next; load() reads the FIFO into it if a word can be read. False: none could.
  const arch::Flit& word() const { return word_; }
  bool load(sim::Cycle now);
  sim::Cycle readable_from() const { return fifo_.readable_from(); }
  // The packet's last beat left: the next flit is taken from the next cycle on.
  void sent();

  std::uint64_t collected() const { return collected_; }
  void visit(sim::Archive& archive);
  void waits(std::vector<sim::Wait>& waits) const;

 private:
  sim::Fifo<arch::Flit> fifo_;
  arch::Flit word_{};
  std::uint32_t count_ = 0;  // flits in the open or closed packet
  bool closed_ = false;
  std::uint32_t key_ = 0;  // txn and rsvd of the packet's flits, header bits [11:4] and [2:0]
  arch::Coord source_;
  std::uint64_t collected_ = 0;
};

}  // namespace ktpu::memory
