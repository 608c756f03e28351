// SPDX-License-Identifier: Apache-2.0
// The CU_DATA receiver and what keeps a peer stream and a sweep apart (cluster.md sections 9.3 and 9.4).
#pragma once

#include <cstdint>

#include "arch/encoding/payloads.h"
#include "arch/flit.h"
#include "arch/formats/subtile.h"
#include "tlm/sim/archive.h"
#include "tlm/sim/cycle.h"

namespace ktpu::cluster {

class PeerReceiver {
 public:
  struct Limits {
    std::uint32_t l1_a, l1_b, tiles;  // entries, entries, sub-tiles
    unsigned mw;
  };
  // What a taken flit does besides changing the receiver.
  enum class Effect : std::uint8_t { kNone, kRejected, kWrongSource };

  PeerReceiver(arch::Coord at, const Limits& limits) : at_(at), limits_(limits) {}

  void reset();

  // Registers of the present cycle.
  bool can_take() const { return !pending_ && !ack_valid_; }
  bool pending() const { return pending_; }
  bool peer_open() const { return peer_open_; }
  bool gate() const { return gate_; }
  bool stream() const { return stream_; }
  bool peer_stream() const { return stream_ && desc_.buf_id == kBufferTile; }  // rejected or not
  bool rejected() const { return rejected_; }
  sim::Cycle opened_at() const { return opened_at_; }  // cycle in which the descriptor was taken
  const arch::Flit* ack() const { return ack_valid_ ? &ack_ : nullptr; }
  unsigned peer_tile() const { return pending_tile_; }
  const arch::SubTile& peer_value() const { return value_; }

  // One cycle, in this order. First the flags, from the registers of this cycle:
  void clock_flags(bool gemm_busy, bool issued, bool ack_sent);
  // then the CU_DATA flit taken in this cycle, if any.
  Effect take(sim::Cycle now, const arch::Flit& flit);
  // The operand word that take() put out, if any: where it goes; `entry` has the bank in bit 8. Clears it.
  struct OperandWord {
    unsigned buffer, entry, word;
  };
  bool take_operand(OperandWord& where) {
    if (!operand_valid_) return false;
    operand_valid_ = false;
    where = operand_;
    return true;
  }

  // The flags change in the next cycle even if nothing else happens, given gemm_busy of that cycle.
  bool unsettled(bool gemm_busy) const {
    const bool open = peer_stream() || pending_;
    return open != peer_open_ || gate_ != (peer_open_ && (gate_ || !gemm_busy));
  }

  std::uint64_t left() const { return left_; }
  arch::Coord source() const { return source_; }
  const arch::CuDataDesc& descriptor() const { return desc_; }

  void visit(sim::Archive& archive);

 private:
  static constexpr unsigned kBufferTile = 2;

  bool acceptable() const;

  arch::Coord at_;
  Limits limits_;
  bool stream_ = false, rejected_ = false, pending_ = false, peer_open_ = false, gate_ = false;
  arch::CuDataDesc desc_{};
  arch::Coord source_{};
  std::uint8_t txn_ = 0;
  std::uint16_t offset_ = 0;  // granule of the next data flit
  std::uint16_t left_ = 0;    // data flits to come
  sim::Cycle opened_at_ = sim::kNever;
  arch::SubTile value_{};  // the two halves of the pending sub-tile
  std::uint32_t pending_tile_ = 0;
  bool ack_valid_ = false;
  arch::Flit ack_{};
  OperandWord operand_{};
  bool operand_valid_ = false;  // within one clock()
  std::uint64_t streams_ = 0, rejects_ = 0, granules_ = 0, wrong_source_ = 0;
};

}  // namespace ktpu::cluster
