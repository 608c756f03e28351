// SPDX-License-Identifier: Apache-2.0
// Values over time in bounded memory: queue depths and credit as least, mean and greatest value, counters
// (the use of a link) as their growth, in buckets of equal width that are merged in pairs when the run
// outgrows them. An observer of an engine: a run without one pays nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tlm/observe/wave_sampler.h"
#include "tlm/sim/engine.h"

namespace ktpu::observe {

class History final : public sim::Observer {
 public:
  static constexpr std::size_t kBuckets = 512;

  struct Bucket {
    std::uint64_t least = ~0ull, greatest = 0;  // values
    double sum = 0;                             // of value * cycles, or growth of a counter
    sim::Cycle cycles = 0;                      // covered
    double mean() const { return cycles == 0 ? 0 : sum / static_cast<double>(cycles); }
  };
  struct Series {
    const Entry* entry;
    bool counts;  // a counter: mean() is its growth per cycle
    std::vector<Bucket> buckets;
    // "mean value", "growth per cycle"
    std::string_view formula() const;
    std::string unit() const;
  };

  // Records what `patterns` (over registry names) select of wires, states and counters. Throws UserError for
  // a pattern that selects nothing of these.
  History(const Registry& registry, sim::Engine& engine, const std::vector<std::string>& patterns);
  ~History() override;

  void on_cycle(sim::Cycle now) override;
  void on_skip(sim::Cycle first, sim::Cycle end) override;
  bool wants_skipped_cycles() const override;
  // Ends the record; `end` is the engine's now(), which has been synced.
  void finish(sim::Cycle end);

  sim::Cycle width() const { return width_; }                    // cycles of a bucket, a power of two
  const std::vector<Series>& series() const { return series_; }  // in registry order

 private:
  class Sink;
  // Buckets for cycles below `end`.
  void make_room(sim::Cycle end);
  // Value `value` in cycles first .. end-1.
  void fill(Series& series, sim::Cycle first, sim::Cycle end, std::uint64_t value);
  void count_until(sim::Cycle end);  // growth of the counters before `end`

  sim::Engine& engine_;
  sim::Cycle width_ = 1;
  std::vector<Series> series_;
  std::vector<std::size_t> values_, counters_;  // indices into series_
  std::unique_ptr<Sink> sink_;
  std::unique_ptr<WaveSampler> sampler_;
  std::vector<std::uint64_t> last_count_;  // by counter
  sim::Cycle counted_ = 0;                 // cycles below are in the buckets of the counters
};

}  // namespace ktpu::observe
