// SPDX-License-Identifier: Apache-2.0
// A host with a fixed period an access: one register transaction at a time, address in t, effect at the end
// of t+1, data in t+2, the next one at t+period (vectors/programs/README.md, "Host").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tlm/orchestrator/poll_text.h"
#include "tlm/orchestrator/register_bus.h"
#include "tlm/sim/unit.h"

namespace ktpu::orchestrator {

// What a host does next.
struct HostAction {
  enum class Kind : std::uint8_t {
    kWrite,  // one register write
    kRead,   // one register read; the value goes to HostScript::read_data()
    kWait,   // nothing until cycle `until`
    kQuiet,  // nothing until `cycles` cycles without a DRAM handshake have passed since `since`
    kIdle,   // nothing until Host::poke()
    kDone,
  };
  Kind kind = Kind::kDone;
  std::uint8_t bus = 0;      // which of the host's buses
  std::uint32_t offset = 0;  // register
  std::uint64_t data = 0;    // of a write
  sim::Cycle until = 0;      // kWait
  std::uint32_t cycles = 0;  // kQuiet
};

// Where a host's actions come from. Called in the cycle in which the action starts.
class HostScript {
 public:
  virtual ~HostScript() = default;
  virtual HostAction next(sim::Cycle now) = 0;
  // Both in the cycle of the response, one before the next action can start.
  virtual void read_data(sim::Cycle now, std::uint64_t value) = 0;
  virtual void written(sim::Cycle /*now*/) {}
  // What it waits for, for the watchdog; empty when done.
  virtual std::string waiting_for() const = 0;
  // The poll it is at, if any.
  virtual std::optional<PendingPoll> pending_poll() const { return std::nullopt; }
};

// When the DRAM last moved: the later of all address, data and response handshakes.
class QuietSource {
 public:
  virtual ~QuietSource() = default;
  virtual sim::Cycle last_dram_handshake() const = 0;
  virtual bool any_dram_handshake() const = 0;
};

struct HostParams {
  unsigned write_cycles = 3;   // address to next address, >= 3
  unsigned read_cycles = 3;    // >= 3
  unsigned start_cycles = 40;  // first action, from the first cycle with reset low
};

class Host final : public sim::Unit {
 public:
  Host(std::string name, const HostParams& params, std::vector<RegisterBus*> buses, const QuietSource* quiet);

  // Must be set before the first step; `script` must outlive the run.
  void set_script(HostScript* script) { script_ = script; }
  // Something outside gave the script work again (see kIdle). Between cycles only.
  void poke() {
    idle_ = false;
    wake_next();
  }
  bool done() const { return done_; }
  std::optional<PendingPoll> pending_poll() const {
    return done_ || script_ == nullptr ? std::nullopt : script_->pending_poll();
  }
  // The cycle in which the script said it was done: the first one after its last transaction.
  sim::Cycle end_cycle() const { return end_cycle_; }

  void reset(sim::Cycle start) override;
  void drive(sim::Cycle now) override;
  sim::Cycle clock(sim::Cycle now) override;
  void visit(sim::Archive& archive) override;
  std::vector<sim::Wait> waits(sim::Cycle now) const override;
  std::uint64_t progress() const override { return writes_; }  // polls are none

 private:
  HostParams params_;
  std::vector<RegisterBus*> buses_;
  const QuietSource* quiet_;
  HostScript* script_ = nullptr;
  HostAction action_{};
  bool in_flight_ = false, beat_on_ = false, done_ = false, waiting_ = false, idle_ = false;
  sim::Cycle address_at_ = 0;  // cycle of the current transaction's address
  sim::Cycle ready_at_ = 0;    // next action starts here
  sim::Cycle quiet_since_ = 0;
  sim::Cycle end_cycle_ = 0;
  std::uint64_t writes_ = 0, reads_ = 0;
};

}  // namespace ktpu::orchestrator
