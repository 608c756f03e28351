// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/wave_store.h"

#include <algorithm>

namespace ktpu::observe {

WaveStore::WaveStore(const std::vector<Signal>& signals, sim::Cycle keep) : keep_(keep) {
  for (const Signal& signal : signals) {
    offset_.push_back(base_.size());
    base_.resize(base_.size() + (signal.width + 63) / 64, 0);
  }
  offset_.push_back(base_.size());
  known_.assign(signals.size(), false);
}

void WaveStore::begin(sim::Cycle cycle) {
  forget_before(cycle + 1 > keep_ ? cycle + 1 - keep_ : 0);
  if (!any_) first_cycle_ = cycle;
  any_ = true;
  words_.push_back(cycle);
  count_at_ = words_.size();
  words_.push_back(0);
}

void WaveStore::change(std::size_t signal, std::span<const std::uint64_t> words) {
  ++words_[count_at_];
  words_.push_back(signal);
  words_.insert(words_.end(), words.begin(), words.end());
}

std::size_t WaveStore::apply(std::size_t at, std::vector<std::uint64_t>& values,
                             std::vector<bool>& known) const {
  return for_changes(at, [&](std::size_t signal, std::span<const std::uint64_t> words) {
    std::copy(words.begin(), words.end(), values.begin() + static_cast<std::ptrdiff_t>(offset_[signal]));
    known[signal] = true;
  });
}

void WaveStore::forget_before(sim::Cycle cycle) {
  while (head_ < words_.size() && words_[head_] < cycle) head_ = apply(head_, base_, known_);
  if (head_ > words_.size() / 2 && head_ > 4096) {
    words_.erase(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }
}

WaveStore::Replay::Replay(const WaveStore& store, sim::Cycle start)
    : store_(&store), values_(store.base_), known_(store.known_), at_(store.head_) {
  while (!done() && cycle() <= start) at_ = store.apply(at_, values_, known_);
}

}  // namespace ktpu::observe
