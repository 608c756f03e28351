// SPDX-License-Identifier: Apache-2.0
// A FIFO between two clocks (fabric.md sections 1.2 and 13). A word is readable from the seventh read edge
// strictly after the write edge that ends its write cycle: written in w, readable from w + 8 when both clocks
// are equal. Its place is free for the writer, by the same rule the other way round, from the seventh write
// edge strictly after the read edge that ends the cycle of its pop.
//
// Nothing that one side does is seen by the other within six of its edges: in which order the two sides run
// at one instant makes no difference.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "tlm/sim/archive.h"
#include "tlm/sim/clock_ratio.h"
#include "tlm/sim/cycle.h"
#include "tlm/sim/ring.h"

namespace ktpu::sim {

inline constexpr Cycle kCrossingEdges = 7;       // of the other clock until it sees a word, or a free place
inline constexpr std::uint32_t kAsyncExtra = 1;  // capacity is depth + 1

// The first cycle of the other clock that sees what happened at the end of `cycle`.
inline Cycle seen_across(const ClockRatio& ratio, Cycle cycle) {
  return ratio.containing(cycle + 1) + kCrossingEdges;
}

template <typename T>
class AsyncFifo {
 public:
  // `to_read`: from cycles of the write clock to those of the read clock.
  AsyncFifo(std::uint32_t depth, const ClockRatio& to_read)
      : to_read_(to_read),
        to_write_(to_read.inverse()),
        capacity_(depth + kAsyncExtra),
        words_(capacity_),
        freed_(capacity_) {}

  void reset() {
    words_.clear();
    freed_.clear();
    last_pop_plus_1_ = 0;
  }

  // --- write side; `now` in its cycles. Before any push of the cycle.
  bool full(Cycle now) {
    forget(now);
    return words_.size() + freed_.size() >= capacity_;
  }
  // The first cycle in which a full FIFO is not full any more, as far as pops are known; else kNever.
  Cycle free_from() const { return freed_.size() == 0 ? kNever : freed_.at(freed_.base()); }
  // Returns the read cycle from which the word can be read.
  Cycle push(Cycle now, const T& value) {
    Slot& slot = words_.push();
    slot.value = value;
    slot.seen = seen_across(to_read_, now);
    return slot.seen;
  }

  // --- read side; `now` in its cycles. At most one pop a cycle.
  bool readable(Cycle now) const { return readable_from() <= now; }
  Cycle readable_from() const {
    return words_.size() == 0 ? kNever : std::max(words_.at(words_.base()).seen, last_pop_plus_1_);
  }
  const T& head() const { return words_.at(words_.base()).value; }
  // Returns the write cycle from which the place counts as free.
  Cycle pop(Cycle now) {
    const Cycle seen = seen_across(to_write_, now);
    words_.drop_front();
    freed_.push() = seen;
    last_pop_plus_1_ = now + 1;
    return seen;
  }

  // Words between the two sides, and places that the writer does not know to be free yet.
  std::uint32_t size() const { return words_.size(); }
  std::uint32_t capacity() const { return capacity_; }

  // `now` of the write side: places that it has seen by then are forgotten, so that the state is the same
  // whether or not it slept.
  void visit(Archive& archive, std::string_view name, Cycle now) {
    forget(now);
    archive.scope(name, [&] {
      archive.computed("count", words_.size(), 16);
      archive.computed("unseen_pops", freed_.size(), 16);
      if (archive.is_checkpoint()) return keep(archive);
      if (!archive.walks_contents()) return;
      for (std::uint32_t p = words_.base(); p != words_.tail(); ++p) {
        archive.memory("word", reinterpret_cast<std::uint8_t*>(&words_.at(p).value), sizeof(T));
        archive.state("seen", words_.at(p).seen);
      }
      for (std::uint32_t p = freed_.base(); p != freed_.tail(); ++p) archive.state("free_from", freed_.at(p));
    });
  }

 private:
  struct Slot {
    T value;
    Cycle seen;  // first read cycle
  };
  void keep(Archive& archive) {
    std::uint32_t words = words_.size(), freed = freed_.size();
    archive.kept("words", words);
    archive.kept("freed", freed);
    archive.kept("last_pop", last_pop_plus_1_);
    if (archive.restores()) {
      KTPU_CHECK(words + freed <= capacity_, "{} words and {} free places in a FIFO of {}", words, freed,
                 capacity_);
      words_.clear();
      freed_.clear();
      for (std::uint32_t n = 0; n < words; ++n) words_.push();
      for (std::uint32_t n = 0; n < freed; ++n) freed_.push();
    }
    for (std::uint32_t p = words_.base(); p != words_.tail(); ++p) {
      archive.kept_memory("word", &words_.at(p).value, 1);
      archive.kept("seen", words_.at(p).seen);
    }
    for (std::uint32_t p = freed_.base(); p != freed_.tail(); ++p) archive.kept("free_from", freed_.at(p));
  }
  void forget(Cycle now) {
    while (freed_.size() != 0 && freed_.at(freed_.base()) <= now) freed_.drop_front();
  }

  ClockRatio to_read_, to_write_;
  std::uint32_t capacity_;
  Ring<Slot> words_;
  Ring<Cycle> freed_;  // write cycles from which popped places count as free
  Cycle last_pop_plus_1_ = 0;
};

}  // namespace ktpu::sim
