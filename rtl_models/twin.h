// SPDX-License-Identifier: Apache-2.0
// Base of the adapters that put a Verilated module into the socket of a model: owns the module and its
// context, clocks it, resets it, and turns failing SystemVerilog assertions into exceptions. Knows no pin but
// clk_i and rst_ni, and no SystemC.
#pragma once

#include <verilated.h>
#if VM_TRACE
#include <verilated_vcd_c.h>
#endif

#include <memory>
#include <string>

#include "rtl_models/coverage.h"
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
        context_(traced_context()),
        module_(std::make_unique<V>(context_.get(), "top")) {}
  ~Twin() {
    module_->final();
    detail::keep_coverage(*context_);
    // The module takes its scopes out of this thread's context, which is that of the twin made last and may
    // be gone.
    Verilated::threadContextp(context_.get());
  }
  Twin(const Twin&) = delete;
  Twin& operator=(const Twin&) = delete;

  V& pins() { return *module_; }
  const V& pins() const { return *module_; }

  // Writes all signals inside the module to a VCD file from now on, two time units a cycle (falling and
  // rising edge of clk_i). Throws UserError unless configured with KTPU_WAVES. Once a twin.
  void open_waves(const std::string& path) {
#if VM_TRACE
    waves_ = std::make_unique<VerilatedVcdC>();
    module_->trace(waves_.get(), 99);
    waves_->open(path.c_str());
    if (!waves_->isOpen()) throw arch::UserError::make("{}: cannot write waves to {}", unit_, path);
#else
    throw arch::UserError::make(
        "{}: no waves of the RTL's inside to write to {}: configure with -DKTPU_WAVES=ON and build again",
        unit_, path);
#endif
  }

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
    dump(2 * now);
    high(now);
    dump(2 * now + 1);
  }

 private:
  static constexpr int kResetCycles = 16;  // the shortest the spec allows (fabric.md section 14)

  static std::unique_ptr<VerilatedContext> traced_context() {
    auto context = std::make_unique<VerilatedContext>();
    context->traceEverOn(VM_TRACE);
    return context;
  }
  void low(sim::Cycle now) {
    module_->clk_i = 0;
    eval(now);
  }
  void high(sim::Cycle now) {
    module_->clk_i = 1;
    eval(now);
  }
  void dump([[maybe_unused]] std::uint64_t time) {
#if VM_TRACE
    if (waves_) waves_->dump(time);
#endif
  }
  void eval(sim::Cycle now) {
    detail::guarded_eval(
        unit_, now, [](void* module) { static_cast<V*>(module)->eval(); }, module_.get());
  }

  std::string unit_;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<V> module_;
#if VM_TRACE
  std::unique_ptr<VerilatedVcdC> waves_;  // closes its file when destroyed
#endif
};

}  // namespace ktpu::rtl
