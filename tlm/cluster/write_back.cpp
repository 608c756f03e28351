// SPDX-License-Identifier: Apache-2.0
#include "tlm/cluster/write_back.h"

#include <algorithm>

#include "arch/encoding/address_map.h"
#include "arch/encoding/latencies.h"
#include "arch/encoding/payloads.h"

namespace ktpu::cluster {

using arch::Flit;
using arch::FlitType;
using sim::Cycle;

static_assert(arch::latency::kDrainBurst.value == 8);

namespace {
constexpr unsigned kTag = 2;  // txn of every burst that stays in the mesh (cluster.md section 9.2)
}

WriteBack::WriteBack(arch::Coord at, arch::Coord memory_port)
    : at_(at), memory_port_(memory_port), queue_(sim::FifoShape::sync(arch::latency::kDrainDepth)) {}

void WriteBack::reset() {
  queue_.reset();
  count_ = {};
  first_ = {};
  collect_ = send_bank_ = send_length_ = send_next_ = 0;
  sending_ = flit_valid_ = false;
  pushed_ = taken_ = 0;
  to_ = {};
  granules_ = bursts_ = lost_ = 0;
}

bool WriteBack::push(Cycle now, const arch::Word256& word) {
  const std::uint16_t index = pushed_++;
  if (queue_.full()) {
    ++lost_;
    return false;
  }
  queue_.push(now, {word, index});
  return true;
}

void WriteBack::load_flit() {
  const unsigned length = send_length_;
  const bool first = send_next_ == 0, last = send_next_ == length;
  // A remote burst is sent to the same place with the far node in txn and the far mesh in the reserved bits,
  // on every flit of it.
  const bool remote = to_.dfin != 0;
  const unsigned txn = remote ? to_.dfin : kTag;
  const unsigned rsvd = remote ? arch::kRsvdRemote | to_.dmesh : 0;
  const bool node = to_.dnode != 0;
  const arch::Coord dst =
      node ? arch::Coord{static_cast<std::uint8_t>(to_.dst_x), static_cast<std::uint8_t>(to_.dst_y)}
           : memory_port_;
  const FlitType type = node ? FlitType::kCuData : first ? FlitType::kMemWrReq : FlitType::kMemWrData;
  flit_ = arch::make_flit(dst, at_, type, txn, !first && last, rsvd);
  if (!first) {
    std::copy_n(bank_[send_bank_][send_next_ - 1].begin(), 4, flit_.w.begin());
  } else if (node) {
    node_desc_.buf_id = to_.dbuf;
    node_desc_.offset = static_cast<std::uint16_t>((to_.addr >> 5) + first_[send_bank_]);
    node_desc_.len = length - 1;
    node_desc_.flags = to_.dflags;
    node_desc_.ack_y = to_.dack_y;
    node_desc_.ack_x = to_.dack_x;
    arch::pack(flit_, node_desc_);
  } else {
    arch::MemReq request;
    request.addr =
        (to_.addr + std::uint64_t{arch::address::kSubTileBytes} * first_[send_bank_]) & arch::address::kMask;
    request.len = length - 1;
    arch::pack(flit_, request);
  }
  flit_valid_ = true;
  if (!first && last) {
    sending_ = false;
    ++bursts_;
  } else {
    ++send_next_;
  }
}

bool WriteBack::clock(Cycle now, bool drain_busy, bool flit_taken) {
  const bool sender_idle = !sending_;
  if (flit_taken) flit_valid_ = false;
  if (sending_ && !flit_valid_) load_flit();

  const std::uint8_t held = count_[collect_];
  const bool full = held == kBurst;
  const bool hand_over = sender_idle && (full || (held != 0 && !drain_busy));
  if (hand_over) {
    sending_ = true;
    send_bank_ = collect_;
    send_length_ = held;
    send_next_ = 0;
    count_[collect_] = 0;
    collect_ ^= 1;
    return false;
  }
  if (full || !queue_.readable(now)) return false;
  const Granule& granule = queue_.head();
  if (held == 0) first_[collect_] = static_cast<std::uint16_t>(granule.index);
  bank_[collect_][held] = granule.word;
  ++count_[collect_];
  queue_.pop(now);
  ++taken_;
  ++granules_;
  return true;
}

void WriteBack::capture(const arch::ClusterInst& inst) { to_ = inst; }

Cycle WriteBack::wake(Cycle now, bool drain_busy) const {
  const std::uint8_t held = count_[collect_];
  const bool full = held == kBurst;
  if (flit_valid_ || sending_ || full || (held != 0 && !drain_busy)) return now + 1;
  return queue_.empty() ? sim::kNever : std::max(now + 1, queue_.readable_from());
}

void WriteBack::visit(sim::Archive& a) {
  queue_.visit(a, "queue");
  for (unsigned b = 0; b < 2; ++b)
    a.scope(b == 0 ? "bank0" : "bank1", [&] {
      a.state("count", count_[b], 4);
      a.state("first", first_[b], 16);
      a.memory("word", bank_[b].data(), bank_[b].size());
    });
  a.state("collect_bank", collect_, 1);
  a.state("sending", sending_, 1);
  a.state("send_bank", send_bank_, 1);
  a.state("send_length", send_length_, 4);
  a.state("send_next", send_next_, 4);
  a.state("flit_valid", flit_valid_, 1);
  a.flit("flit", flit_);
  a.state("pushed", pushed_, 16);
  a.state("taken", taken_, 16);
  a.state("dest_addr", to_.addr, 40);
  a.state("dest_node", to_.dnode, 1);
  a.state("dest_x", to_.dst_x, 4);
  a.state("dest_y", to_.dst_y, 4);
  a.state("dest_buf", to_.dbuf, 8);
  a.state("dest_flags", to_.dflags, 8);
  a.state("dest_ack_y", to_.dack_y, 4);
  a.state("dest_ack_x", to_.dack_x, 4);
  a.state("dest_mesh", to_.dmesh, 2);
  a.state("dest_final", to_.dfin, 8);
  a.counter("granules", granules_, "granules", "Results of 32 bytes taken from the drain queue.");
  a.counter("bursts", bursts_, "bursts", "Write bursts sent.");
  a.counter("lost", lost_, "granules", "Results lost because the drain queue was full.");
  for (const auto& binding : arch::Layout<arch::CuDataDesc>::fields)
    a.kept("node_desc", node_desc_.*binding.narrow);
}

}  // namespace ktpu::cluster
