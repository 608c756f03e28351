// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/standard_metrics.h"

namespace ktpu::observe {

// Names below a unit are those of its visit(). Metrics of one kind of unit are optional: another
// implementation of the unit (its RTL) may count nothing. tests/unit/observe checks that the models have
// them.

const std::vector<Metric>& standard_metrics() {
  static const std::vector<Metric> kMetrics{
      // --- the run
      {Over::kRun, "", "run.ns", "ns", "Simulated time of the whole run at the fabric clock",
       "1000 * run.cycles / run.clock_mhz"},
      {Over::kRun, "", "run.machine_ns", "ns",
       "Machine time: from the first kick to the last result landed in memory, without staging and polls",
       "1000 * run.machine_cycles / run.clock_mhz"},
      {Over::kRun, "", "run.total_ns", "ns", "Total time: the program with staging, polls and host relayouts",
       "1000 * run.total_cycles / run.clock_mhz"},
      {Over::kRun, "", "run.tflops", "TFLOP/s",
       "Multiply-adds of all matmul clusters in machine time, each counted as two operations",
       "1024 * sum(*cluster@*.sweep_commands) * run.clock_mhz / run.machine_cycles / 1000000"},
      {Over::kRun, "", "run.array_utilisation", "%",
       "Share of machine time in which the array of a matmul cluster got a product, mean over all clusters",
       "100 * sum(*cluster@*.sweep_commands) / count(*cluster@*.sweep_commands) * "
       "count(*cluster@*.unit.machine_cycles) / sum(*cluster@*.unit.machine_cycles)"},
      {Over::kRun, "", "run.dram_read_gbs", "GB/s", "Bytes read from DRAM for requesters, in machine time",
       "0.032 * sum(*memory.dram_path.words_read) * run.clock_mhz / run.machine_cycles"},
      {Over::kRun, "", "run.dram_write_gbs", "GB/s", "Bytes written to DRAM for requesters, in machine time",
       "0.032 * sum(*memory.dram_path.words_written) * run.clock_mhz / run.machine_cycles"},
      {Over::kRun, "", "run.flits_per_cycle", "flits/cycle",
       "Flits that endpoints took from the fabric, mean over the run",
       "(sum(*.links.flits_in) - sum(*router@*.links.flits_in) - sum(*adapter@*.links.flits_in) - "
       "sum(*adapter@*.answers) - sum(*crossing@*.links.flits_in)) / "
       "run.cycles"},
      {Over::kRun, "", "run.hops_per_cycle", "flits/cycle", "Flits that routers sent on, mean over the run",
       "sum(*router@*.links.flits_out) / run.cycles"},

      {Over::kRun, "", "run.mean_latency", "cycles",
       "Mean time of a random flit from its first offer to its delivery, over all traffic nodes",
       "sum(*traffic@*.network_latency.sum) / sum(*traffic@*.network_latency.flits)"},

      // --- any link
      {Over::kLinks, "*", "utilisation", "%", "Share of all cycles in which a flit crossed this link",
       "100 * transferred / unit.cycles"},
      {Over::kLinks, "*", "stalled", "%",
       "Share of all cycles in which a flit was offered on this link and refused",
       "100 * stalled_cycles / unit.cycles"},

      // --- router
      {Over::kUnits, "router@*", "contended", "%", "Share of grants that at least one more input wanted",
       "100 * conflicts / granted", true},

      // --- matmul cluster
      {Over::kUnits, "cluster@*", "array_utilisation", "%",
       "Share of machine time in which the array got a product", "100 * sweep_commands / unit.machine_cycles",
       true},
      {Over::kUnits, "cluster@*", "busy", "%",
       "Share of all cycles with an instruction in flight, or one or its completion waiting",
       "100 * endpoint.busy_cycles / unit.cycles", true},
      {Over::kUnits, "cluster@*", "compute", "%",
       "Share of all cycles with a sweep or an accumulator command under way",
       "100 * compute_cycles / unit.cycles", true},
      {Over::kUnits, "cluster@*", "fill", "%", "Share of all cycles in which a FILL was in execution",
       "100 * fill_cycles / unit.cycles", true},
      {Over::kUnits, "cluster@*", "drain.busy", "%",
       "Share of all cycles with results outstanding or a drain issuing",
       "100 * drain.busy_cycles / unit.cycles", true},
      {Over::kUnits, "cluster@*", "drain_stalled", "%",
       "Share of the compute cycles in which a sweep waited because too many results waited to leave",
       "100 * stall_cycles / compute_cycles", true},

      // --- vector core
      {Over::kUnits, "vector@*", "busy", "%",
       "Share of all cycles with an instruction in flight, or one or its completion waiting",
       "100 * endpoint.busy_cycles / unit.cycles", true},

      // --- memory
      {Over::kUnits, "memory", "dram_path.read_bus_busy", "%",
       "Share of all cycles with a read beat on the DRAM bus",
       "100 * dram_path.read_beats / sum(dram_path.read_bus.cycles.*)", true},
      {Over::kUnits, "memory", "dram_path.write_bus_busy", "%",
       "Share of all cycles with a write beat on the DRAM bus",
       "100 * dram_path.write_beats / sum(dram_path.write_bus.cycles.*)", true},
      {Over::kUnits, "memory", "dram_path.mean_read_wait", "cycles",
       "Mean time from a read's request at the DRAM port to its grant",
       "dram_path.read_wait / dram_path.read_bursts", true},
      {Over::kUnits, "memory", "dram_path.mean_write_wait", "cycles",
       "Mean time from a write's request at the DRAM port to its grant",
       "dram_path.write_wait / dram_path.write_bursts", true},

      // --- traffic node
      {Over::kUnits, "traffic@*", "injection_rate", "flits/cycle", "Flits the mesh accepted from this node",
       "injected / unit.cycles", true},
      {Over::kUnits, "traffic@*", "total_latency.mean", "cycles",
       "Mean time of a random flit from its birth to its delivery, waiting at the source included",
       "total_latency.sum / total_latency.flits", true},
      {Over::kUnits, "traffic@*", "network_latency.mean", "cycles",
       "Mean time of a random flit from its first offer to its delivery",
       "network_latency.sum / network_latency.flits", true},
  };
  return kMetrics;
}

void add_standard(Statistics& statistics) {
  for (const Metric& metric : standard_metrics()) statistics.add(metric);
  for (const Invariant& invariant : standard_invariants()) statistics.add(invariant);
}

}  // namespace ktpu::observe
