// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/history.h"

#include <algorithm>

#include "arch/error.h"
#include "tlm/observe/glob.h"

namespace ktpu::observe {

// Values between two changes.
class History::Sink final : public WaveSink {
 public:
  Sink(History& history, std::size_t signals)
      : history_(history), since_(signals, sim::kNever), value_(signals) {}

  void begin(sim::Cycle cycle) override { cycle_ = cycle; }
  void change(std::size_t signal, std::span<const std::uint64_t> words) override {
    close(signal, cycle_);
    since_[signal] = cycle_;
    value_[signal] = words.front();
  }
  void close(std::size_t signal, sim::Cycle end) {
    if (since_[signal] < end)
      history_.fill(history_.series_[history_.values_[signal]], since_[signal], end, value_[signal]);
  }

 private:
  History& history_;
  sim::Cycle cycle_ = 0;
  std::vector<sim::Cycle> since_;  // kNever: nothing known yet
  std::vector<std::uint64_t> value_;
};

std::string_view History::Series::formula() const {
  return counts ? "growth in the bucket / its cycles" : "mean over the cycles of the bucket";
}

std::string History::Series::unit() const {
  if (counts) return std::string(entry->unit) + "/cycle";
  return entry->unit.empty() ? "value" : std::string(entry->unit);
}

History::History(const Registry& registry, sim::Engine& engine, const std::vector<std::string>& patterns)
    : engine_(engine), counted_(engine.now()) {
  std::vector<const Entry*> watched;
  for (const Entry* entry : registry.select(patterns)) {
    if (entry->kind == EntryKind::kMemory || entry->width > 64) continue;
    const bool counts = entry->kind == EntryKind::kCounter;
    (counts ? counters_ : values_).push_back(series_.size());
    series_.push_back({entry, counts, {}});
    if (!counts) watched.push_back(entry);
  }
  for (const std::string& pattern : patterns)
    if (std::none_of(series_.begin(), series_.end(),
                     [&](const Series& s) { return selects(pattern, s.entry->path); }))
      throw arch::UserError::make(
          "the history '{}' matches only memories; histories are of counters, registers and wires", pattern);
  sink_ = std::make_unique<Sink>(*this, watched.size());
  sampler_ = std::make_unique<WaveSampler>(watched);
  for (const std::size_t i : counters_) last_count_.push_back(series_[i].entry->read());
}

History::~History() = default;

void History::make_room(sim::Cycle end) {
  while (end > width_ * kBuckets) {
    width_ *= 2;
    for (Series& series : series_) {
      std::vector<Bucket>& b = series.buckets;
      for (std::size_t i = 0; i < b.size(); i += 2) {
        Bucket merged = b[i];
        if (i + 1 < b.size()) {
          merged.least = std::min(merged.least, b[i + 1].least);
          merged.greatest = std::max(merged.greatest, b[i + 1].greatest);
          merged.sum += b[i + 1].sum;
          merged.cycles += b[i + 1].cycles;
        }
        b[i / 2] = merged;
      }
      b.resize((b.size() + 1) / 2);
    }
  }
}

void History::fill(Series& series, sim::Cycle first, sim::Cycle end, std::uint64_t value) {
  make_room(end);
  const std::size_t needed = static_cast<std::size_t>((end - 1) / width_) + 1;
  if (series.buckets.size() < needed) series.buckets.resize(needed);
  while (first < end) {
    const sim::Cycle stop = std::min(end, (first / width_ + 1) * width_);
    Bucket& bucket = series.buckets[static_cast<std::size_t>(first / width_)];
    bucket.least = std::min(bucket.least, value);
    bucket.greatest = std::max(bucket.greatest, value);
    bucket.sum += static_cast<double>(value) * static_cast<double>(stop - first);
    bucket.cycles += stop - first;
    first = stop;
  }
}

void History::count_until(sim::Cycle end) {
  if (end <= counted_) return;
  for (sim::Unit* unit : engine_.units()) unit->sync(end);
  make_room(end);
  const auto at = static_cast<std::size_t>((end - 1) / width_);
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    Series& series = series_[counters_[i]];
    if (series.buckets.size() <= at) series.buckets.resize(at + 1);
    const std::uint64_t count = series.entry->read();
    // A reset may set a counter back.
    series.buckets[at].sum += count < last_count_[i] ? 0 : static_cast<double>(count - last_count_[i]);
    series.buckets[at].cycles += end - counted_;
    last_count_[i] = count;
  }
  counted_ = end;
}

void History::on_cycle(sim::Cycle now) {
  if (!values_.empty()) sampler_->sample(now, *sink_);
  if (!counters_.empty() && now % width_ == 0) count_until(now);
}

void History::on_skip(sim::Cycle first, sim::Cycle end) {
  if (!values_.empty()) sampler_->sample(first, *sink_);
  if (counters_.empty()) return;
  make_room(end);
  for (sim::Cycle at = (first + width_ - 1) / width_ * width_; at < end; at += width_) count_until(at);
}

bool History::wants_skipped_cycles() const { return sampler_->needs_skipped_cycles(); }

void History::finish(sim::Cycle end) {
  for (std::size_t signal = 0; signal < values_.size(); ++signal) sink_->close(signal, end);
  if (!counters_.empty()) count_until(end);
}

}  // namespace ktpu::observe
