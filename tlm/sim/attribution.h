// SPDX-License-Identifier: Apache-2.0
// Where the cycles of an engine go: what it does or waits for, one of a few states in every cycle. The states
// exclude each other and together cover all cycles, so their counters add up to the cycles of the run.
//
// When several causes hold at once, the first in the list of states wins; the last in the list is what is
// left when none does. Cycles are added up when the state changes, so an engine that sleeps costs nothing and
// one that runs in every cycle compares two enums:
//
//   clock(now):  cycles_.enter(now, State::kMoving);       // what cycle `now` turned out to be
//                cycles_.enter(now + 1, State::kIdle);     // what it is from then on if nothing happens
//   sync(now):   cycles_.sync(now);
//
// A unit that sleeps may only rely on what the passage of time alone does not change: else it has to say when
// (enter() with a later cycle is not allowed) or to wake up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tlm/sim/archive.h"
#include "tlm/sim/cycle.h"

namespace ktpu::sim {

struct CycleState {
  std::string_view name;      // "stalled"
  std::string_view sentence;  // what one cycle of it means
};

// `State`: an enum that numbers the entries of `kStates` (std::array<CycleState, N>), first priority first.
template <typename State, const auto& kStates>
class Attribution {
 public:
  static constexpr std::size_t kCount = kStates.size();
  static constexpr State kRest = static_cast<State>(kCount - 1);

  // Reset of the machine: at rest from `start` on. The counters go on, as the cycles of the run do.
  void reset(Cycle start) { enter(start, kRest); }

  // In state `state` from cycle `from` on; `from` is not before that of the call before. A call with the same
  // cycle replaces what the one before said.
  void enter(Cycle from, State state) {
    if (state == state_) return;
    add(from);
    state_ = state;
  }

  // Counts the cycles before `now`.
  void sync(Cycle now) {
    if (now > since_) add(now);
  }

  State state() const { return state_; }
  std::uint64_t cycles(State state) const { return cycles_[static_cast<std::size_t>(state)]; }

  // Counters ENGINE.cycles.STATE, if called inside the scope of the engine.
  void visit(Archive& archive) {
    archive.scope("cycles", [&] {
      for (std::size_t i = 0; i < kCount; ++i)
        archive.exclusive(kStates[i].name, cycles_[i], static_cast<unsigned>(i) + 1, kStates[i].sentence);
      archive.kept("state", state_);
      archive.kept("since", since_);
    });
  }

 private:
  void add(Cycle end) {
    cycles_[static_cast<std::size_t>(state_)] += end - since_;
    since_ = end;
  }

  State state_ = kRest;
  Cycle since_ = 0;
  std::array<std::uint64_t, kCount> cycles_{};
};

}  // namespace ktpu::sim
