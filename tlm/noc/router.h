// SPDX-License-Identifier: Apache-2.0
// The mesh router (fabric.md sections 6 and 7) as units: one router alone, or all the model routers of a
// mesh.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tlm/noc/router_core.h"
#include "tlm/sim/unit.h"

namespace ktpu::noc {

// One router in a socket of its own: what lock-step and unit tests use.
class Router final : public sim::Unit {
 public:
  using Ports = RouterPorts;

  Router(std::string name, const RouterParams& params, const Ports& ports);

  void reset(sim::Cycle start) override { core_.reset(start); }
  void drive(sim::Cycle now) override { core_.drive(now, false); }  // every link is to the outside
  sim::Cycle clock(sim::Cycle now) override { return core_.clock(now); }
  void visit(sim::Archive& archive) override;
  void sync(sim::Cycle now) override { core_.sync(now); }
  std::vector<sim::Wait> waits(sim::Cycle) const override { return core_.waits(0); }

  const RouterParams& params() const { return core_.params(0); }
  // Flits sent into empty slots: lost silently by the machine (fabric.md section 6.1), counted here.
  std::uint64_t lost() const { return core_.lost(0); }
  // Flits inside: FIFOs, holding slots and output registers.
  std::uint32_t flits_inside() const { return core_.flits_inside(0, sim::kNever); }

 private:
  RouterCore core_;
};

// Many routers that run together. The links between two of them are up to date for observers of the engine
// and after Engine::sync(), not in between. Each has a view: a unit that is never awake and gives it its
// name, its registers and counters, and its place in reports.
class RouterBank final : public sim::Unit {
 public:
  class View final : public sim::Unit {
   public:
    View(std::string name, RouterBank& bank, unsigned number, const RouterPorts& ports)
        : Unit(std::move(name)), bank_(bank), number_(number), ports_(ports) {}
    void reset(sim::Cycle) override {}
    void drive(sim::Cycle) override {}
    sim::Cycle clock(sim::Cycle) override { return sim::kNever; }
    void visit(sim::Archive& archive) override;
    std::vector<sim::Wait> waits(sim::Cycle) const override { return bank_.core_.waits(number_); }
    Faces faces() const override;
    std::uint64_t lost() const { return bank_.core_.lost(number_); }

   private:
    RouterBank& bank_;
    unsigned number_;
    RouterPorts ports_;
  };

  explicit RouterBank(std::string name) : Unit(std::move(name)) {}

  // Elaboration: adds a router and returns its view, which must outlive the bank's last use by nobody else.
  std::unique_ptr<View> add(std::string name, const RouterParams& params, const RouterPorts& ports);
  // After the last add().
  void connect() { core_.connect(); }

  void reset(sim::Cycle start) override { core_.reset(start); }
  void drive(sim::Cycle now) override;
  sim::Cycle clock(sim::Cycle now) override { return core_.clock(now); }
  void sync(sim::Cycle now) override { core_.sync(now); }
  std::uint64_t progress() const override;

 private:
  RouterCore core_;
  unsigned routers_ = 0;
};

}  // namespace ktpu::noc
