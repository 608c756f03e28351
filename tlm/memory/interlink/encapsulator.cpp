// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/interlink/encapsulator.h"

#include <fmt/format.h>

#include "arch/encoding/payloads.h"

namespace ktpu::memory {

namespace il = arch::interlink;

namespace {
// What makes flits one burst besides their source: txn and rsvd (memory.md section 11.3).
std::uint32_t key_of(const arch::Flit& flit) { return flit.txn() << 3 | flit.rsvd(); }
}  // namespace

Encapsulator::Encapsulator() : fifo_(sim::FifoShape::sync(il::kMaxBeats)) {}

void Encapsulator::reset() {
  fifo_.reset();
  word_ = {};
  count_ = 0;
  closed_ = false;
}

bool Encapsulator::takes(const arch::Flit& flit) const {
  if (closed_) return false;
  return count_ == 0 || (key_of(flit) == key_ && flit.src() == source_);
}

void Encapsulator::take(sim::Cycle now, const arch::Flit& flit) {
  if (count_++ == 0) {
    key_ = key_of(flit);
    source_ = flit.src();
  }
  fifo_.push(now, flit);
  ++collected_;
  closed_ = flit.last() || count_ == il::kMaxBeats;
}

il::Header Encapsulator::header(unsigned own_mesh) const {
  il::Header header;
  header.kind = il::Kind::kFlits;
  header.destination = key_ & arch::kRsvdMeshMask;
  header.source = own_mesh;
  header.txn = key_ >> 3;
  header.beats = count_;
  header.address = key_ >> 3;
  return header;
}

bool Encapsulator::load(sim::Cycle now) {
  if (!fifo_.readable(now)) return false;
  word_ = fifo_.head();
  fifo_.pop(now);
  return true;
}

void Encapsulator::sent() {
  count_ = 0;
  closed_ = false;
}

void Encapsulator::visit(sim::Archive& archive) {
  fifo_.visit(archive, "fifo");
  archive.flit("word", word_);
  archive.state("count", count_, 6);
  archive.state("closed", closed_, 1);
  archive.state("key", key_, 11);
  archive.state("source_x", source_.x, 4);
  archive.state("source_y", source_.y, 4);
  archive.counter("collected", collected_, "flits", "remote flits taken for other meshes");
}

void Encapsulator::waits(std::vector<sim::Wait>& waits) const {
  if (open())
    waits.push_back(
        {fmt::format("interlink: a burst of ({},{}) to mesh {} is open after {} flits and waits for "
                     "its next one; nobody else's is taken before it ends",
                     source_.x, source_.y, key_ & arch::kRsvdMeshMask, count_)});
}

}  // namespace ktpu::memory
