// SPDX-License-Identifier: Apache-2.0
// Runs the units of one clock domain in two phases over an activity bitmask. Needs no SystemC: a unit test is
// a plain loop over step().
#pragma once

#include <array>
#include <cstdint>
#include <queue>
#include <vector>

#include "tlm/sim/link.h"
#include "tlm/sim/unit.h"

namespace ktpu::sim {

// Whether this build can be watched (waves). Without, the cycle loop holds no trace of observers: the option
// exists to show what they cost.
#ifdef KTPU_NO_TRACING
inline constexpr bool kTracing = false;
#else
inline constexpr bool kTracing = true;
#endif

// Looks at a settled cycle before it is committed. It must not change units or links.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_cycle(Cycle now) = 0;
  // Cycles first .. end-1 are jumped over: every unit sleeps, so wires and stored registers look like in
  // `first` all the time. Registers may differ from the cycle before (the last clock() changed them).
  virtual void on_skip(Cycle /*first*/, Cycle /*end*/) {}
  // True: on_cycle() is called for each skipped cycle instead, with Engine::now() as if it ran. For those who
  // look at registers that a unit works out from the cycle number.
  virtual bool wants_skipped_cycles() const { return false; }
};

class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Elaboration. Units and observers must outlive the engine's last step.
  void add(Unit& unit);
  void add(LinkBase& link) { links_.push_back(&link); }
  void add(Observer& observer);  // throws UserError in a build without tracing
  void remove(Observer& observer);
  bool observed() const { return kTracing && !observers_.empty(); }
  // Orders the Mealy units and resets everything; call once after the last add().
  void elaborate();
  // Reset of all units; cycle numbers go on, `now()` is the first cycle with reset low.
  void reset();

  // false: every unit runs in every cycle (the slow, obviously right way; results must not differ).
  void set_idle_skip(bool on) { idle_skip_ = on; }
  bool idle_skip() const { return idle_skip_; }

  Cycle now() const { return now_; }  // the next cycle to run
  // Runs cycle now().
  void step();
  // Runs cycles until now() == end, jumping over cycles in which no unit is awake.
  void run_until(Cycle end);
  // The first cycle >= now() in which a unit wants to run; kNever when all sleep until an input.
  Cycle next_event() const;
  // The same whether or not idle cycles are skipped: kNever when no unit has anything left to do.
  Cycle next_wanted() const;
  // Moves to `cycle` (<= next_event()) without running anything.
  void skip_to(Cycle cycle);

  // Cycles run, and cycles jumped over, since the start.
  std::uint64_t cycles_run() const { return cycles_run_; }
  std::uint64_t cycles_skipped() const { return now_ - cycles_run_; }

  const std::vector<Unit*>& units() const { return units_; }
  const std::vector<LinkBase*>& links() const { return links_; }

  // Runs `unit` in cycle `at` (> the current one, or == now() between steps).
  void wake_at(const Unit& unit, Cycle at);

  // Brings lazily kept counters of all units up to date with now().
  void sync();

  // Between steps, for checkpoints: time and who wakes when. Units and links are visited by themselves,
  // before it.
  void visit(Archive& archive);

 private:
  friend class LinkBase;
  friend class Unit;
  static constexpr Cycle kWheel = 64;  // cycles ahead that the wheel covers; later wake-ups go to the heap

  Cycle next_timer() const;  // first wake-up in wheel or heap
  void jump(Cycle cycle);
  void place(Unit& unit, std::size_t index);
  void merge_due();
  void order_mealy();
  void settle_all();
  [[noreturn]] void report_loop() const;

  std::vector<Unit*> units_;
  std::vector<LinkBase*> links_;
  std::vector<Observer*> observers_;
  std::vector<Unit*> mealy_;  // in settling order
  std::uint64_t mealy_bits_ =
      0;                       // their bits, if all units have a place in one word and none in mealy_ twice
  bool mealy_cyclic_ = false;  // no such order exists: settle repeatedly
  std::vector<std::uint64_t> active_;  // units awake in the current cycle
  std::vector<std::uint64_t> next_;    // units awake in the next one
  std::vector<std::uint64_t> all_;
  std::vector<std::uint64_t> working_;  // units that are not free running
  std::vector<std::uint64_t> wheel_;    // kWheel rows of words
  std::uint64_t wheel_used_ = 0;        // bit r: row r holds something
  std::size_t words_ = 0;
  struct Timer {
    Cycle at;
    std::size_t unit;
    bool operator>(const Timer& o) const { return at != o.at ? at > o.at : unit > o.unit; }
  };
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> far_;
  Cycle now_ = 0;
  std::uint64_t cycles_run_ = 0;
  bool idle_skip_ = true;
  bool elaborated_ = false;
};

}  // namespace ktpu::sim
