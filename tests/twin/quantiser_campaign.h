// SPDX-License-Identifier: Apache-2.0
// The quantiser against the formats library and the unit timing of number-formats.md section 4.7.
#pragma once

#include <fmt/format.h>

#include <random>
#include <string>

#include "arch/encoding/latencies.h"
#include "arch/formats/operand.h"
#include "arch/formats/quantise.h"
#include "rtl_models/quantiser/quantiser_twin.h"
#include "tests/support/random_entry.h"

namespace ktpu::test {

// `entries` with random gaps between beats, some of them abandoned by another start. Empty: all as specified.
template <class Quantiser>
std::string check_quantiser(std::uint64_t seed, unsigned entries) {
  using Beat = typename Quantiser::Beat;
  std::mt19937_64 rng(seed);
  Quantiser q;
  q.reset(0);
  sim::Cycle now = 0;
  std::string wrong;
  const auto step = [&](bool start, bool layout, const Beat* beat, bool done) {
    if (q.done() != done && wrong.empty())
      wrong = fmt::format("cycle {}: done is {}, expected {}", now, q.done(), done);
    q.clock(now++, {start, layout, beat});
  };
  for (unsigned e = 0; e < entries && wrong.empty(); ++e) {
    const Halves h = random_entry(rng);
    const bool b = rng() & 1;
    // With a start, a beat that must not count.
    Beat stray;
    for (auto& w : stray) w = rng();
    step(true, b, rng() % 2 ? &stray : nullptr, false);
    const unsigned beats = rng() % 8 == 0 ? static_cast<unsigned>(rng() % 9) : 9;
    for (unsigned n = 0; n < std::min(beats, 8u); ++n) {
      while (rng() % 4 == 0) step(false, !b, nullptr, false);
      Beat beat{};
      for (unsigned i = 0; i < 16; ++i)
        beat[i / 4] |= static_cast<std::uint64_t>(h[16 * n + i]) << (16 * (i % 4));
      step(false, !b, &beat, false);
    }
    if (beats < 8) continue;  // abandoned
    const unsigned wait = arch::latency::kQuantDone.value - 1;
    const unsigned until = beats == 8 ? static_cast<unsigned>(rng() % wait) : wait;  // abandoned on the way
    for (unsigned c = 0; c < until; ++c) step(false, !b, rng() % 4 == 0 ? &stray : nullptr, false);
    if (until < wait) continue;
    const arch::OperandEntry entry = arch::quantise_entry(h);
    for (unsigned idle = static_cast<unsigned>(rng() % 4), first = 1;; first = 0) {
      for (unsigned w = 0; w < 4; ++w) {
        const arch::Word256 expected = arch::operand_word(b ? arch::Side::kB : arch::Side::kA, w, entry);
        const Beat got = q.word(w);
        for (unsigned n = 0; n < 4; ++n)
          if (got[n] != expected[n] && wrong.empty())
            wrong = fmt::format("cycle {}: entry {} word {} bits {}..: {:016x}, expected {:016x}", now, e, w,
                                64 * n, got[n], expected[n]);
      }
      if (idle-- == 0) {
        if (first == 1 && !q.done() && wrong.empty()) wrong = fmt::format("cycle {}: done is low", now);
        if (first == 1) step(false, !b, nullptr, true);
        break;
      }
      step(false, !b, nullptr, first == 1);
    }
  }
  return wrong;
}

}  // namespace ktpu::test
