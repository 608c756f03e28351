// SPDX-License-Identifier: Apache-2.0
// Base of the adapters that put a Verilated module into the socket of a model: owns the module and its
// context, clocks it, resets it, and turns failing SystemVerilog assertions into exceptions. Knows no pin but
// clk_i and rst_ni, and no SystemC.
#pragma once

#include <verilated.h>

#include <memory>
#include <string>

#include "rtl_models/rtl_failure.h"
#include "tlm/sim/cycle.h"

namespace ktpu::rtl {

namespace detail {
// What vl_stop and vl_fatal throw through the Verilated code; Twin adds unit and cycle.
struct Stopped {
  std::string text;
};
// Runs `eval` of one module. Text that the module prints meanwhile is kept for the exception, never shown.
void guarded_eval(const std::string& unit, sim::Cycle cycle, void (*eval)(void*), void* module);
}  // namespace detail

template <class V>
class Twin {
 public:
  explicit Twin(std::string unit)
      : unit_(std::move(unit)),
        context_(std::make_unique<VerilatedContext>()),
        module_(std::make_unique<V>(context_.get(), "top")) {}
  ~Twin() { module_->final(); }
  Twin(const Twin&) = delete;
  Twin& operator=(const Twin&) = delete;

  V& pins() { return *module_; }
  const V& pins() const { return *module_; }

  // Leaves the module in the first cycle with reset high, `start`, with its outputs of that cycle. The other
  // inputs must have their reset values.
  void reset(sim::Cycle start) {
    module_->rst_ni = 1;
    low(start);
    module_->rst_ni = 0;  // the falling edge is what asynchronous resets see
    for (int cycle = 0; cycle < kResetCycles; ++cycle) {
      low(start);
      high(start);
    }
    low(start);
    module_->rst_ni = 1;
    low(start);
  }
  // Inputs that outputs of the same cycle may look at have changed.
  void settle(sim::Cycle now) { low(now); }
  // The rising edge that ends cycle `now`: samples the inputs, leaves the outputs of now + 1.
  void clock(sim::Cycle now) {
    context_->time(now);
    low(now);
    high(now);
  }

 private:
  static constexpr int kResetCycles = 16;  // the shortest the spec allows (fabric.md section 14)

  void low(sim::Cycle now) {
    module_->clk_i = 0;
    eval(now);
  }
  void high(sim::Cycle now) {
    module_->clk_i = 1;
    eval(now);
  }
  void eval(sim::Cycle now) {
    detail::guarded_eval(
        unit_, now, [](void* module) { static_cast<V*>(module)->eval(); }, module_.get());
  }

  std::string unit_;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<V> module_;
};

}  // namespace ktpu::rtl
