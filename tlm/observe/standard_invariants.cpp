// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/standard_metrics.h"

namespace ktpu::observe {
namespace {

// Everything between a port taking a flit and the DRAM's answer having left the port again.
constexpr const char* kMemoryUnderWay =
    "sum(port*_queue.count) + sum(port*.ar_valid) + sum(port*.aw_valid) + sum(port*.state) + "
    "sum(port*.response) + "
    "sum(port*.skid_size) + sum(port*.out_valid) + sum(port*.slots.ready_fifo.count) + "
    "sum(port*.reader.state) + "
    "sum(port*.reader.emit_valid) + sum(port*.plain_left) + sum(dram_path.requester*.in_flight) + "
    "sum(dram_path.*_arbiter.push_valid) + sum(dram_path.*_fifo.count) + dram_path.mux_open + "
    "dram_path.pulse + "
    "dram_path.write_bursts - dram_path.responses";

}  // namespace

const std::vector<Invariant>& standard_invariants() {
  static const std::vector<Invariant> kInvariants{
      // --- cycles: every engine is in exactly one state in each
      {.over = Over::kEngines,
       .pattern = "*",
       .name = "cycles_add_up",
       .sentence = "The engine was in no state, or in two, in some cycle.",
       .left = "sum(cycles.*)",
       .right = "engine.total"},

      // --- flits sent = delivered + in flight + dropped, unit by unit: links between them lose nothing
      {.over = Over::kUnits,
       .pattern = "router@*",
       .name = "flits_conserved",
       .sentence = "The router lost or made up a flit.",
       .left = "links.flits_in",
       .right = "links.flits_out + lost + inside",
       .optional = true},
      {.over = Over::kUnits,
       .pattern = "adapter@*",
       .name = "flits_conserved",
       .sentence = "The adapter lost or made up a flit.",
       .left = "links.flits_in + answers + replies",
       .right = "links.flits_out + valid + absorbed + controls",
       .optional = true},
      // Both sides of a clock crossing and its FIFOs together.
      {.over = Over::kUnits,
       .pattern = "crossing@*",
       .name = "flits_conserved",
       .sentence = "The clock crossing lost or made up a flit.",
       .left = "links.flits_in + unit.links.flits_in",
       .right = "links.flits_out + unit.links.flits_out + in_fifo.count + out_fifo.count",
       .optional = true},
      {.over = Over::kUnits,
       .pattern = "traffic@*",
       .name = "injected_counted",
       .sentence = "A flit left the node uncounted.",
       .left = "injected",
       .right = "links.flits_out",
       .optional = true},
      {.over = Over::kUnits,
       .pattern = "traffic@*",
       .name = "delivered_counted",
       .sentence = "A flit reached the node uncounted.",
       .left = "delivered",
       .right = "links.flits_in",
       .optional = true},
      {.over = Over::kUnits,
       .pattern = "traffic@*",
       .name = "delivered_in_order",
       .sentence = "The mesh swapped two flits of one source, or took one to the wrong node.",
       .left = "out_of_order + misdelivered",
       .right = "0",
       .optional = true},
      {.over = Over::kLinks,
       .pattern = "*",
       .name = "cycles_bounded",
       .sentence = "The link moved or refused more flits than there were cycles.",
       .left = "transferred + stalled_cycles",
       .right = "unit.cycles",
       .relation = Relation::kAtMost},

      // --- memory
      {.over = Over::kUnits,
       .pattern = "memory",
       .name = "flits_in_counted",
       .sentence = "A flit reached a memory port uncounted.",
       .left = "sum(port*.flits_in.*)",
       .right = "links.flits_in"},
      {.over = Over::kUnits,
       .pattern = "memory",
       .name = "flits_out_counted",
       .sentence = "A flit left a memory port uncounted.",
       .left = "sum(port*.flits_out.*)",
       .right = "links.flits_out"},
      {.over = Over::kUnits,
       .pattern = "memory",
       .name = "write_responses",
       .sentence = "The DRAM answered a write that nobody sent.",
       .left = "dram_path.responses",
       .right = "dram_path.write_bursts",
       .relation = Relation::kAtMost},
      {.over = Over::kUnits,
       .pattern = "memory",
       .name = "acks_balance",
       .sentence = "A write was not acknowledged, or twice.",
       .left = "sum(port*.acks)",
       .right = "sum(port*.writes)",
       .unless = kMemoryUnderWay,
       .optional = true},
      {.over = Over::kUnits,
       .pattern = "memory",
       .name = "responses_balance",
       .sentence = "Words read and MEM_RD_RESP flits sent disagree.",
       .left = "sum(port*.plain_beats) + sum(port*.reader.responses) + sum(port*.client_responses)",
       .right = "sum(port*.flits_out.MEM_RD_RESP)",
       .unless = kMemoryUnderWay,
       .optional = true},
      {.over = Over::kUnits,
       .pattern = "memory",
       .name = "writes_landed",
       .sentence = "A port issued words that the DRAM path never took.",
       .left = "sum(port*.write_words)",
       .right = "dram_path.words_written",
       .relation = Relation::kAtMost,
       .unless = kMemoryUnderWay,
       .optional = true},

      {.over = Over::kUnits,
       .pattern = "memory",
       .name = "remote_flits_conserved",
       .sentence = "The interlink lost or made up a flit for another mesh.",
       .left = "interlink.encapsulator.collected",
       .right = "interlink.sender.flits + interlink.sender.unreachable",
       .unless = "interlink.encapsulator.count",
       .optional = true},
      {.over = Over::kRun,
       .name = "interlink.flits_conserved",
       .sentence = "A flit got lost, or came twice, on its way from mesh to mesh.",
       .left = "sum(*memory.interlink.encapsulator.collected)",
       .right = "sum(*memory.interlink.ingress.injected) + sum(*memory.interlink.sender.unreachable) + "
                "sum(*memory.interlink.cut_off) + "
                "sum(*memory.interlink.encapsulator.count) - sum(*memory.interlink.sender.flits_moved) + "
                "sum(*memory.interlink.link*.out_flit) + sum(*memory.interlink.link*.in_flit) + "
                "sum(*memory.interlink.link*.held_flits)"},

      // --- matmul cluster
      {.over = Over::kUnits,
       .pattern = "cluster@*",
       .name = "instructions_add_up",
       .sentence = "An instruction retired that is no FILL, GEMM, DRAIN or unknown one.",
       .left = "fills + gemms + drains + unknown_ops",
       .right = "endpoint.retired + sequencer.exec_done",
       .optional = true},
      {.over = Over::kUnits,
       .pattern = "cluster@*",
       .name = "busy_bounded",
       .sentence = "The cluster was busy for more cycles than there were.",
       .left = "max(*_cycles)",
       .right = "unit.cycles",
       .relation = Relation::kAtMost,
       .optional = true},
      {.over = Over::kUnits,
       .pattern = "cluster@*",
       .name = "stalls_within_compute",
       .sentence = "More stalls of sweeps than cycles of sweeps.",
       .left = "stall_cycles",
       .right = "compute_cycles",
       .relation = Relation::kAtMost,
       .optional = true},
  };
  return kInvariants;
}

}  // namespace ktpu::observe
