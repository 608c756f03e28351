// SPDX-License-Identifier: Apache-2.0
// The clocks of a machine: one engine each, run in the order in which their cycles begin. The first one is
// the base clock (the fabric's): limits, program and reports count its cycles. With a single clock every call
// goes straight to that engine.
//
// Between calls all engines stand at the same instant: when the base clock has run cycles 0 .. n-1, every
// other clock has run the cycles that begin before base cycle n does. What crosses is seen in cycles of the
// other clock that begin later, so the order of two that begin at the same instant makes no difference; the
// lower index goes first all the same. There is no state here but the engines' own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tlm/sim/clock_ratio.h"
#include "tlm/sim/engine.h"

namespace ktpu::sim {

class Timeline {
 public:
  struct Clock {
    std::string name;
    std::uint64_t hertz = 0;
    Engine* engine = nullptr;
    ClockRatio from_base;
    ClockRatio to_base;
  };

  // Elaboration: the base clock first. Engines must outlive the timeline.
  void add(std::string name, std::uint64_t hertz, Engine& engine);
  const std::vector<Clock>& clocks() const { return clocks_; }
  const Clock& clock_of(const Unit& unit) const;
  bool single() const { return single_; }

  void set_idle_skip(bool on);
  bool idle_skip() const { return base_->idle_skip(); }

  // All in cycles of the base clock; see Engine for what they mean.
  Cycle now() const { return base_->now(); }
  Cycle next_event() const { return single_ ? base_->next_event() : first(&Engine::next_event); }
  Cycle next_wanted() const { return single_ ? base_->next_wanted() : first(&Engine::next_wanted); }
  // Runs the next cycle in which something happens, those jumped over before it included.
  void step();
  void run_until(Cycle end) { single_ ? base_->run_until(end) : run_all(end); }
  void sync();

 private:
  Cycle first(Cycle (Engine::*when)() const) const;
  void run_all(Cycle end);
  void run_stretch(Cycle end);

  Engine* base_ = nullptr;
  bool single_ = true;
  std::vector<Clock> clocks_;
  std::vector<Cycle> limits_;  // of run_stretch(), kept to allocate nothing
};

}  // namespace ktpu::sim
