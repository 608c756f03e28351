// SPDX-License-Identifier: Apache-2.0
// Benches of blocks that are units of an engine.
#pragma once

#include <memory>

#include "apps/ktpu-cosim/bench.h"
#include "tlm/sim/engine.h"
#include "tlm/sim/lockstep.h"

namespace ktpu::cosim {

class UnitBench : public Bench {
 public:
  void run(sim::Cycle cycles) override {
    engine_.run_until(engine_.now() + cycles);
    pair_->require_compared();
  }
  sim::Cycle now() const override { return engine_.now(); }
  std::uint64_t values() const override { return pair_->compared_values(); }
  void print_history(std::ostream& out) const override { pair_->print_history(out); }
  void write_waves(std::ostream& out) const override { pair_->write_history_vcd(out); }

 protected:
  // The pair; once, before elaboration. Throws InternalError unless it is one.
  void stand(std::unique_ptr<sim::Unit> unit) {
    unit_ = std::move(unit);
    pair_ = dynamic_cast<sim::Lockstep*>(unit_.get());
    KTPU_CHECK(pair_ != nullptr, "the lock-step implementation is no lock-step pair");
    engine_.add(*unit_);
  }

  sim::Engine engine_;
  sim::Lockstep* pair_ = nullptr;

 private:
  std::unique_ptr<sim::Unit> unit_;
};

}  // namespace ktpu::cosim
