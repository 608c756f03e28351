// SPDX-License-Identifier: Apache-2.0
// Finds out, once a cycle, which of the watched values changed. Links are looked at valid and busy first; the
// flit is compared only where it is valid.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tlm/observe/computed_values.h"
#include "tlm/observe/registry.h"
#include "tlm/observe/vcd_writer.h"

namespace ktpu::observe {

// The entries waves can show, picked by patterns: wires and states. Without patterns: all wires. Throws
// UserError for a pattern that selects nothing that can be shown.
std::vector<const Entry*> wave_entries(const Registry& registry, const std::vector<std::string>& patterns);

// Gets the changes of one cycle.
class WaveSink {
 public:
  virtual ~WaveSink() = default;
  virtual void begin(sim::Cycle cycle) = 0;  // before the first change of a cycle; not called without one
  virtual void change(std::size_t signal, std::span<const std::uint64_t> words) = 0;
};

class WaveSampler {
 public:
  explicit WaveSampler(const std::vector<const Entry*>& entries);

  const std::vector<Signal>& signals() const { return signals_; }  // in the order of `entries`

  // Whether something watched may change while its unit sleeps: registers are then to be sampled in skipped
  // cycles, too. Wires never do.
  bool needs_skipped_cycles() const { return !synced_.empty(); }

  // Compares everything with the last call and reports what differs. The first call reports every value but
  // those of flits that are not valid.
  void sample(sim::Cycle cycle, WaveSink& sink);
  // The value a signal had at the last sample; empty: a flit not yet seen valid.
  std::span<const std::uint64_t> value(std::size_t signal) const;

 private:
  static constexpr std::uint32_t kUnwatched = ~0u;
  struct WatchedField {
    std::uint32_t signal;
    std::uint16_t lsb;
    std::uint16_t width;
  };
  struct WatchedLink {
    const sim::LinkBase* link = nullptr;
    const sim::FlitLink* flits = nullptr;  // null: no field is watched
    std::uint32_t valid_signal = kUnwatched;
    std::uint32_t busy_signal = kUnwatched;
    std::uint32_t first_field = 0, end_field = 0;  // in fields_
    std::uint8_t last = 0xFF;                      // valid | busy << 1; 0xFF: not sampled yet
    bool seen_flit = false;
    arch::Flit last_flit;
  };
  struct WatchedValue {
    const void* address;
    std::uint64_t mask;
    std::uint64_t last;
    std::uint32_t signal;
    std::uint32_t bytes;
  };
  struct WatchedComputed {
    std::size_t ordinal;  // among the unit's worked-out values
    std::uint64_t mask;
    std::uint32_t signal;
  };
  struct WatchedUnit {  // visited once a cycle for all its occupancies and the like
    sim::Unit* unit;
    std::vector<WatchedComputed> values;
  };
  struct WatchedFunction {
    const Entry* entry;
    std::uint32_t signal;
  };

  void watch_wire(const Entry& entry, std::uint32_t signal);
  void sample_links();
  void sample_flit(WatchedLink& watched);
  void sample_values();
  void sample_computed();
  void report_if_changed(std::uint32_t signal, std::uint64_t value);
  // Stores and reports a new value.
  void report(std::uint32_t signal, std::span<const std::uint64_t> words);

  std::vector<Signal> signals_;
  std::vector<WatchedLink> links_;
  std::vector<WatchedField> fields_;  // of one link together
  std::vector<WatchedValue> values_;
  std::vector<sim::Unit*> synced_;  // owners of watched registers: they may keep them lazily
  std::vector<WatchedUnit> units_;
  std::vector<WatchedFunction> functions_;
  ComputedValues computed_;
  std::vector<std::uint32_t> offset_;  // of a signal's words in store_
  std::vector<std::uint64_t> store_;   // last value of every signal
  std::vector<bool> known_;
  WaveSink* sink_ = nullptr;  // during sample()
  sim::Cycle cycle_ = 0;
  bool any_ = false;  // something of this cycle was reported
  bool first_ = true;
};

}  // namespace ktpu::observe
