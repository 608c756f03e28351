// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/block_twins.h"

#include "arch/error.h"
#ifdef KTPU_HAVE_RTL
#include "rtl_models/quantiser/quantiser_twin.h"
#include "rtl_models/vector/alu_twin.h"
#endif

namespace ktpu::check {

#ifdef KTPU_HAVE_RTL

namespace {
constexpr sim::Cycle kLimit = 100;  // far beyond any latency
}

Conversion convert_on_rtl(const QuantiserBeats& beats, bool b_layout) {
  rtl::QuantiserTwin twin;
  twin.reset(0);
  sim::Cycle now = 0;
  twin.clock(now++, {.start = true, .b_layout = b_layout});
  const sim::Cycle first = now;
  for (const auto& beat : beats) twin.clock(now++, {.start = false, .b_layout = false, .beat = &beat});
  const sim::Cycle last = now - 1;
  while (!twin.done()) {
    if (now > kLimit)
      throw arch::UserError::make("the RTL quantiser was not done {} cycles after a reset", now);
    twin.clock(now++, {});
  }
  Conversion result{last - first + 1, now - last - 1, {}};
  for (unsigned w = 0; w < arch::kEntryWords; ++w) result.words.push_back(twin.word(w));
  return result;
}

LaneResults operate_on_rtl(arch::VectorOpcode op, std::span<const LaneOperands> operands) {
  constexpr unsigned kMove = static_cast<unsigned>(arch::VectorOpcode::kVmov);
  constexpr std::uint32_t kMark = 0x3F8000;
  rtl::AluTwin alu(true);
  LaneResults results;
  // How long it takes from a mark behind nothing but zeros to the same at the output.
  for (sim::Cycle i = 0; i < kLimit; ++i) alu.clock(kMove, 0, 0, 0);
  while (alu.clock(kMove, results.latency == 0 ? kMark : 0, 0, 0) != kMark)
    if (++results.latency > kLimit) throw arch::UserError("a value never came out of the RTL lane's ALU");
  ++results.latency;  // clock() ends a cycle and shows the next
  std::size_t calls = 0;
  const auto take = [&](std::uint32_t value) {
    if (++calls >= results.latency) results.values.push_back(value);
  };
  for (const LaneOperands& o : operands) take(alu.clock(static_cast<unsigned>(op), o.a, o.b, o.c));
  while (results.values.size() < operands.size()) take(alu.clock(kMove, 0, 0, 0));
  return results;
}

#else

namespace {
[[noreturn]] void refuse() {
  throw arch::UserError(
      "no RTL is built in: it needs the build option KTPU_RTL=ON; use impl: model otherwise");
}
}  // namespace

Conversion convert_on_rtl(const QuantiserBeats&, bool) { refuse(); }
LaneResults operate_on_rtl(arch::VectorOpcode, std::span<const LaneOperands>) { refuse(); }

#endif

}  // namespace ktpu::check
