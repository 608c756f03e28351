// SPDX-License-Identifier: Apache-2.0
#include "tlm/cluster/peer_receiver.h"

#include "tlm/noc/endpoint_base.h"

namespace ktpu::cluster {

using arch::Flit;

namespace {
constexpr unsigned kBufferA = 0, kBufferB = 1;
}

void PeerReceiver::reset() {
  stream_ = rejected_ = pending_ = peer_open_ = gate_ = ack_valid_ = false;
  desc_ = {};
  source_ = {};
  txn_ = 0;
  offset_ = left_ = 0;
  opened_at_ = sim::kNever;
  pending_tile_ = 0;
  streams_ = rejects_ = granules_ = wrong_source_ = 0;
}

void PeerReceiver::clock_flags(bool gemm_busy, bool issued, bool ack_sent) {
  const bool open = peer_open_;
  peer_open_ = peer_stream() || pending_;
  gate_ = open && (gate_ || !gemm_busy);
  if (issued) pending_ = false;
  if (ack_sent) ack_valid_ = false;
}

// Range check of section 9.3, on the numbers before any cut.
bool PeerReceiver::acceptable() const {
  const std::uint32_t last = desc_.offset + desc_.len;
  switch (desc_.buf_id) {
    case kBufferA:
      return last < 4 * limits_.l1_a;
    case kBufferB:
      return last < 4 * limits_.l1_b;
    case kBufferTile:
      return last < 2 * limits_.tiles && desc_.offset % 2 == 0;
    default:
      return false;
  }
}

PeerReceiver::Effect PeerReceiver::take(sim::Cycle now, const Flit& flit) {
  if (!stream_) {
    desc_ = arch::unpack<arch::CuDataDesc>(flit);
    source_ = flit.src();
    txn_ = static_cast<std::uint8_t>(flit.txn());
    offset_ = static_cast<std::uint16_t>(desc_.offset);
    left_ = static_cast<std::uint16_t>(desc_.len + 1);
    rejected_ = !acceptable();
    stream_ = true;
    opened_at_ = now;
    ++streams_;
    rejects_ += rejected_;
    return rejected_ ? Effect::kRejected : Effect::kNone;
  }
  ++granules_;
  Effect effect = Effect::kNone;
  if (flit.src() != source_) {
    ++wrong_source_;
    effect = Effect::kWrongSource;
  }
  if (!rejected_) {
    if (desc_.buf_id == kBufferTile) {
      const unsigned half = offset_ % 2;
      arch::store_granule(half, flit.w.data(), limits_.mw, value_);
      if (half == 1) {
        pending_ = true;
        pending_tile_ = offset_ / 2;
      }
    } else {
      operand_ = {desc_.buf_id, (offset_ / 4u) & 511, offset_ % 4u};
      operand_valid_ = true;
    }
  }
  ++offset_;
  if (--left_ == 0) {
    stream_ = false;
    if (desc_.signal_on_complete()) {
      const arch::Coord to = desc_.ack() == arch::Coord{} ? source_ : desc_.ack();
      ack_ = noc::make_signal(to, at_, txn_, arch::SignalCode::kDataReceived, desc_.buf_id);
      ack_valid_ = true;
    }
  }
  return effect;
}

void PeerReceiver::visit(sim::Archive& a) {
  a.state("stream", stream_, 1);
  a.state("rejected", rejected_, 1);
  a.state("pending", pending_, 1);
  a.state("peer_open", peer_open_, 1);
  a.state("gate", gate_, 1);
  a.state("buf", desc_.buf_id, 8);
  a.state("flags", desc_.flags, 8);
  a.state("ack_y", desc_.ack_y, 4);
  a.state("ack_x", desc_.ack_x, 4);
  a.state("src_x", source_.x, 4);
  a.state("src_y", source_.y, 4);
  a.state("txn", txn_, 8);
  a.state("offset", offset_, 16);
  a.state("left", left_, 9);
  a.memory("value", value_.lane, arch::kSubTileLanes);
  a.state("pending_tile", pending_tile_, 16);
  a.state("ack_valid", ack_valid_, 1);
  a.flit("ack", ack_);
  a.counter("streams", streams_, "streams", "CU_DATA descriptors taken.");
  a.counter("rejects", rejects_, "streams",
            "CU_DATA streams rejected: unknown buffer, out of range or odd start.");
  a.counter("granules", granules_, "flits", "CU_DATA data flits taken.");
  a.counter("wrong_source", wrong_source_, "flits",
            "CU_DATA data flits that came from another node than the descriptor.");
  a.kept("first_granule", desc_.offset);
  a.kept("len", desc_.len);
  a.kept("opened_at", opened_at_);
}

}  // namespace ktpu::cluster
