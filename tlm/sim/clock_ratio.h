// SPDX-License-Identifier: Apache-2.0
// Exact arithmetic between the cycle numbers of two clocks. Frequencies are whole hertz and every clock
// starts cycle 0 at the same instant, so cycle c of a clock of f hertz is the interval [c/f, (c+1)/f): times
// are compared as fractions, never rounded, and never drift.
#pragma once

#include <cstdint>
#include <numeric>

#include "arch/error.h"
#include "tlm/sim/cycle.h"

namespace ktpu::sim {

class ClockRatio {
 public:
  constexpr ClockRatio() = default;  // one clock on both sides
  ClockRatio(std::uint64_t from_hertz, std::uint64_t to_hertz) {
    KTPU_CHECK(from_hertz != 0 && to_hertz != 0, "a clock of 0 Hz");
    const std::uint64_t common = std::gcd(from_hertz, to_hertz);
    from_ = from_hertz / common;
    to_ = to_hertz / common;
  }

  bool equal() const { return from_ == to_; }
  ClockRatio inverse() const { return ClockRatio(to_, from_); }

  // The `to` cycle in which `from` cycle `cycle` begins; also the number of `to` edges after instant 0 up to
  // and with that instant.
  Cycle containing(Cycle cycle) const { return equal() || cycle == kNever ? cycle : divide(cycle, 0); }
  // How many `to` cycles begin before `from` cycle `cycle` does.
  Cycle begun_before(Cycle cycle) const {
    return equal() || cycle == kNever ? cycle : divide(cycle, from_ - 1);
  }

 private:
  __extension__ using Wide = unsigned __int128;
  Cycle divide(Cycle cycle, std::uint64_t round) const {
    const Wide quotient = (Wide{cycle} * to_ + round) / from_;
    return quotient >= kNever ? kNever - 1 : static_cast<Cycle>(quotient);
  }

  std::uint64_t from_ = 1;
  std::uint64_t to_ = 1;
};

// Whether cycle `a` of a clock of `a_hertz` begins before cycle `b` of one of `b_hertz`.
inline bool begins_before(Cycle a, std::uint64_t a_hertz, Cycle b, std::uint64_t b_hertz) {
  __extension__ using Wide = unsigned __int128;
  return Wide{a} * b_hertz < Wide{b} * a_hertz;
}

}  // namespace ktpu::sim
