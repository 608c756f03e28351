// SPDX-License-Identifier: Apache-2.0
// A host with a fixed period an access: one register transaction at a time, address in t, effect at the end
// of t+1, data in t+2, the next one at t+period (vectors/programs/README.md, "Host").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tlm/memory/window_bus.h"
#include "tlm/orchestrator/poll_text.h"
#include "tlm/orchestrator/register_bus.h"
#include "tlm/sim/unit.h"

namespace ktpu::orchestrator {

// What a host does next.
struct HostAction {
  enum class Kind : std::uint8_t {
    kWrite,        // one register write
    kRead,         // one register read; the value goes to HostScript::read_data()
    kWindowWrite,  // one burst through the memory window; the words come from HostScript::window_word()
    kWindowRead,   // the same, to HostScript::window_data()
    kWait,         // nothing until cycle `until`
    kQuiet,        // nothing until `cycles` cycles without a DRAM handshake have passed since `since`
    kIdle,         // nothing until Host::poke()
    kDone,
  };
  Kind kind = Kind::kDone;
  std::uint8_t bus = 0;       // which of the host's buses, or of its windows
  std::uint32_t offset = 0;   // register
  std::uint64_t data = 0;     // of a write
  sim::Cycle until = 0;       // kWait
  std::uint32_t cycles = 0;   // kQuiet
  std::uint64_t address = 0;  // window: 40 bits, a multiple of 32
  std::uint32_t beats = 0;    // window: 1..256
};

// Where a host's actions come from. Called in the cycle in which the action starts.
class HostScript {
 public:
  virtual ~HostScript() = default;
  virtual HostAction next(sim::Cycle now) = 0;
  // Both in the cycle of the response, one before the next action can start.
  virtual void read_data(sim::Cycle now, std::uint64_t value) = 0;
  virtual void written(sim::Cycle /*now*/) {}
  // The `beat`th word of the window write under way.
  virtual memory::WindowWord window_word(std::uint32_t /*beat*/) { return {}; }
  // A word of the window read under way, in the cycle it came; written() follows the last one, as it follows
  // the response of a window write.
  virtual void window_data(sim::Cycle /*now*/, std::uint32_t /*beat*/, const memory::WindowWord& /*word*/) {}
  // What it waits for, for the watchdog; empty when done.
  virtual std::string waiting_for() const = 0;
  // Its place in the script, for checkpoints.
  virtual void visit(sim::Archive& archive) { archive.unreachable("state of the host's script"); }
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
  // `windows`: the memory windows that it reaches, if any.
  Host(std::string name, const HostParams& params, std::vector<RegisterBus*> buses, const QuietSource* quiet,
       std::vector<memory::WindowBus*> windows = {});

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
  bool on_window() const {
    return action_.kind == HostAction::Kind::kWindowWrite || action_.kind == HostAction::Kind::kWindowRead;
  }
  void drive_window(sim::Cycle now);
  void clock_window(sim::Cycle now);

  HostParams params_;
  std::vector<RegisterBus*> buses_;
  std::vector<memory::WindowBus*> windows_;
  const QuietSource* quiet_;
  HostScript* script_ = nullptr;
  HostAction action_{};
  bool in_flight_ = false, beat_on_ = false, done_ = false, waiting_ = false, idle_ = false;
  // A window burst under way.
  bool window_address_ = false;    // not yet taken
  std::uint32_t window_beat_ = 0;  // next word to send or to receive
  bool window_shown_ = false;      // that word is on the wires
  sim::Cycle address_at_ = 0;      // cycle of the current transaction's address
  sim::Cycle ready_at_ = 0;        // next action starts here
  sim::Cycle quiet_since_ = 0;
  sim::Cycle end_cycle_ = 0;
  std::uint64_t writes_ = 0, reads_ = 0, window_words_ = 0;
};

}  // namespace ktpu::orchestrator
