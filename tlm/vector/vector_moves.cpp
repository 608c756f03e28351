// SPDX-License-Identifier: Apache-2.0
// Whole chunks and words: loads, stores, conversions, fills and drains (vector.md sections 4, 5, 9 and 12.3).
#include <algorithm>

#include "arch/encoding/payloads.h"
#include "arch/encoding/quirks.h"
#include "arch/encoding/vector_inst.h"
#include "arch/formats/e8m15.h"
#include "tlm/vector/vector_core.h"

namespace ktpu::vector {

using arch::Flit;
using arch::FlitType;
using arch::QuirkId;
using arch::VectorOpcode;

namespace {

constexpr Cycle kWordPeriod = 4;  // VLD: an L1 word
constexpr unsigned kHalf = kLanes / 2;

std::uint32_t from_memory(const L1Word& word, unsigned element, bool fp32) {
  if (fp32) return arch::fp32_to_e8m15(static_cast<std::uint32_t>(word[element / 2] >> (element % 2 * 32)));
  return arch::fp16_to_e8m15(static_cast<std::uint16_t>(word[element / 4] >> (element % 4 * 16)));
}

L1Word to_memory(const std::uint32_t* elements, bool fp32) {
  L1Word word{};
  if (fp32)
    for (unsigned i = 0; i < kHalf; ++i)
      word[i / 2] |= std::uint64_t{arch::e8m15_to_fp32(elements[i])} << (i % 2 * 32);
  else
    for (unsigned i = 0; i < kLanes; ++i)
      word[i / 4] |= std::uint64_t{arch::e8m15_to_fp16(elements[i])} << (i % 4 * 16);
  return word;
}

Flit with_payload(Flit flit, const L1Word& word) {
  std::copy(word.begin(), word.end(), flit.w.begin());
  return flit;
}

}  // namespace

// The length of a fill or drain is known.
void VectorCore::start_walk(Cycle now) {
  constexpr std::uint64_t kMaxWords = 256;  // section 13, F_LEN
  const std::uint64_t total = descriptors_[word_.ad].total();
  if (total > kMaxWords) return fault(now, VectorFault::kLen);
  walk_.start(word_.ad, 0);
  position_ = 0;
  positions_ = static_cast<std::uint16_t>(total);
  if (word_.opcode() == VectorOpcode::kVfill) return go(Step::kFillRequest, now + 1);
  go(Step::kDrainRead, now + 2);
}

// Reads walk position p at the end of W+3+4p.
void VectorCore::load_word(Cycle now) {
  const L1Word& word = l1_.word(walk_.address());
  walk_.step();
  const bool wide = fp32();
  const unsigned count = wide ? kHalf : kLanes;
  std::uint32_t* target =
      lanes_.chunk(word_.vd, wide ? position_ / 2u : position_) + (wide ? position_ % 2 * kHalf : 0);
  for (unsigned i = 0; i < count; ++i) target[i] = from_memory(word, i, wide);
  ++words_moved_;
  if (++position_ < positions_) return go(Step::kLoad, now + kWordPeriod, VectorCycle::kMove);
  go(Step::kFetch, now + 3, VectorCycle::kMove);
}

// A write cycle. An arriving word has the write port first.
void VectorCore::store_word(Cycle now) {
  if (l1_.landing()) return hold(now, VectorCycle::kLanding);
  for (Cycle& at : walk_steps_at_)
    if (at <= now) {
      walk_.step();
      at = sim::kNever;
    }
  const bool wide = fp32();
  if (wide && !high_half_ && position_ == 0) hit(QuirkId::kV1, now);
  const std::uint32_t* source = lanes_.chunk(word_.vd, position_) + (high_half_ ? kHalf : 0);
  l1_.store(walk_.address(), to_memory(source, wide));
  ++words_moved_;
  // The reference moves the walk a cycle late: too late for the second half right behind the first (V1).
  walk_steps_at_[high_half_ ? 1 : 0] = now + (params_.quirks ? 2 : 1);
  if (wide && !high_half_) {
    high_half_ = true;
    return go(Step::kStore, now + 1);
  }
  high_half_ = false;
  if (++position_ < positions_) return go(Step::kStore, now + 3, VectorCycle::kMove);
  go(Step::kFetch, now + 1);
}

void VectorCore::move_chunks(Cycle now) {
  const unsigned n = chunks();
  switch (word_.opcode()) {
    case VectorOpcode::kVbcast:
      if (word_.sa != 1) {
        s_[word_.vd] = lanes_.chunk(word_.va, 0)[0];
        return go(Step::kFetch, now + 5, VectorCycle::kMove);
      }
      for (unsigned j = 0; j < n; ++j) std::fill_n(lanes_.chunk(word_.vd, j), kLanes, s_[word_.va]);
      break;
    case VectorOpcode::kVshuf:
      for (unsigned j = 0; j < n; ++j) {
        std::array<std::uint32_t, kLanes> source;
        std::copy_n(lanes_.chunk(word_.va, j), kLanes, source.begin());
        for (unsigned i = 0; i < kLanes; ++i)
          lanes_.chunk(word_.vd, j)[i] = source[(i + s_[word_.vb]) % kLanes];
      }
      break;
    default: {
      // VCVT. The reference converts what the register read before returned (V2).
      const bool wide = fp32(), behind = params_.quirks && !wide;
      if (behind) hit(QuirkId::kV2, now);
      std::array<std::uint32_t, kLanes> before, source;
      std::copy_n(lanes_.last_read(), kLanes, before.begin());
      for (unsigned j = 0; j < n; ++j) {
        std::copy_n(lanes_.chunk(word_.va, j), kLanes, source.begin());
        const auto& from = behind ? before : source;
        for (unsigned i = 0; i < kLanes; ++i)
          lanes_.chunk(word_.vd, j)[i] = wide ? from[i] : arch::fp16_to_e8m15(arch::e8m15_to_fp16(from[i]));
        before = source;
      }
    }
  }
  words_moved_ += n;
  go(Step::kFetch, now + 2 + Cycle{3} * n, VectorCycle::kMove);
}

void VectorCore::fill_hand(Cycle now) {
  if (!slot_open_) return hold(now, VectorCycle::kSend);
  const unsigned target = (word_.offset + position_) % kL1Words;
  arch::MemReq request;
  request.addr = walk_.address();
  slot_.load(arch::make_flit(
      arch::make_header(params_.memory_port, params_.at, FlitType::kMemRdReq, target % 256, true), request));
  l1_.expect(target);
  walk_.step();
  ++fill_words_;
  ++words_moved_;
  if (++position_ < positions_) return go(Step::kFillRequest, now + 2, VectorCycle::kMove);
  go(Step::kFetch, now + 1);
}

void VectorCore::drain_hand(Cycle now) {
  if (!slot_open_) return hold(now, VectorCycle::kSend);
  if (word_.peer) {
    hand_to_peer();
  } else {
    constexpr unsigned kDrainTxn = 1;  // section 2.3
    arch::MemReq request;
    request.addr = walk_.address();
    const Flit data = arch::make_flit(params_.memory_port, params_.at, FlitType::kMemWrData, kDrainTxn, true);
    slot_.load(arch::make_flit(
                   arch::make_header(params_.memory_port, params_.at, FlitType::kMemWrReq, kDrainTxn, false),
                   request),
               with_payload(data, drained_), false);
    walk_.step();
  }
  ++drain_words_;
  ++words_moved_;
  if (++position_ < positions_) return go(Step::kDrainRead, now + 1);
  go(Step::kFetch, now + 1);
}

// Section 5.5: the descriptor's base is a record of the destination.
void VectorCore::hand_to_peer() {
  const std::uint64_t base[2] = {descriptors_[word_.ad].base, 0};
  const auto record = arch::unpack_payload<arch::VectorPeer>(base);
  const arch::Coord to{static_cast<std::uint8_t>(word_.peer_x), static_cast<std::uint8_t>(word_.peer_y)};
  const auto header = [&](bool last) {
    const unsigned rsvd = record.final_node != 0 ? arch::kRsvdRemote | record.mesh : 0;
    return arch::make_flit(to, params_.at, FlitType::kCuData, record.final_node, last, rsvd);
  };
  const Flit data = with_payload(header(position_ + 1 == positions_), drained_);
  if (position_ != 0) {
    slot_.load(data);
    return;
  }
  arch::CuDataDesc desc;
  desc.buf_id = word_.buf;
  desc.offset = record.offset;
  desc.len = positions_ - 1u;
  desc.flags = word_.signal ? arch::kCuDataSignal : 0;
  desc.ack_x = record.ack_x;
  desc.ack_y = record.ack_y;
  Flit first = header(false);
  arch::pack(first, desc);
  slot_.load(first, data, true);
}

}  // namespace ktpu::vector
