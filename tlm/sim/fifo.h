// SPDX-License-Identifier: Apache-2.0
// The first-word-fall-through FIFO every latency of the machine is built from (fabric.md section 1.2):
// a word written in cycle w is readable from max(w + latency, cycle of the previous word's pop + 1), one pop
// a cycle, and `full` is registered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "arch/error.h"
#include "tlm/sim/archive.h"
#include "tlm/sim/cycle.h"
#include "tlm/sim/ring.h"

namespace ktpu::sim {

// Latency and extra capacity of a FIFO; the two shapes the reference uses.
struct FifoShape {
  std::uint32_t depth = 32;   // words; a power of two in the reference, any value >= 1 here
  std::uint32_t latency = 3;  // cycles from write to readable (L_FIFO)
  std::uint32_t extra = 2;    // words beyond `depth` before full (FIFO_EXTRA)

  static constexpr FifoShape sync(std::uint32_t depth) { return {depth, 3, 2}; }
  // Both sides on one clock: 8 cycles, depth + 1 words.
  static constexpr FifoShape async(std::uint32_t depth) { return {depth, 8, 1}; }
};

template <typename T>
class Fifo {
 public:
  explicit Fifo(FifoShape shape)
      : shape_(shape), capacity_(shape.depth + shape.extra), ring_(capacity_ + 1) {}

  void reset() {
    ring_.clear();
    last_pop_plus_1_ = 0;
  }

  const FifoShape& shape() const { return shape_; }
  std::uint32_t size() const { return ring_.size(); }
  std::uint32_t capacity() const { return capacity_; }
  bool empty() const { return ring_.size() == 0; }  // holds nothing at all; see readable()
  // The registered flag of the present cycle, i.e. before any push or pop of this cycle: evaluate it before
  // calling push() or pop() (in drive(), or first thing in clock()).
  bool full() const { return ring_.size() >= capacity_; }

  // Whether the head can be read in cycle `now`, and from when on (kNever when empty).
  bool readable(Cycle now) const { return !empty() && readable_from() <= now; }
  Cycle readable_from() const {
    return empty() ? kNever : std::max(ring_.at(ring_.base()).written + shape_.latency, last_pop_plus_1_);
  }
  const T& head() const { return ring_.at(ring_.base()).value; }

  // Both take effect at the end of cycle `now`. Pushing into a full FIFO is a broken invariant of the caller.
  void push(Cycle now, const T& value) {
    auto& slot = ring_.push();
    slot.value = value;
    slot.written = now;
  }
  // The cycle after the one of the last pop; 0 before the first.
  Cycle last_pop_end() const { return last_pop_plus_1_; }
  void pop(Cycle now) {
    ring_.drop_front();
    if (ring_.size() == 0) ring_.clear();  // start over in the first slot: it is in the cache
    last_pop_plus_1_ = now + 1;
  }

  void visit(Archive& archive, std::string_view name) {
    archive.scope(name, [&] {
      archive.computed("count", size(), 16);
      if (archive.is_checkpoint()) return keep(archive);
      if (!archive.walks_contents()) return;
      for (std::uint32_t p = ring_.base(); p != ring_.tail(); ++p)
        archive.memory("word", reinterpret_cast<std::uint8_t*>(&ring_.at(p).value), sizeof(T));
    });
  }

 private:
  struct Slot {
    T value;
    Cycle written;
  };

  void keep(Archive& archive) {
    std::uint32_t count = size();
    archive.kept("size", count);
    archive.kept("last_pop", last_pop_plus_1_);
    if (archive.restores()) {
      KTPU_CHECK(count <= ring_.capacity(), "{} words in a FIFO of {}", count, capacity_);
      ring_.clear();
      for (std::uint32_t n = 0; n < count; ++n) ring_.push();
    }
    for (std::uint32_t p = ring_.base(); p != ring_.tail(); ++p) {
      Slot& slot = ring_.at(p);
      archive.kept_memory("word", &slot.value, 1);
      archive.kept("written", slot.written);
    }
  }

  FifoShape shape_;
  std::uint32_t capacity_;
  Ring<Slot> ring_;
  Cycle last_pop_plus_1_ = 0;
};

}  // namespace ktpu::sim
