// SPDX-License-Identifier: Apache-2.0
// Benches of blocks that are units of an engine.
#pragma once

#include <memory>
#include <vector>

#include "apps/ktpu-cosim/bench.h"
#include "tlm/sim/engine.h"
#include "tlm/sim/lockstep.h"

namespace ktpu::cosim {

class UnitBench : public Bench {
 public:
  void run(sim::Cycle cycles) override {
    engine_.run_until(engine_.now() + cycles);
    require_compared();
  }
  sim::Cycle now() const override { return engine_.now(); }
  std::uint64_t values() const override {
    std::uint64_t sum = 0;
    for (const sim::Lockstep* pair : pairs_) sum += pair->compared_values();
    return sum;
  }
  void print_history(std::ostream& out) const override {
    for (const sim::Lockstep* pair : pairs_) pair->print_history(out);
  }
  void write_waves(std::ostream& out) const override { pairs_.front()->write_history_vcd(out); }

 protected:
  // A pair, before elaboration. Throws InternalError unless it is one.
  void stand(std::unique_ptr<sim::Unit> unit) {
    auto* pair = dynamic_cast<sim::Lockstep*>(unit.get());
    KTPU_CHECK(pair != nullptr, "the lock-step implementation is no lock-step pair");
    engine_.add(*unit);
    units_.push_back(std::move(unit));
    pairs_.push_back(pair);
  }
  void require_compared() const {
    for (const sim::Lockstep* pair : pairs_) pair->require_compared();
  }

  sim::Engine engine_;

 private:
  std::vector<std::unique_ptr<sim::Unit>> units_;
  std::vector<sim::Lockstep*> pairs_;
};

}  // namespace ktpu::cosim
