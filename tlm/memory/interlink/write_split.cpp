// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/interlink/write_split.h"

#include "arch/encoding/address_map.h"

namespace ktpu::memory {

namespace il = arch::interlink;

void WriteSplit::reset() {
  down_ = {};
  state_ = State::kFree;
  left_ = posted_ = 0;
  word_taken_ = false;
}

bool WriteSplit::remote() const { return !idle_ && arch::address::mesh(addr_) != mesh_id_; }

il::Header WriteSplit::header() const {
  il::Header header;
  header.kind = il::Kind::kMemoryWrite;
  header.destination = arch::address::mesh(addr_);
  header.source = mesh_id_;
  header.address = addr_;
  return header;
}

const std::uint64_t* WriteSplit::take_word() {
  word_taken_ = true;
  return mover_->w_data;
}

void WriteSplit::clock(sim::Cycle /*now*/) {
  DramWires& up = *mover_;
  // What the path did goes to the mover.
  up.ar_granted |= down_.ar_granted;
  up.w_taken |= down_.w_taken;
  up.b |= down_.b;
  if (down_.r_valid) {
    up.r_valid = true;
    up.r_last = down_.r_last;
    up.r_data = down_.r_data;
  }
  if (posted_ != 0 && !up.b) {  // one answer a cycle
    up.b = true;
    --posted_;
  }

  switch (state_) {
    case State::kFree:
      if (!up.aw_valid) break;
      up.aw_granted = true;
      addr_ = up.aw_addr;
      left_ = up.aw_beats;
      state_ = State::kDecode;
      if (remote()) break;
      state_ = State::kLocal;
      down_.aw_valid = true;
      down_.aw_addr = addr_;
      down_.aw_beats = left_;
      down_.aw_origin = up.aw_origin;
      break;
    case State::kDecode:
      state_ = State::kRequest;
      break;
    case State::kLocal:
      if (down_.aw_granted) down_.aw_valid = false;
      if (down_.w_taken && --left_ == 0) state_ = State::kFree;
      break;
    case State::kRequest:
      break;
    case State::kWord:
      if (!word_taken_) break;
      word_taken_ = false;
      up.w_taken = true;
      addr_ += arch::kWordBytes;
      ++sent_;
      state_ = --left_ == 0 ? State::kFree : State::kRequest;
      if (left_ == 0) ++posted_;
      break;
  }
  down_.clear_events();
}

void WriteSplit::pass_through() {
  down_.ar_valid = mover_->ar_valid;
  down_.ar_addr = mover_->ar_addr;
  down_.ar_beats = mover_->ar_beats;
  down_.ar_origin = mover_->ar_origin;
  down_.r_ready = mover_->r_ready;
  down_.w_data = state_ == State::kLocal ? mover_->w_data : nullptr;
}

void WriteSplit::visit(sim::Archive& archive) {
  archive.state("state", state_, 3);
  archive.state("addr", addr_, 40);
  archive.state("left", left_, 9);
  archive.state("posted", posted_, 16);
  archive.state("aw_valid", down_.aw_valid, 1);
  archive.counter("words", sent_, "words", "words that the mover wrote into other meshes");
  down_.visit(archive);
  archive.kept("word_taken", word_taken_);
  // The mover is visited before; the other wires are kept as they were last passed through.
  if (archive.restores()) down_.w_data = state_ == State::kLocal ? mover_->w_data : nullptr;
}

}  // namespace ktpu::memory
