// SPDX-License-Identifier: Apache-2.0
// The L1 scratchpad with its one write port, and what comes in for it: fill responses and CU_DATA bursts at
// the head of the receive FIFO (vector.md sections 2.3, 2.4 and 12.5).
//
// A flit popped in p lands in p+1 and is in the memory at the end of p+2. A VST word handed over in x is
// there at the end of x+1.
#pragma once

#include <array>
#include <cstdint>

#include "arch/encoding/payloads.h"
#include "arch/flit.h"
#include "tlm/sim/archive.h"
#include "tlm/sim/cycle.h"

namespace ktpu::vector {

inline constexpr unsigned kL1Words = 512;  // of 256 bits, at most; what 9-bit addresses reach
using L1Word = std::array<std::uint64_t, 4>;

class Scratchpad {
 public:
  // `words`: a power of two up to 512; addresses are taken modulo it.
  Scratchpad(arch::Coord at, unsigned words) : at_(at), size_(words) {}
  void reset();

  const L1Word& word(std::uint64_t index) const { return words_[index % size_]; }
  void preload(std::uint64_t index, const L1Word& value) { words_[index % size_] = value; }

  // --- Sequencer.
  bool landing() const { return landing_; }  // the write port is taken in this cycle's step
  void store(std::uint64_t index, const L1Word& value);
  // A fill request left for word `index`: its response is awaited.
  void expect(std::uint64_t index);
  unsigned outstanding() const { return outstanding_; }
  bool burst_error() const { return error_; }
  void clear_burst_error() { error_ = false; }

  // --- Receive FIFO.
  bool can_take() const { return !ack_valid_; }
  enum class Effect : std::uint8_t { kNone, kRejected, kInterleaved, kDropped };
  Effect take(const arch::Flit& flit);
  const arch::Flit* ack() const { return ack_valid_ ? &ack_ : nullptr; }
  bool stream() const { return stream_; }
  arch::Coord source() const { return source_; }
  unsigned left() const { return left_; }

  // End of a cycle, before take(): landed words go on, `ack_sent`: the acknowledgement left the register.
  void clock(bool ack_sent);
  // Something moves on without new input.
  bool active() const { return landing_ || writing_ || storing_; }

  void visit(sim::Archive& archive);

 private:
  Effect take_data(const arch::Flit& flit);
  void land(std::uint64_t index, const arch::Flit& flit, bool response);

  arch::Coord at_;
  unsigned size_;
  std::array<L1Word, kL1Words> words_{};
  std::array<std::uint8_t, 256> ninth_bit_{};  // of the word a fill's txn stands for (section 2.3)
  std::uint16_t outstanding_ = 0;              // 10 bits: a surplus response makes it wrap
  bool landing_ = false, landing_response_ = false, writing_ = false, storing_ = false;
  bool store_new_ = false;  // handed over in this cycle
  std::uint16_t landing_index_ = 0, writing_index_ = 0, store_index_ = 0;
  L1Word landing_word_{}, writing_word_{}, store_word_{};

  bool stream_ = false, bad_ = false, error_ = false, ack_valid_ = false;
  arch::CuDataDesc desc_{};
  arch::Coord source_{};
  std::uint16_t offset_ = 0, left_ = 0;
  arch::Flit ack_{};
  std::uint64_t responses_ = 0, bursts_ = 0, rejected_ = 0, interleaved_ = 0, granules_ = 0, dropped_ = 0;
};

}  // namespace ktpu::vector
