// SPDX-License-Identifier: Apache-2.0
// The DRAM and its bus on a clock of their own: two units of that clock.
#pragma once

#include <cstdint>
#include <string>

#include "tlm/memory/dram_bus.h"
#include "tlm/sim/unit.h"

namespace ktpu::memory {

// Runs the bus and the device. Called like the path ("memory.dram_path"): names of counters do not depend on
// the clock they are counted by.
class DramBusUnit final : public sim::Unit {
 public:
  // `agent` is the unit that runs the path, `path_due` its cycle for that.
  DramBusUnit(std::string name, DramBus& bus, const sim::ClockRatio& to_path, sim::Unit& agent,
              sim::Cycle& path_due);

  void set_probe(MemoryProbe* probe) { probe_ = probe; }

  // From the path, whenever it changes: what the bus is concerned with for its account of cycles. `from`: the
  // first cycle here that sees it.
  struct Level {
    bool reads = false;                   // granted reads have data to come
    std::uint32_t writes = 0, beats = 0;  // granted, pushed since reset, modulo 2^32
    bool operator==(const Level&) const = default;
  };
  void tell(const Level& level, sim::Cycle from);

  // The last cycle of the path in which, or while which, a handshake began on the bus; kNever before the
  // first. `now` is the present one.
  sim::Cycle last_handshake(sim::Cycle now) const;

  void reset(sim::Cycle start) override;
  void drive(sim::Cycle) override {}
  sim::Cycle clock(sim::Cycle now) override;
  void visit(sim::Archive& archive) override;
  void sync(sim::Cycle now) override { bus_.sync(now); }

 private:
  bool r_full(sim::Cycle now) const;
  DramBus::Ahead ahead(sim::Cycle at) const;
  bool handshake_due(sim::Cycle at) const;
  sim::Cycle next(sim::Cycle now) const;

  DramBus& bus_;
  ClockBorder border_;
  MemoryProbe* probe_ = nullptr;
  Level level_, before_;  // what is seen from `level_from_` on, and until then
  sim::Cycle level_from_ = 0;
  sim::Cycle last_handshake_ = sim::kNever;
};

// Shows the registers of the device as those of its clock; the bus runs it.
class DramChip final : public sim::Unit {
 public:
  DramChip(std::string name, DramDevice& device) : Unit(std::move(name)), device_(device) {}

  void reset(sim::Cycle) override {}
  void drive(sim::Cycle) override {}
  sim::Cycle clock(sim::Cycle) override { return sim::kNever; }
  void visit(sim::Archive& archive) override { device_.visit(archive); }

 private:
  DramDevice& device_;
};

}  // namespace ktpu::memory
