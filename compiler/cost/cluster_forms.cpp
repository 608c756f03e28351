// SPDX-License-Identifier: Apache-2.0
#include "compiler/cost/cluster_forms.h"

#include <algorithm>
#include <cmath>

namespace ktpu::cost {
namespace {

// Fills in granules and last flits of bursts whose descriptors are on the output in the given cycles.
DrainForm bursts_at(const ClusterCost& cost, unsigned granules, auto descriptor) {
  DrainForm form;
  for (unsigned first = 0, b = 0; first < granules; first += cost.burst, ++b) {
    const unsigned n = std::min(cost.burst, granules - first);
    form.bursts.push_back({first, n, descriptor(b) + Cycles{n}});
  }
  return form;
}

}  // namespace

Cycles SweepForm::length() const {
  return static_cast<Cycles>(std::ceil(static_cast<double>(steps - 1) * period));
}
Cycles SweepForm::to_last_block() const {
  return static_cast<Cycles>(std::ceil(static_cast<double>(steps - results) * period));
}

SweepForm sweep_form(const ClusterCost& cost, unsigned gm, unsigned gn, unsigned nk) {
  SweepForm form;
  form.results = Cycles{std::max(gm, 1u)} * std::max(gn, 1u);
  form.steps = form.results * std::max(nk, 1u);
  form.wide = form.results >= Cycles{cost.wide};
  form.period = 1 / cost.issues_per_cycle;
  // Steps on one tile are gm * gn issues apart and must be `reuse` cycles apart: idle cycles after each issue
  // make up for it (5, 3, 2, 2 cycles for 1 to 4 tiles in the reference).
  if (nk > 1 && !form.wide)
    form.period =
        std::max(form.period, std::ceil(static_cast<double>(cost.reuse) / static_cast<double>(form.results)));
  return form;
}

DrainForm explicit_drain(const ClusterCost& cost, unsigned granules, bool send) {
  const Cycles k = send ? 1 : 0, g = granules;
  const bool full = granules >= cost.burst;
  DrainForm form = bursts_at(cost, granules, [&](unsigned b) {
    return full ? cost.drain_first - k + cost.burst_period * b : cost.drain_first_short - k + g;
  });
  const auto bursts = static_cast<Cycles>(form.bursts.size());
  form.done = bursts >= 2
                  ? cost.drain_done - k + cost.burst_period * (bursts - 1) + form.bursts.back().granules
                  : cost.drain_done_short - k + 2 * g;
  return form;
}

DrainForm emitted_drain(const ClusterCost& cost, const SweepForm& sweep) {
  const auto granules = static_cast<unsigned>(sweep.results);
  DrainForm form;
  if (granules < cost.burst) {
    const auto last = static_cast<Cycles>(std::ceil(static_cast<double>(granules - 1) * sweep.period));
    form = bursts_at(cost, granules, [&](unsigned) { return last + cost.emit_first_short; });
  } else {
    // A burst leaves when its granules are there and the one before it has left.
    Cycles next = 0;
    form = bursts_at(cost, granules, [&](unsigned b) {
      const double filled = static_cast<double>(std::min(cost.burst * (b + 1), granules)) * sweep.period;
      const Cycles there = cost.emit_first - cost.burst + static_cast<Cycles>(std::ceil(filled));
      next = b == 0 ? there : std::max(next + cost.burst_period, there);
      return next;
    });
  }
  form.done = form.bursts.back().last_flit + cost.drain_tail;
  return form;
}

}  // namespace ktpu::cost
