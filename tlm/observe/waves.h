// SPDX-License-Identifier: Apache-2.0
// Waves of a run: a file over a time window, or the last N cycles kept in memory and written when something
// goes wrong. Both are observers of an engine: a run without them pays nothing, and what they write does not
// depend on idle skipping.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tlm/observe/vcd_writer.h"
#include "tlm/observe/wave_sampler.h"
#include "tlm/observe/wave_store.h"
#include "tlm/sim/engine.h"

namespace ktpu::observe {

struct WaveOptions {
  std::vector<std::string> scope;  // patterns over registry names; empty: all wires
  sim::Cycle from = 0;             // first cycle in the file
  sim::Cycle to = std::numeric_limits<sim::Cycle>::max() - 1;  // last cycle in the file
  std::uint64_t max_bytes = 4ull << 30;
  double clock_mhz = 300;
};

// Throws UserError for a window that ends before it begins.
const WaveOptions& checked_window(const WaveOptions& options);
// Throws UserError for a ring of no cycles.
sim::Cycle checked_ring(sim::Cycle cycles);
// "120 signals; at most 12.3 kB a cycle if all change".
std::string wave_estimate(std::span<const Signal> signals, const WaveOptions& options);

class WaveFile final : public sim::Observer {
 public:
  // Throws UserError: unknown scope, window upside down, file cannot be made.
  WaveFile(const Registry& registry, const std::string& path, const WaveOptions& options);
  ~WaveFile() override;

  void on_cycle(sim::Cycle now) override;
  void on_skip(sim::Cycle first, sim::Cycle end) override;
  bool wants_skipped_cycles() const override;
  // Ends the file; `end` is the engine's now(). Throws UserError when the disk was full.
  void finish(sim::Cycle end);

  std::size_t signals() const;
  std::uint64_t bytes() const;
  // "120 signals; at most 12.3 kB a cycle if all change": to be shown before a long run.
  std::string estimate() const;
  // What the user must be told after finish(): the limit was hit, the window was never reached. Else empty.
  const std::string& notice() const { return notice_; }

 private:
  class Sink;
  void look(sim::Cycle cycle);

  std::string path_;
  WaveOptions options_;
  TimeBase time_base_;
  WaveSampler sampler_;
  VcdWriter writer_;
  std::unique_ptr<Sink> sink_;
  bool started_ = false;
  bool finished_ = false;
  sim::Cycle limit_cycle_ = sim::kNever;  // where the size limit stopped the file
  std::string notice_;
};

class WaveRing final : public sim::Observer {
 public:
  // Keeps the last `cycles` (>= 1) cycles of what `scope` selects.
  WaveRing(const Registry& registry, const std::vector<std::string>& scope, sim::Cycle cycles);
  ~WaveRing() override;

  void on_cycle(sim::Cycle now) override;
  void on_skip(sim::Cycle first, sim::Cycle end) override;
  bool wants_skipped_cycles() const override;

  // Writes the cycles end-N .. end-1; `end` is the engine's now(), or now()+1 from within a cycle.
  void dump(const std::string& path, sim::Cycle end, double clock_mhz) const;

 private:
  sim::Cycle keep_;
  WaveSampler sampler_;
  std::unique_ptr<WaveStore> store_;
};

}  // namespace ktpu::observe
