// SPDX-License-Identifier: Apache-2.0
#include "arch/formats/seed_table.h"

#include <cmath>

namespace ktpu::arch {
namespace {

// The function that segment `index` interpolates, at `u` of 0..1.
double seed_value(SeedFunction f, unsigned index, double u) {
  const double t = (index % 32 + u) / 32;
  switch (f) {
    case SeedFunction::kExp2:
      return std::exp2(t) - 1;
    case SeedFunction::kLog2:
      return std::log2(1 + t);
    case SeedFunction::kInv:
      return 1 / (1 + t);
    case SeedFunction::kRsqrt:
      return 1 / std::sqrt((1 + index / 32) * (1 + t));
  }
  return 0;
}

SeedSegment fit(SeedFunction f, unsigned index) {
  const double root3 = std::sqrt(3.0);
  const double g0 = seed_value(f, index, 0.5 + root3 / 4);
  const double g1 = seed_value(f, index, 0.5);
  const double g2 = seed_value(f, index, 0.5 - root3 / 4);
  const double q2 = 8.0 / 3 * (g0 - 2 * g1 + g2);
  const double q1 = 2 / root3 * (g0 - g2) - q2;
  const double q0 = g1 - q1 / 2 - q2 / 4;
  const auto scaled = [](double q, int weight) {
    return static_cast<std::int32_t>(std::lround(std::ldexp(q, weight)));
  };
  return {scaled(q0, 20), scaled(q1, 24), scaled(q2, 28)};
}

SeedTable make_table() {
  SeedTable table;
  for (unsigned f = 0; f < 4; ++f)
    for (unsigned i = 0; i < seed_segments(static_cast<SeedFunction>(f)); ++i)
      table.of[f][i] = fit(static_cast<SeedFunction>(f), i);
  return table;
}

}  // namespace

const SeedTable& seed_table() {
  static const SeedTable table = make_table();
  return table;
}

}  // namespace ktpu::arch
