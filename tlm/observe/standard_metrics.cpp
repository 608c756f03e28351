// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/standard_metrics.h"

namespace ktpu::observe {

const std::vector<Metric>& standard_metrics() {
  static const std::vector<Metric> kMetrics{
      {Over::kRun, "", "run.ns", "ns", "Simulated time of the whole run at the fabric clock",
       "1000 * run.cycles / run.clock_mhz"},
      {Over::kRun, "", "run.machine_ns", "ns",
       "Machine time: from the first kick to the last result landed in memory, without staging and polls",
       "1000 * run.machine_cycles / run.clock_mhz"},
      {Over::kRun, "", "run.total_ns", "ns", "Total time: the program with staging, polls and host relayouts",
       "1000 * run.total_cycles / run.clock_mhz"},
      {Over::kLinks, "*", "utilisation", "%", "Share of all cycles in which a flit crossed this link",
       "100 * transferred / run.cycles"},
      {Over::kLinks, "*", "stalled", "%",
       "Share of all cycles in which a flit was offered on this link and refused",
       "100 * stalled_cycles / run.cycles"},
  };
  return kMetrics;
}

const std::vector<Invariant>& standard_invariants() {
  static const std::vector<Invariant> kInvariants{};
  return kInvariants;
}

void add_standard(Statistics& statistics) {
  for (const Metric& metric : standard_metrics()) statistics.add(metric);
  for (const Invariant& invariant : standard_invariants()) statistics.add(invariant);
}

}  // namespace ktpu::observe
