// SPDX-License-Identifier: Apache-2.0
// The asynchronous FIFOs of the DRAM bus between two clocks, as one of the two sides sees them (fabric.md
// section 1.2). A word is readable from the seventh read edge strictly after the write edge, as in
// sim::AsyncFifo. Its place is free for the writer from the first write cycle that begins when the cycle of
// its pop is over: with the next cycle at equal clocks, so that two equal clocks are the machine of one clock
// even when a FIFO is full.
//
// A sim::Fifo compares cycles of its reader only, so it serves here too: the writer stamps its words in
// cycles of the reader. What one side does is seen by the other in cycles that begin later: in which order
// the two run at one instant makes no difference.
#pragma once

#include "arch/encoding/latencies.h"
#include "tlm/sim/async_fifo.h"
#include "tlm/sim/clock_ratio.h"
#include "tlm/sim/engine.h"
#include "tlm/sim/fifo.h"

namespace ktpu::memory {

class ClockBorder {
 public:
  // `there`: from cycles of this side to those of the other.
  explicit ClockBorder(const sim::ClockRatio& there) : there_(there), back_(there.inverse()) {}
  // The unit of the other side. `due`, if any: the cycle in which it has to look at the FIFOs next.
  void set_other(sim::Unit& other, sim::Cycle* due = nullptr) {
    other_ = &other;
    due_ = due;
  }
  bool crosses() const { return other_ != nullptr; }

  // The first cycle there that begins when cycle `now` is over.
  sim::Cycle after(sim::Cycle now) const { return there_.begun_before(now + 1); }
  // The cycle there in which cycle `now` begins.
  sim::Cycle containing(sim::Cycle now) const { return there_.containing(now); }
  // The cycle here that begins with cycle `there` of the other side; kNever if none does.
  sim::Cycle beginning_with(sim::Cycle there) const {
    const sim::Cycle here = back_.containing(there);
    return back_.begun_before(there) == here ? here : sim::kNever;
  }
  void wake(sim::Cycle at) const {
    if (due_ != nullptr && at < *due_) *due_ = at;
    other_->engine()->wake_at(*other_, at);
  }

  // --- as the writer
  template <typename T>
  bool full(const sim::Fifo<T>& fifo, sim::Cycle now) const {
    return fifo.full() || (fifo.size() + 1 == fifo.capacity() && free_from(fifo) > now);
  }
  // The first cycle from `soon` on in which it is not full; kNever if only another pop changes that: it
  // wakes.
  template <typename T>
  sim::Cycle room_from(const sim::Fifo<T>& fifo, sim::Cycle soon) const {
    if (fifo.full()) return sim::kNever;
    return full(fifo, soon) ? free_from(fifo) : soon;
  }
  // From when on the last pop is known here.
  template <typename T>
  sim::Cycle free_from(const sim::Fifo<T>& fifo) const {
    return back_.begun_before(fifo.last_pop_end());
  }
  template <typename T>
  void push(sim::Fifo<T>& fifo, sim::Cycle now, const T& word) const {
    const sim::Cycle seen = sim::seen_across(there_, now);
    fifo.push(seen - kLatency, word);  // may wrap below 0, and back
    wake(seen);
  }

  // --- as the reader
  template <typename T>
  void pop(sim::Fifo<T>& fifo, sim::Cycle now) const {
    const bool was_full = fifo.full();
    fifo.pop(now);
    if (was_full) wake(after(now));
  }

 private:
  static constexpr sim::Cycle kLatency = sim::FifoShape::async(1).latency;
  static_assert(kLatency == sim::kCrossingEdges + 1 && kLatency == arch::latency::kAsyncFifo.value);

  sim::ClockRatio there_, back_;
  sim::Unit* other_ = nullptr;
  sim::Cycle* due_ = nullptr;
};

}  // namespace ktpu::memory
