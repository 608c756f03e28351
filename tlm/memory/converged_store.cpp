// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/converged_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "arch/encoding/latencies.h"
#include "tlm/memory/dram_path.h"
#include "tlm/memory/staging.h"

namespace ktpu::memory {

ConvergedStore::ConvergedStore(unsigned requesters, unsigned mesh_id, MisuseLog& misuse)
    : requesters_(requesters), mesh_id_(mesh_id), misuse_(misuse), memory_(kStagingMemory) {}

void ConvergedStore::reset(sim::Cycle start) {
  cycles_.reset(start);
  state_ = State::kIdle;
  write_ = false;
  owner_ = pointer_ = 0;
  beats_ = 0;
  addr_ = valid_at_ = claimed_at_ = 0;
}

bool ConvergedStore::claims(std::uint64_t addr) const { return is_staged(addr, mesh_id_); }

void ConvergedStore::begin(sim::Cycle now, DramWires& wires) {
  addr_ = word_of(write_ ? wires.aw_addr : wires.ar_addr);
  beats_ = write_ ? wires.aw_beats : wires.ar_beats;
  const arch::Coord origin = write_ ? wires.aw_origin : wires.ar_origin;
  if (staging_aliases(addr_, std::uint64_t{beats_} * arch::kWordBytes))
    misuse_.add({MisuseKind::kStagingAlias, now, origin, addr_,
                 fmt::format("{} of {} words at {:#012x} runs past the {} MiB of the staging memory: the "
                             "address wraps to {:#x}",
                             write_ ? "write" : "read", beats_, addr_, arch::address::kStagingBytes >> 20,
                             addr_ % arch::address::kStagingBytes)});
  (write_ ? wires.aw_granted : wires.ar_granted) = true;
  valid_at_ = now + arch::latency::kStagingRead.value;
  ++(write_ ? write_bursts_ : read_bursts_);
}

void ConvergedStore::release(sim::Cycle now) {
  state_ = State::kIdle;
  busy_ += now - claimed_at_;
}

int ConvergedStore::clock(sim::Cycle now, std::uint32_t reads, std::uint32_t writes,
                          DramWires* const* wires) {
  const bool granting = state_ == State::kGrant;
  cycles_.enter(now, step(now, reads, writes, wires));
  cycles_.enter(now + 1, waiting(now + 1));
  return granting ? owner_ : -1;
}

StagingCycle ConvergedStore::waiting(sim::Cycle at) const {
  switch (state_) {
    case State::kIdle:
      return StagingCycle::kIdle;
    case State::kGrant:
      return StagingCycle::kClaiming;
    case State::kActive:
      return !write_ && at < valid_at_ ? StagingCycle::kReading : StagingCycle::kRequester;
    case State::kRespond:
      return StagingCycle::kResponding;
  }
  return StagingCycle::kIdle;
}

StagingCycle ConvergedStore::step(sim::Cycle now, std::uint32_t reads, std::uint32_t writes,
                                  DramWires* const* wires) {
  const StagingCycle waits = waiting(now);
  switch (state_) {
    case State::kIdle: {
      const std::uint32_t waiting = reads | writes;
      if (waiting == 0) break;
      const std::uint32_t from_pointer = waiting & (~0u << pointer_);
      owner_ = static_cast<std::uint8_t>(std::countr_zero(from_pointer != 0 ? from_pointer : waiting));
      pointer_ = static_cast<std::uint8_t>((owner_ + 1u) % requesters_);
      write_ = writes >> owner_ & 1;
      claimed_at_ = now;
      state_ = State::kGrant;
      return StagingCycle::kClaiming;
    }
    case State::kGrant:
      begin(now, *wires[owner_]);
      state_ = State::kActive;
      break;
    case State::kActive: {
      DramWires& w = *wires[owner_];
      if (write_) {
        if (w.w_data == nullptr) break;
        memory_.write(addr_, {reinterpret_cast<const std::uint8_t*>(w.w_data), arch::kWordBytes});
        w.w_taken = true;
        ++words_written_;
        if (--beats_ == 0) state_ = State::kRespond;
      } else {
        if (now < valid_at_ || !w.r_ready) break;
        memory_.read(addr_, {reinterpret_cast<std::uint8_t*>(w.r_data.data()), arch::kWordBytes});
        w.r_valid = true;
        w.r_last = --beats_ == 0;
        ++words_read_;
        valid_at_ = now + arch::latency::kStagingRead.value;  // one word at a time
        if (w.r_last) release(now);
      }
      addr_ += arch::kWordBytes;
      return StagingCycle::kMoving;
    }
    case State::kRespond:
      wires[owner_]->b = true;
      release(now);
      break;
  }
  return waits;
}

sim::Cycle ConvergedStore::next(sim::Cycle now, const DramWires* owner) const {
  switch (state_) {
    case State::kIdle:
      return sim::kNever;
    case State::kGrant:
    case State::kRespond:
      return now + 1;
    case State::kActive:
      if (write_) return owner->w_data != nullptr ? now + 1 : sim::kNever;
      return owner->r_ready || valid_at_ > now ? std::max(valid_at_, now + 1) : sim::kNever;
  }
  return now + 1;
}

void ConvergedStore::visit(sim::Archive& archive) {
  archive.state("state", state_, 2);
  archive.state("write", write_, 1);
  archive.state("owner", owner_, 3);
  archive.state("pointer", pointer_, 3);
  archive.state("beats", beats_, 9);
  archive.state("addr", addr_, arch::address::kBits);
  archive.state("valid_at", valid_at_);
  archive.state("claimed_at", claimed_at_);
  cycles_.visit(archive);
  archive.counter("read_bursts", read_bursts_, "bursts", "reads that the staging memory served");
  archive.counter("write_bursts", write_bursts_, "bursts", "writes that the staging memory took");
  archive.counter("words_read", words_read_, "words", "32-byte words read from the staging memory");
  archive.counter("words_written", words_written_, "words", "32-byte words written to the staging memory");
  archive.counter("busy", busy_, "cycles",
                  "cycles from a claim of the staging memory to its release, all bursts added up");
  memory_.visit(archive);
}

void ConvergedStore::waits(std::vector<sim::Wait>& waits) const {
  if (state_ == State::kActive)
    waits.push_back({fmt::format("staging memory: {} of requester {} at {:#x}, {} words to come",
                                 write_ ? "write" : "read", owner_, addr_, beats_)});
}

}  // namespace ktpu::memory
