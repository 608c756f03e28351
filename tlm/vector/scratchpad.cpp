// SPDX-License-Identifier: Apache-2.0
#include "tlm/vector/scratchpad.h"

#include <algorithm>

#include "tlm/noc/endpoint_base.h"

namespace ktpu::vector {

using arch::Flit;
using arch::FlitType;

namespace {
constexpr unsigned kOutstandingMask = 0x3FF;
}

void Scratchpad::reset() {
  outstanding_ = 0;
  landing_ = landing_response_ = writing_ = storing_ = store_new_ = false;
  stream_ = bad_ = error_ = ack_valid_ = false;
  desc_ = {};
  source_ = {};
  offset_ = left_ = 0;
  responses_ = bursts_ = rejected_ = interleaved_ = granules_ = dropped_ = 0;
}

void Scratchpad::store(std::uint64_t index, const L1Word& value) {
  if (storing_) words_[store_index_] = store_word_;  // the word of the cycle before goes in now
  storing_ = store_new_ = true;
  store_index_ = static_cast<std::uint16_t>(index % size_);
  store_word_ = value;
}

void Scratchpad::expect(std::uint64_t index) {
  ninth_bit_[index % 256] = static_cast<std::uint8_t>(index / 256 % 2);
  outstanding_ = (outstanding_ + 1) & kOutstandingMask;
}

void Scratchpad::land(std::uint64_t index, const Flit& flit, bool response) {
  landing_ = true;
  landing_response_ = response;
  landing_index_ = static_cast<std::uint16_t>(index % size_);
  std::copy_n(flit.w.begin(), landing_word_.size(), landing_word_.begin());
}

void Scratchpad::clock(bool ack_sent) {
  if (ack_sent) ack_valid_ = false;
  if (writing_) words_[writing_index_] = writing_word_;
  if (storing_ && !store_new_) {
    words_[store_index_] = store_word_;
    storing_ = false;
  }
  store_new_ = false;
  writing_ = landing_;
  if (landing_) {
    writing_index_ = landing_index_;
    writing_word_ = landing_word_;
    if (landing_response_) outstanding_ = (outstanding_ - 1) & kOutstandingMask;
    landing_ = false;
  }
}

Scratchpad::Effect Scratchpad::take(const Flit& flit) {
  switch (flit.type()) {
    case FlitType::kMemRdResp:
      ++responses_;
      land(flit.txn() | ninth_bit_[flit.txn() % 256] * 256u, flit, true);
      return Effect::kNone;
    case FlitType::kCuData:
      return take_data(flit);
    default:
      ++dropped_;
      return Effect::kDropped;
  }
}

Scratchpad::Effect Scratchpad::take_data(const Flit& flit) {
  if (!stream_) {
    desc_ = arch::unpack<arch::CuDataDesc>(flit);
    source_ = flit.src();
    offset_ = static_cast<std::uint16_t>(desc_.offset);
    left_ = static_cast<std::uint16_t>(desc_.len + 1);
    bad_ = desc_.buf_id != 0 || desc_.offset + desc_.len >= size_;
    stream_ = true;
    ++bursts_;
    rejected_ += bad_;
    error_ |= bad_;
    return bad_ ? Effect::kRejected : Effect::kNone;
  }
  ++granules_;
  Effect effect = Effect::kNone;
  if (flit.src() != source_) {
    // Of a burst that is dropped already too: the flag may have been cleared since (section 2.4).
    if (!bad_) effect = Effect::kInterleaved;
    interleaved_ += !bad_;
    bad_ = error_ = true;
  }
  if (!bad_) land(offset_, flit, false);
  ++offset_;
  if (--left_ == 0) {
    stream_ = false;
    if (!bad_ && desc_.signal_on_complete()) {
      const arch::Coord to = desc_.ack() == arch::Coord{} ? source_ : desc_.ack();
      ack_ = noc::make_signal(to, at_, 0, arch::SignalCode::kDataReceived, desc_.buf_id);
      ack_valid_ = true;
    }
  }
  return effect;
}

void Scratchpad::visit(sim::Archive& a) {
  a.memory("words", words_.front().data(), std::size_t{kL1Words} * 4);
  a.memory("ninth_bit", ninth_bit_.data(), ninth_bit_.size());
  a.state("outstanding", outstanding_, 10);
  a.state("landing", landing_, 1);
  a.state("landing_response", landing_response_, 1);
  a.state("landing_index", landing_index_, 9);
  a.memory("landing_word", landing_word_.data(), 4);
  a.state("writing", writing_, 1);
  a.state("writing_index", writing_index_, 9);
  a.memory("writing_word", writing_word_.data(), 4);
  a.state("storing", storing_, 1);
  a.state("store_index", store_index_, 9);
  a.memory("store_word", store_word_.data(), 4);
  a.state("stream", stream_, 1);
  a.state("bad", bad_, 1);
  a.state("error", error_, 1);
  a.state("buf", desc_.buf_id, 8);
  a.state("flags", desc_.flags, 8);
  a.state("ack_y", desc_.ack_y, 4);
  a.state("ack_x", desc_.ack_x, 4);
  a.state("src_x", source_.x, 4);
  a.state("src_y", source_.y, 4);
  a.state("offset", offset_, 16);
  a.state("left", left_, 9);
  a.state("ack_valid", ack_valid_, 1);
  a.flit("ack", ack_);
  a.counter("responses", responses_, "flits", "Read responses stored.");
  a.counter("bursts", bursts_, "bursts", "CU_DATA descriptors taken.");
  a.counter("rejected", rejected_, "bursts", "CU_DATA bursts rejected: unknown buffer or out of range.");
  a.counter("interleaved", interleaved_, "bursts", "CU_DATA bursts spoilt by a flit from another node.");
  a.counter("granules", granules_, "flits", "CU_DATA data flits taken.");
  a.counter("dropped", dropped_, "flits", "Received flits of other types, dropped.");
}

}  // namespace ktpu::vector
