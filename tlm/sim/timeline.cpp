// SPDX-License-Identifier: Apache-2.0
#include "tlm/sim/timeline.h"

#include <algorithm>

#include "arch/error.h"

namespace ktpu::sim {

namespace {
// Sleeping engines are brought up to date so often when somebody watches, for what was seen of the others
// cannot be put in order of time before.
constexpr Cycle kObservedStretch = 64;
}  // namespace

void Timeline::add(std::string name, std::uint64_t hertz, Engine& engine) {
  const std::uint64_t base = clocks_.empty() ? hertz : clocks_.front().hertz;
  clocks_.push_back({std::move(name), hertz, &engine, {base, hertz}, {hertz, base}});
  limits_.resize(clocks_.size());
  base_ = clocks_.front().engine;
  single_ = clocks_.size() == 1;
}

const Timeline::Clock& Timeline::clock_of(const Unit& unit) const {
  const auto it = std::find_if(clocks_.begin(), clocks_.end(),
                               [&](const Clock& clock) { return clock.engine == unit.engine(); });
  KTPU_CHECK(it != clocks_.end(), "unit {} is on none of the machine's clocks", unit.name());
  return *it;
}

void Timeline::set_idle_skip(bool on) {
  for (Clock& clock : clocks_) clock.engine->set_idle_skip(on);
}

Cycle Timeline::first(Cycle (Engine::*when)() const) const {
  Cycle first = kNever;
  for (const Clock& clock : clocks_)
    first = std::min(first, clock.to_base.containing((clock.engine->*when)()));
  return first;
}

void Timeline::step() {
  if (!single_) return run_all(first(&Engine::next_event) + 1);
  if (base_->idle_skip()) base_->skip_to(base_->next_event());
  base_->step();
}

void Timeline::run_all(Cycle end) {
  const bool observed = std::any_of(clocks_.begin(), clocks_.end(),
                                    [](const Clock& clock) { return clock.engine->observed(); });
  if (observed)
    while (end - now() > kObservedStretch) run_stretch(now() + kObservedStretch);
  run_stretch(end);
}

void Timeline::run_stretch(Cycle end) {
  for (std::size_t i = 0; i < clocks_.size(); ++i) limits_[i] = clocks_[i].from_base.begun_before(end);
  for (;;) {
    const Clock* next = nullptr;
    Cycle at = 0;
    for (std::size_t i = 0; i < clocks_.size(); ++i) {
      const Clock& clock = clocks_[i];
      const Cycle event = clock.engine->next_event();
      if (event >= limits_[i]) continue;
      if (next == nullptr || begins_before(event, clock.hertz, at, next->hertz)) {
        next = &clock;
        at = event;
      }
    }
    if (next == nullptr) break;
    next->engine->skip_to(at);
    next->engine->step();
  }
  for (std::size_t i = 0; i < clocks_.size(); ++i) clocks_[i].engine->run_until(limits_[i]);
}

void Timeline::sync() {
  for (Clock& clock : clocks_) clock.engine->sync();
}

}  // namespace ktpu::sim
