// SPDX-License-Identifier: Apache-2.0
// Something clocked. One cycle of a domain is: drive() of all awake units, settle() of the Mealy ones,
// observers, clock() of all awake units. The rule that makes the order of units irrelevant: clock() never
// writes a link, and drive() never reads one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arch/flit.h"
#include "tlm/sim/archive.h"
#include "tlm/sim/cycle.h"

namespace ktpu::sim {

class Engine;
class LinkBase;
class Unit;

// One thing a unit waits for, as an edge of the wait-for graph a run that stands still is diagnosed from
// (tlm/platform/wait_graph.h): which part of the unit waits, for what, and who should act. Whoever should act
// is named by one of `over`, `on` and `node`; by `on_part` alone, it is another part of the same unit; by
// none of them, it is unknown, or nobody can any more.
struct Wait {
  std::string what;                      // "1 read response (FILL A, 127 of 128 entries placed)"
  const Unit* on = nullptr;              // who should act, when known
  std::string part = {};                 // of this unit: "sequencer"; empty: all of it
  std::string on_part = {};              // of the one who should act
  std::string_view kind = {};            // what for, short and stable ("read-response"): rules look for it
  const LinkBase* over = nullptr;        // its receiver should take the flit that is offered on it
  std::optional<arch::Coord> node = {};  // the unit at this place in the same mesh should act
  Cycle since = kNever;                  // first cycle of the wait, when known
  bool note = false;                     // no wait, but what often explains one
};

class Unit {
 public:
  explicit Unit(std::string name) : name_(std::move(name)) {}
  virtual ~Unit() = default;
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;

  const std::string& name() const { return name_; }

  // Power-up or reset: `start` is the first cycle with reset low. The engine wakes the unit for it.
  virtual void reset(Cycle start) = 0;

  // Outputs of cycle `now` from the state. Must be idempotent and may skip wires that did not change.
  virtual void drive(Cycle now) = 0;

  // Samples the inputs of cycle `now` and computes the state of now+1. Returns the next cycle in which the
  // unit must run even if no input becomes valid: now+1 while busy, a later cycle to sleep until then, kNever
  // to sleep until an input is offered. A unit may sleep only if its outputs as last driven stay right
  // meanwhile, and running it while asleep must change nothing (the engine can be told never to let units
  // sleep).
  virtual Cycle clock(Cycle now) = 0;

  // Mealy units only: outputs that look at an input of the same cycle, after all drive() calls. Returns true
  // if a wire changed. Reads and writes exactly the links it declares below.
  virtual bool is_mealy() const { return false; }
  virtual bool settle(Cycle /*now*/) { return false; }
  virtual std::vector<const LinkBase*> settle_reads() const { return {}; }
  virtual std::vector<const LinkBase*> settle_writes() const { return {}; }

  // Every register, memory and counter, once. `now` values of lazily kept counters are brought up to date by
  // sync(), which the engine calls before it lets anything read them.
  virtual void visit(Archive& /*archive*/) {}
  virtual void sync(Cycle /*now*/) {}

  // Units that run inside this one (a lock-step pair) and are not added to an engine themselves: their links
  // and wake-ups count for this one. Asked once, by Engine::add().
  virtual std::vector<Unit*> parts() const { return {}; }
  // Whether the engine calls settle() of Mealy parts, each in its own place of the settling order; else the
  // unit does it in its own.
  virtual bool parts_settle_apart() const { return false; }

  // A unit that has to run in every cycle even with nothing to do (the counters of an RTL twin) says so, and
  // whether it has anything left to do but that: a run is over when all that is awake is resting.
  virtual bool free_running() const { return false; }
  virtual bool resting() const { return true; }

  // The links of a unit that another one runs (a router of a bank): their counts are this unit's in reports.
  struct Faces {
    std::vector<const LinkBase*> in, out;
  };
  virtual Faces faces() const { return {}; }

  // Grows with every step towards an end that no link shows (a long sweep); the watchdog compares it.
  virtual std::uint64_t progress() const { return 0; }

  // Why the unit is not done; empty if it has nothing to do.
  virtual std::vector<Wait> waits(Cycle /*now*/) const { return {}; }

  Engine* engine() const { return engine_; }
  std::size_t index() const { return index_; }

 protected:
  // Makes the unit run in the next cycle. For events that do not come over a link (a host call, a back door).
  void wake_next();

 private:
  friend class Engine;
  std::string name_;
  Engine* engine_ = nullptr;
  std::size_t index_ = 0;
};

}  // namespace ktpu::sim
