// SPDX-License-Identifier: Apache-2.0
// Kernels of the vector core, instruction by instruction (vector.md section 12.3).
#include <algorithm>

#include "arch/error.h"
#include "compiler/cost/vector_core.h"

namespace ktpu::cost {

using arch::ReduceKind;
using arch::VectorMode;
using arch::VectorOpcode;
using arch::VectorWord;

namespace {

constexpr Cycles kLongAgo = -1'000'000;
constexpr std::uint64_t kEndless = 4'000'000;  // instructions of one kernel

}  // namespace

void VectorCore::begin(Moment zero, unsigned pc) {
  running_ = true;
  zero_ = sync_ = zero;
  synced_ = lanes_ = pipe_ = moves_ = 0;
  pc_ = pc;
  fetch_ = cost_.first_execute - cost_.fetch;
  last_beat_ = kLongAgo;
  ready_.fill(0);
  landed_ = 0;
  looping_ = false;
  executed_ = 0;
  run();
}

// What was not beats or moves since the last moment was control.
Moment VectorCore::moment(Cycles c) {
  const Cycles span = std::max<Cycles>(c - synced_, 0);
  const Cycles lanes = std::min(lanes_, span);
  const Cycles pipe = std::min(pipe_, span - lanes);
  const Cycles moves = std::min(moves_, span - lanes - pipe);
  sync_ = spend(sync_, span - lanes - pipe - moves, Cause::kVectorControl);
  if (lanes != 0) sync_ = spend(sync_, lanes, Cause::kVectorLanes);
  if (pipe != 0) sync_ = spend(sync_, pipe, Cause::kVectorPipe);
  if (moves != 0) sync_ = spend(sync_, moves, Cause::kVectorMoves);
  synced_ += span;
  lanes_ = pipe_ = moves_ = 0;
  return sync_;
}

void VectorCore::wait_landed(Cycles from) {
  if (landed_ <= from) return;
  const Moment here = moment(from);
  books_.fill += landed_at_.t - here.t;
  sync_ = landed_at_;
  synced_ = landed_;
}

void VectorCore::run() {
  while (running_) {
    if (++executed_ > kEndless)
      throw arch::UserError::make("vector core ({},{}): a kernel without end", at_.x, at_.y);
    if (looping_ && pc_ == loop_end_) {
      if (loop_left_ > 1) {
        --loop_left_;
        pc_ = loop_top_;
      } else {
        looping_ = false;
      }
    }
    const VectorWord& w = imem_[pc_];
    const unsigned at = pc_;
    if (!execute(w, fetch_ + cost_.fetch)) {
      pc_ = at;
      waiting_ = true;
      return;
    }
  }
}

bool VectorCore::execute(const VectorWord& w, Cycles e) {
  pc_ = (pc_ + 1) & 511;
  if (w.arithmetic()) {
    arithmetic(w, e);
    return true;
  }
  switch (w.opcode()) {
    case VectorOpcode::kVsetvl:
      vl_ = std::clamp<unsigned>(scalars_[w.va], 1, 128);
      fetch_ = e + 1;
      return true;
    case VectorOpcode::kVsetmode: {
      const Cycles free = pipe_empty(e);
      pipe_ += free - e;
      mode_ = static_cast<VectorMode>(w.va & 3);
      fetch_ = free + 1;
      return true;
    }
    case VectorOpcode::kVseti:
      if (w.sa != 3) scalars_[w.vd] = raw_[pc_] & 0xFFFFFF;
      pc_ = (pc_ + 1) & 511;
      fetch_ = e + cost_.set_immediate;
      return true;
    case VectorOpcode::kVloop:
      looping_ = true;
      loop_top_ = pc_;
      loop_end_ = (pc_ + w.vb) & 511;
      loop_left_ = scalars_[w.va];
      fetch_ = e + 1;
      return true;
    case VectorOpcode::kVld:
      move(e, cost_.load_chunk * words() * (w.dtype == 2 ? 2 : 1));
      return true;
    case VectorOpcode::kVst:
      move(e, (w.dtype == 2 ? cost_.store_chunk_wide : cost_.store_chunk) * words());
      return true;
    case VectorOpcode::kVcvt:
    case VectorOpcode::kVshuf:
      move(e, cost_.move_chunk * chunks());
      return true;
    case VectorOpcode::kVbcast:
      move(e, w.sa == 1 ? cost_.move_chunk * chunks() : cost_.to_scalar - cost_.move_base);
      return true;
    case VectorOpcode::kVred:
      reduce(w, e);
      return true;
    case VectorOpcode::kVbar: {
      if (outstanding_) return false;
      wait_landed(e + 1);
      fetch_ = std::max(e + 1, landed_) + 1;
      return true;
    }
    case VectorOpcode::kVfill:
      if (outstanding_) return false;
      start_fill(w, std::max(e, landed_));
      return true;
    case VectorOpcode::kVdrain:
      drain(w, e);
      return true;
    case VectorOpcode::kVhalt:
      if (outstanding_) return false;
      halt(std::max(pipe_empty(e + 1), landed_));
      return true;
    default:
      fetch_ = e + 1;
      return true;
  }
}

// A chain group takes its further words at the same time; the scoreboard looks at the register fields of the
// head whatever their sources are (section 12.4). The last word names the destination; a compare there has
// none.
void VectorCore::arithmetic(const VectorWord& head, Cycles e) {
  const Cycles depth = mode_ == VectorMode::kFlat ? 1 : mode_ == VectorMode::kD2 ? 2 : 4;
  VectorWord tail = head;
  for (Cycles d = 1; d < depth; ++d) {
    tail = arch::decode_vector_word_as(raw_[pc_], VectorOpcode::kVmov);
    pc_ = (pc_ + 1) & 511;
  }
  const Cycles from = e + 1 + cost_.chain_word * (depth - 1);
  const Cycles first = std::max({from, ready_[head.va], ready_[head.vb], ready_[head.vc], ready_[tail.vd]});
  const Cycles beats = chunks() * depth;
  last_beat_ = first + beats - 1;
  if (!tail.compare() && (cost_.scoreboard == 0 || beats < cost_.scoreboard))
    ready_[tail.vd] = last_beat_ + cost_.ready + cost_.alu * depth;
  pipe_ += first - from;
  lanes_ += beats;
  books_.compute += clock_.fabric(beats);
  fetch_ = first + beats + 1;
}

void VectorCore::reduce(const VectorWord& w, Cycles e) {
  const auto kind = static_cast<ReduceKind>(w.kind);
  if (kind == ReduceKind::kAny || kind == ReduceKind::kAll) {
    fetch_ = e + 1;
    return;
  }
  const bool two = kind == ReduceKind::kSumsq || kind == ReduceKind::kDot || kind == ReduceKind::kExpsum;
  const Cycles beats = chunks() * (two ? 2 : 1);
  const Cycles last = e + beats;
  if (kind == ReduceKind::kExpsum) ready_[w.vb] = last + cost_.ready + cost_.alu;
  last_beat_ = std::max(last + 2, last + cost_.pipe);
  fetch_ = last_beat_ + cost_.reduce_tail;
  lanes_ += beats + 1;
  pipe_ += fetch_ - e - 1 - (beats + 1);
  books_.compute += clock_.fabric(beats + 1);
}

// Moves between L1 and registers wait until the lanes are empty.
void VectorCore::move(Cycles e, Cycles cycles) {
  const Cycles free = pipe_empty(e);
  pipe_ += free - e;
  moves_ += cost_.move_base + cycles;
  books_.drain += clock_.fabric(cost_.move_base + cycles);
  fetch_ = free + cost_.move_base + cycles;
}

void VectorCore::start_fill(const VectorWord& w, Cycles begin) {
  const Descriptor& d = descriptors_[w.ad];
  const unsigned total = d.total();
  wait_landed(fetch_ + cost_.fetch);
  const Moment first = spend(moment(begin), cost_.fill_first + cost_.fill_link, Cause::kVectorMoves);
  Walk walk(d);
  for (unsigned k = 0; k < total; ++k) {
    Message request;
    request.kind = Message::Kind::kPlain;
    request.addr = walk.next();
    request.answer = k + 1 == total;
    mesh_.request(index_, request, spend(first, cost_.word * k, Cause::kVectorMoves));
  }
  outstanding_ = true;
  fetch_ = begin + cost_.fill_base + cost_.word * total;
  moves_ += fetch_ - begin;
  books_.drain += clock_.fabric(fetch_ - begin);
}

void VectorCore::drain(const VectorWord& w, Cycles e) {
  const Descriptor& d = descriptors_[w.ad];
  const unsigned total = d.total();
  const Moment first = spend(moment(e), cost_.drain_first, Cause::kVectorMoves);
  if (w.peer != 0) {
    const arch::Flit record{{d.base, 0, 0, 0, 0}};
    const auto peer = arch::unpack<arch::VectorPeer>(record);
    PeerBurst burst;
    burst.to = {static_cast<std::uint8_t>(w.peer_x), static_cast<std::uint8_t>(w.peer_y)};
    burst.ack = {static_cast<std::uint8_t>(peer.ack_x), static_cast<std::uint8_t>(peer.ack_y)};
    burst.from = at_;
    burst.buffer = static_cast<std::uint8_t>(w.buf);
    burst.flits = static_cast<std::uint16_t>(total);
    burst.signal = w.signal != 0;
    mesh_.peer(index_, burst, spend(first, cost_.word * (total - 1), Cause::kVectorMoves));
  } else {
    Walk walk(d);
    for (unsigned k = 0; k < total; ++k)
      mesh_.write(index_, walk.next(), 1, spend(first, cost_.word * k, Cause::kVectorMoves));
  }
  // The descriptor's place holds the second word of a peer burst back by a cycle.
  fetch_ = e + cost_.drain_base + cost_.word * total + (w.peer != 0 && total >= 2 ? 1 : 0);
  moves_ += fetch_ - e;
  books_.drain += clock_.fabric(fetch_ - e);
}

void VectorCore::halt(Cycles w) {
  const Cycles test = fetch_ + cost_.fetch + 1;
  wait_landed(test);
  pipe_ += std::max<Cycles>(0, w - std::max(test, landed_));
  const Moment done = moment(w + cost_.halt + 1);
  books_.busy += done.t - zero_.t;
  running_ = false;
  retire(done);
}

}  // namespace ktpu::cost
