// SPDX-License-Identifier: Apache-2.0
#include "arch/program/lint_flits.h"

#include <fmt/format.h>

#include "arch/encoding/address_map.h"
#include "arch/encoding/payloads.h"
#include "arch/encoding/registers.h"

namespace ktpu::arch {
namespace {

std::string node_text(unsigned node) {
  const Coord c = Coord::from_node_byte(node);
  return fmt::format("({},{})", c.x, c.y);
}

}  // namespace

void FlitLint::flit(unsigned node, const Flit& flit, const Report& report) {
  std::uint32_t& left = open_writes_[node];
  switch (flit.type()) {
    case FlitType::kMemWrReq: {
      if (left != 0)
        report("write-beats", fmt::format("a write request while the one before lacks {} data flits", left));
      const std::uint32_t len = unpack<MemReq>(flit).len;
      if (len > kMaxWriteLen) report("write-burst", fmt::format("a write of {} beats", len + 1));
      left = len + 1;
      break;
    }
    case FlitType::kMemWrData:
      if (left == 0)
        report("write-beats", "write data without an open write request");
      else
        --left;
      break;
    case FlitType::kCuCtrl:
      if (asked_[node])
        report("control-overlap",
               fmt::format("a CU_CTRL request for {} before the reply to the one before was read",
                           node_text(node)));
      asked_[node] = true;
      break;
    default:
      break;
  }
}

void FlitLint::mailbox(std::uint32_t offset, std::uint64_t value, const Report& report) {
  if (offset >= agent::kTxFlit && offset < agent::kTxFlit + 8 * agent::kWordsPerFlit) {
    tx_[(offset - agent::kTxFlit) / 8] = value;
  } else if (offset == agent::kTxKick) {
    Flit sent;
    sent.w = tx_;
    sent.w[4] &= 0xFFFFFFFFu;
    flit(sent.dst().node_byte(), sent, report);
  } else if (offset == agent::kRxPop) {
    replies_read();
  }
}

void FlitLint::instruction(unsigned node, const ClusterInst& i, const Report& report) {
  if (i.is(ClusterOp::kFill)) {
    const std::uint32_t entry = i.preq ? address::kEntryBytesMxfp7 : address::kEntryBytesFp16;
    read(i.addr, std::uint64_t{entry} * i.eff_n(), "the FILL", report);
    return;
  }
  const bool results = i.is(ClusterOp::kGemm) ? i.emit : i.is(ClusterOp::kDrain) && !i.fuse;
  if (!results || i.dfin != 0) return;
  if (i.dnode == 0) {
    const std::uint64_t tiles = i.is(ClusterOp::kGemm) ? i.eff_gm() * i.eff_gn() : i.eff_n();
    writes_.push_back({i.addr, i.addr + address::kSubTileBytes * tiles, node});
    return;
  }
  const unsigned to = i.dst_y << 4 | i.dst_x;
  const auto [stream, first] = streams_.try_emplace(to, node);
  if (!first && stream->second != node)
    report("stream-overlap", fmt::format("sends to {} while a burst of {} may still be open there",
                                         node_text(to), node_text(stream->second)));
}

void FlitLint::read(std::uint64_t address, std::uint64_t bytes, std::string_view who,
                    const Report& report) const {
  for (const Write& w : writes_)
    if (w.begin < address + bytes && address < w.end) {
      report(
          "read-landing",
          fmt::format("{} reads {:#x}..{:#x}, where results of {} for {:#x}..{:#x} may still be on their way",
                      who, address, address + bytes - 1, node_text(w.node), w.begin, w.end - 1));
      return;
    }
}

void FlitLint::awaited(unsigned node) {
  std::erase_if(streams_, [node](const auto& s) { return s.first == node || s.second == node; });
}

void FlitLint::end(const Report& report) const {
  for (const auto& [node, left] : open_writes_)
    if (left != 0)
      report("write-beats", fmt::format("{}: a write request lacks {} data flits", node_text(node), left));
}

}  // namespace ktpu::arch
