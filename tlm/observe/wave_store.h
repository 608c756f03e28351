// SPDX-License-Identifier: Apache-2.0
// The changes of the last N cycles of one clock, in bounded memory, and what held before them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tlm/observe/wave_sampler.h"
#include "tlm/sim/cycle.h"

namespace ktpu::observe {

class WaveStore final : public WaveSink {
 public:
  // `keep`: cycles, 1 or more.
  WaveStore(const std::vector<Signal>& signals, sim::Cycle keep);

  void begin(sim::Cycle cycle) override;
  void change(std::size_t signal, std::span<const std::uint64_t> words) override;

  sim::Cycle first_cycle() const { return first_cycle_; }  // that had a change; 0 without any

  // The kept changes again: all values as they were in cycle `start`, then cycle by cycle what changed.
  class Replay {
   public:
    Replay(const WaveStore& store, sim::Cycle start);

    bool known(std::size_t signal) const { return known_[signal]; }
    std::span<const std::uint64_t> value(std::size_t signal) const {
      return std::span(values_).subspan(store_->offset_[signal], store_->size(signal));
    }
    bool done() const { return at_ == store_->words_.size(); }
    sim::Cycle cycle() const { return store_->words_[at_]; }  // of the next changes
    // Calls `each(signal, words)` for them and goes on.
    template <typename F>
    void step(F&& each) {
      at_ = store_->for_changes(at_, each);
    }

   private:
    const WaveStore* store_;
    std::vector<std::uint64_t> values_;
    std::vector<bool> known_;
    std::size_t at_;
  };

 private:
  std::size_t size(std::size_t signal) const { return offset_[signal + 1] - offset_[signal]; }
  // The changes of the cycle at `at`; returns where the next cycle is.
  template <typename F>
  std::size_t for_changes(std::size_t at, F&& each) const {
    std::uint64_t count = words_[at + 1];
    at += 2;
    for (; count > 0; --count) {
      const std::size_t signal = words_[at];
      each(signal, std::span(words_).subspan(at + 1, size(signal)));
      at += 1 + size(signal);
    }
    return at;
  }
  std::size_t apply(std::size_t at, std::vector<std::uint64_t>& values, std::vector<bool>& known) const;
  void forget_before(sim::Cycle cycle);

  sim::Cycle keep_;
  std::vector<std::size_t> offset_;  // of a signal's words among values
  std::vector<std::uint64_t> base_;  // values before the oldest kept cycle
  std::vector<bool> known_;
  std::vector<std::uint64_t> words_;  // cycle, number of changes, then signal and words of each
  std::size_t head_ = 0;              // the oldest kept cycle
  std::size_t count_at_ = 0;
  sim::Cycle first_cycle_ = 0;
  bool any_ = false;
};

}  // namespace ktpu::observe
